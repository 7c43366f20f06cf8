//! Terraform files: the resources of Cosmos DB's SQL API among those of a module.
//!
//! Reads `azurerm_cosmosdb_account` (for whether it is serverless), `azurerm_cosmosdb_sql_database` and
//! `azurerm_cosmosdb_sql_container`. Expressions are evaluated only on demand; a reference to something
//! outside the files is an error with its position, unless `--var` supplies the value by the reference's
//! text.

mod functions;
mod module;
mod resources;
mod scope;

use crate::blueprint::Blueprint;
use crate::node::{Fault, Location, fault};
use crate::source::Variables;
use module::Module;

/// The files of one module, by index.
pub(crate) fn read(files: &[(usize, &str)], variables: &Variables) -> Result<Vec<Blueprint>, Fault> {
    let bodies = module::parse(files)?;
    let module = Module::of(&bodies, variables)?;
    let found = resources::gather(&module)?.finish();
    if found.is_empty() {
        let at = Location { file: files.first().map_or(0, |(file, _)| *file), line: 1, column: 1 };
        return fault(
            at,
            "there is no azurerm_cosmosdb_sql_database and no azurerm_cosmosdb_sql_container here",
        );
    }
    Ok(found)
}
