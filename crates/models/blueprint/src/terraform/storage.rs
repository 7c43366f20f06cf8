//! Reads storage accounts, their tables with entities, and their queues.
//!
//! A table names its account by name or by id, an entity its table by id. The id of a resource in the files is
//! the path that a real one ends in, `storageAccounts/NAME/…/tables/NAME`, so both are read the same way.

use super::module::{Declared, Module};
use super::resources::{optional, refuse_dynamic, required};
use super::scope::{Scope, turns};
use crate::node::{Fault, Node, fault};
use crate::storage::{Accounts, GivenPolicy, StorageQueue, StorageTable, entity, names, policies};
use hcl_edit::structure::Block;
use orrery_catalog::storage::{ServiceKind, SignedIdentifiers};

const ACCOUNT: &str = "azurerm_storage_account";
const TABLE: &str = "azurerm_storage_table";
const QUEUE: &str = "azurerm_storage_queue";
const ENTITY: &str = "azurerm_storage_table_entity";

pub(super) fn gather<'m>(module: &'m Module<'m>) -> Result<Accounts, Fault> {
    let mut accounts = Accounts::default();
    each(module, ACCOUNT, |scope, declared| {
        // Modules have accounts for other reasons, too; one that is needed is named by its tables and queues.
        let Ok(name) = required(scope, declared, "name") else { return Ok(()) };
        accounts.declare(name.at, name.expect_text("'name'")?, None)
    })?;
    each(module, TABLE, |scope, declared| {
        let account = account(scope, declared)?;
        let name = required(scope, declared, "name")?;
        accounts.add_table(name.at, &account, table(scope, declared, &name)?)
    })?;
    each(module, QUEUE, |scope, declared| {
        let account = account(scope, declared)?;
        let name = required(scope, declared, "name")?;
        accounts.add_queue(name.at, &account, queue(scope, declared, &name)?)
    })?;
    each(module, ENTITY, |scope, declared| add_entity(scope, declared, &mut accounts))?;
    Ok(accounts)
}

/// Every resource of a type, with those of `for_each` and `count`.
fn each<'m>(
    module: &'m Module<'m>,
    kind: &str,
    mut add: impl FnMut(&Scope<'m>, Declared<'m>) -> Result<(), Fault>,
) -> Result<(), Fault> {
    for declared in module.resources(kind) {
        for (scope, _) in turns(module, declared)? {
            refuse_dynamic(&scope, &declared.block.body)?;
            add(&scope, declared)?;
        }
    }
    Ok(())
}

fn table(scope: &Scope<'_>, declared: Declared<'_>, name: &Node) -> Result<StorageTable, Fault> {
    let name = names::table(name.at, name.expect_text("'name'")?)?;
    let policies = access(scope, declared)?;
    Ok(StorageTable { name, about: None, columns: Vec::new(), policies, entities: Vec::new() })
}

fn queue(scope: &Scope<'_>, declared: Declared<'_>, name: &Node) -> Result<StorageQueue, Fault> {
    let name = names::queue(name.at, name.expect_text("'name'")?)?;
    let metadata = optional(scope, &declared.block.body, "metadata")?;
    let metadata = metadata.as_ref().map(names::metadata).transpose()?;
    Ok(StorageQueue { name, about: None, metadata, policies: None, messages: Vec::new() })
}

/// The blocks `acl`; none at all leaves the policies as they are.
fn access(scope: &Scope<'_>, declared: Declared<'_>) -> Result<Option<SignedIdentifiers>, Fault> {
    let blocks: Vec<&Block> = declared.block.body.get_blocks("acl").collect();
    if blocks.is_empty() {
        return Ok(None);
    }
    let one = |block: &&Block| {
        let at = scope.file.place(*block);
        let Some(id) = optional(scope, &block.body, "id")? else {
            return fault(at, "an access policy has no 'id'; add it");
        };
        let policy = block.body.get_blocks("access_policy").next();
        let member = |name| policy.map_or(Ok(None), |policy| optional(scope, &policy.body, name));
        Ok(GivenPolicy {
            at,
            id: id.expect_text("'id'")?.to_owned(),
            start: member("start")?,
            expiry: member("expiry")?,
            permissions: member("permissions")?,
        })
    };
    let given = blocks.iter().map(one).collect::<Result<Vec<_>, Fault>>()?;
    policies(declared.at(), ServiceKind::Table, given).map(Some)
}

fn add_entity(scope: &Scope<'_>, declared: Declared<'_>, accounts: &mut Accounts) -> Result<(), Fault> {
    let (at, body) = (declared.at(), &declared.block.body);
    let (account, table) = match optional(scope, body, "storage_table_id")? {
        Some(id) => table_of(&id)?,
        // The attributes of older versions of the provider.
        None => {
            let name = required(scope, declared, "table_name")?;
            (account(scope, declared)?, name.expect_text("'table_name'")?.to_owned())
        }
    };
    let table = names::table(at, &table)?;
    let (partition_key, row_key) =
        (required(scope, declared, "partition_key")?, required(scope, declared, "row_key")?);
    let given = required(scope, declared, "entity")?;
    let made = entity(at, &partition_key, &row_key, given.expect_map("'entity'")?, &[])?;
    accounts.add_entity(at, &account, &table, made)
}

/// The account of a table, a queue or an entity, by name or by id.
fn account(scope: &Scope<'_>, declared: Declared<'_>) -> Result<String, Fault> {
    let body = &declared.block.body;
    if let Some(name) = optional(scope, body, "storage_account_name")? {
        return Ok(name.expect_text("'storage_account_name'")?.to_owned());
    }
    let id = required(scope, declared, "storage_account_id")?;
    let text = id.expect_text("'storage_account_id'")?;
    match after(text, "storageAccounts/") {
        Some(name) => Ok(name.to_owned()),
        None => fault(id.at, format!("'{text}' is no id of a storage account")),
    }
}

/// Of `…/storageAccounts/NAME/tableServices/default/tables/NAME` or `https://NAME.table.…/Tables('NAME')`.
fn table_of(id: &Node) -> Result<(String, String), Fault> {
    let text = id.expect_text("'storage_table_id'")?;
    let by_path = after(text, "storageAccounts/").zip(after(text, "tables/"));
    let by_url = || {
        let (host, rest) = text.strip_prefix("https://")?.split_once(".table.")?;
        let (_, table) = rest.split_once("/Tables('")?;
        Some((host, table.strip_suffix("')")?))
    };
    match by_path.or_else(by_url) {
        Some((account, table)) => Ok((account.to_owned(), table.to_owned())),
        None => fault(id.at, format!("'{text}' is no id of a table")),
    }
}

/// The segment after a mark in a path, whatever the case of the mark.
fn after<'t>(text: &'t str, mark: &str) -> Option<&'t str> {
    let at = text.to_ascii_lowercase().find(&mark.to_ascii_lowercase())?;
    let segment = text.get(at + mark.len()..)?.split('/').next()?;
    (!segment.is_empty()).then_some(segment)
}

/// The id of a storage resource in the files; `None` for other types.
pub(super) fn path(scope: &Scope<'_>, kind: &str, declared: Declared<'_>) -> Result<Option<String>, Fault> {
    let name = || -> Result<String, Fault> {
        let name = required(scope, declared, "name")?;
        Ok(name.expect_text("'name'")?.to_owned())
    };
    Ok(match kind.trim_start_matches("data.") {
        ACCOUNT => Some(format!("storageAccounts/{}", name()?)),
        TABLE => Some(format!(
            "storageAccounts/{}/tableServices/default/tables/{}",
            account(scope, declared)?,
            name()?
        )),
        _ => None,
    })
}
