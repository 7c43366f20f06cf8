//! Collects the storage accounts of a file, resource by resource.
//!
//! Terraform and ARM list resources in any order, so a table may come before its account, or without one.

use super::{ExampleEntity, StorageAccount, StorageQueue, StorageTable};
use crate::blueprint::{Blueprint, Capacity};
use crate::limits;
use crate::node::{Fault, Location, fault};
use crate::storage::names;
use orrery_catalog::storage::TableName;
use std::collections::BTreeSet;

#[derive(Default)]
pub(crate) struct Accounts {
    drafts: Vec<Draft>,
    /// Account, folded table name, partition key and row key of every example entity.
    keys: BTreeSet<(String, String, String, String)>,
}

struct Draft {
    account: StorageAccount,
    at: Location,
    is_declared: bool,
}

impl Accounts {
    /// The account itself; what is in it may have been added before.
    pub fn declare(&mut self, at: Location, name: &str, about: Option<String>) -> Result<(), Fault> {
        let draft = self.draft(at, name)?;
        if draft.is_declared {
            return fault(at, format!("the storage account '{name}' is here twice"));
        }
        draft.is_declared = true;
        draft.account.about = about;
        Ok(())
    }

    pub fn add_table(&mut self, at: Location, account: &str, table: StorageTable) -> Result<(), Fault> {
        let tables = &mut self.draft(at, account)?.account.tables;
        if tables.iter().any(|known| known.name == table.name) {
            return fault(
                at,
                format!("the table '{}' is here twice; case makes no difference", table.name.as_str()),
            );
        }
        add(at, "tables", limits::BLUEPRINT_TABLES_MAX, tables, table)
    }

    pub fn add_queue(&mut self, at: Location, account: &str, queue: StorageQueue) -> Result<(), Fault> {
        let queues = &mut self.draft(at, account)?.account.queues;
        if queues.iter().any(|known| known.name == queue.name) {
            return fault(at, format!("the queue '{}' is here twice", queue.name.as_str()));
        }
        add(at, "queues", limits::BLUEPRINT_QUEUES_MAX, queues, queue)
    }

    /// Of a table that was added before.
    pub fn add_entity(
        &mut self,
        at: Location,
        account: &str,
        table: &TableName,
        entity: ExampleEntity,
    ) -> Result<(), Fault> {
        let key = (account.to_owned(), table.folded(), entity.partition_key.clone(), entity.row_key.clone());
        if !self.keys.insert(key) {
            let (partition_key, row_key) = (&entity.partition_key, &entity.row_key);
            return fault(
                at,
                format!("the entity '{partition_key}', '{row_key}' of '{}' is here twice", table.as_str()),
            );
        }
        let tables = &mut self.draft(at, account)?.account.tables;
        let Some(found) = tables.iter_mut().find(|known| known.name == *table) else {
            return fault(
                at,
                format!("this is an entity of '{}', a table that is not in the files", table.as_str()),
            );
        };
        add(at, "example entities", limits::BLUEPRINT_FIXTURES_MAX, &mut found.entities, entity)
    }

    pub fn finish(self) -> Vec<StorageAccount> {
        self.drafts.into_iter().map(|draft| draft.account).collect()
    }

    /// Adds each account to the blueprint of its name, or as a blueprint of its own.
    pub fn finish_into(self, found: &mut Vec<Blueprint>) {
        let has_databases = !found.is_empty();
        // Beside databases, an account without anything that is read here is there for other reasons.
        let is_wanted = |draft: &Draft| !has_databases || !draft.account.is_empty();
        for draft in self.drafts.into_iter().filter(is_wanted) {
            let name = draft.account.name.as_str().to_owned();
            let note = (!draft.is_declared).then(|| {
                format!(
                    "the storage account '{name}' is only referred to (line {}), and is made too",
                    draft.at.line
                )
            });
            let at = found.iter().position(|blueprint| blueprint.name == name).unwrap_or_else(|| {
                found.push(empty(&name));
                found.len() - 1
            });
            let examples = draft.account.has_fixtures().then(|| {
                format!(
                    "the entities of the storage account '{name}' are example items: --fixtures inserts them"
                )
            });
            found[at].storage.push(draft.account);
            found[at].notes.extend(note.into_iter().chain(examples));
        }
    }

    fn draft(&mut self, at: Location, name: &str) -> Result<&mut Draft, Fault> {
        if let Some(found) = self.drafts.iter().position(|draft| draft.account.name.as_str() == name) {
            return Ok(&mut self.drafts[found]);
        }
        if self.drafts.len() == limits::BLUEPRINT_ACCOUNTS_MAX {
            return fault(
                at,
                format!("there are more than {} storage accounts", limits::BLUEPRINT_ACCOUNTS_MAX),
            );
        }
        let account = StorageAccount {
            name: names::account(at, name)?,
            about: None,
            tables: Vec::new(),
            queues: Vec::new(),
        };
        self.drafts.push(Draft { account, at, is_declared: false });
        let last = self.drafts.len() - 1;
        Ok(&mut self.drafts[last])
    }
}

fn add<T>(at: Location, what: &str, max: usize, list: &mut Vec<T>, one: T) -> Result<(), Fault> {
    if list.len() == max {
        return fault(at, format!("there are more than {max} {what} in one place"));
    }
    list.push(one);
    Ok(())
}

fn empty(name: &str) -> Blueprint {
    Blueprint {
        name: name.to_owned(),
        about: None,
        database: None,
        capacity: Capacity::default(),
        containers: Vec::new(),
        queries: Vec::new(),
        storage: Vec::new(),
        notes: Vec::new(),
    }
}
