//! Terraform files: the resources of Cosmos DB's SQL API and of storage accounts among those of a module.
//!
//! Reads `azurerm_cosmosdb_account` (for whether it is serverless), `azurerm_cosmosdb_sql_database` and
//! `azurerm_cosmosdb_sql_container`; `azurerm_storage_account`, `azurerm_storage_table`,
//! `azurerm_storage_table_entity` and `azurerm_storage_queue`. Expressions are evaluated only on demand; a reference to something
//! outside the files is an error with its position, unless `--var` supplies the value by the reference's
//! text.

mod functions;
mod module;
mod resources;
mod scope;
mod storage;

use crate::blueprint::Blueprint;
use crate::node::{Fault, Location, fault};
use crate::source::Variables;
use module::Module;

/// The files of one module, by index.
pub(crate) fn read(files: &[(usize, &str)], variables: &Variables) -> Result<Vec<Blueprint>, Fault> {
    let bodies = module::parse(files)?;
    let module = Module::of(&bodies, variables)?;
    let mut found = resources::gather(&module)?.finish();
    storage::gather(&module)?.finish_into(&mut found);
    if found.is_empty() {
        let at = Location { file: files.first().map_or(0, |(file, _)| *file), line: 1, column: 1 };
        return fault(
            at,
            "there is no azurerm_cosmosdb_sql_database, no azurerm_cosmosdb_sql_container and nothing of a storage account here",
        );
    }
    Ok(found)
}
