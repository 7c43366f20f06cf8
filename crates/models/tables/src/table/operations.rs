//! Creating and dropping tables, and setting their access policies. All of it in the catalog's scope.

use super::{Table, record};
use crate::row::{self, Row};
use orrery_catalog::storage::{AccountName, SignedIdentifiers, TableName, next_resource_number};
use orrery_core::Timestamp;
use orrery_kv::{Error, META, Order, Read, Txn};

#[derive(Debug, thiserror::Error)]
pub enum TableError {
    /// `TableAlreadyExists`
    #[error("The table specified already exists.")]
    Exists,
    /// `ResourceNotFound`, `TableNotFound`
    #[error("The table specified does not exist.")]
    NotFound,
    #[error(transparent)]
    Store(#[from] Error),
}

/// The table of this name, whatever the case.
pub fn load(state: &dyn Read, account: &AccountName, name: &TableName) -> Result<Option<Table>, Error> {
    let stored = state.get(META, &key(account, name))?;
    stored.map(|bytes| record::read(account.clone(), &bytes)).transpose()
}

/// Every table of every account.
pub fn all(state: &dyn Read) -> Result<Vec<Table>, Error> {
    let rows = state.range(META, &row::tables(), Order::Ascending);
    let tables = rows.map(|row| {
        let (key, bytes) = row?;
        let account = row::read_table(&key).and_then(|account| AccountName::parse(&account).ok());
        record::read(account.ok_or_else(|| Error::Corrupt("the key of a table".to_owned()))?, &bytes)
    });
    tables.collect()
}

pub fn create(
    txn: &mut Txn<'_>,
    account: &AccountName,
    name: &TableName,
    now: Timestamp,
) -> Result<Table, TableError> {
    if load(txn, account, name)?.is_some() {
        return Err(TableError::Exists);
    }
    let number = next_resource_number(txn)?;
    let table = Table {
        account: account.clone(),
        name: name.clone(),
        number,
        created: now,
        access_policies: SignedIdentifiers::default(),
    };
    txn.put(META, key(account, name), record::write(&table));
    txn.put(META, Row::Alive { table: number }.key(), Vec::new());
    Ok(table)
}

/// Drops the table at once; its rows go later, in small steps.
pub fn delete(txn: &mut Txn<'_>, account: &AccountName, name: &TableName) -> Result<(), TableError> {
    let table = load(txn, account, name)?.ok_or(TableError::NotFound)?;
    txn.frees();
    txn.delete(META, key(account, name));
    txn.delete(META, Row::Alive { table: table.number }.key());
    txn.put(META, Row::Sweep { table: table.number }.key(), Vec::new());
    Ok(())
}

pub fn set_access_policies(
    txn: &mut Txn<'_>,
    account: &AccountName,
    name: &TableName,
    policies: SignedIdentifiers,
) -> Result<(), TableError> {
    let table = load(txn, account, name)?.ok_or(TableError::NotFound)?;
    txn.put(META, key(account, name), record::write(&Table { access_policies: policies, ..table }));
    Ok(())
}

fn key(account: &AccountName, name: &TableName) -> bytes::Bytes {
    Row::Table { account: account.as_str(), folded_name: &name.folded() }.key()
}
