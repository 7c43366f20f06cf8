//! A table as it is defined: its name, its number, its access policies.

use orrery_catalog::storage::{AccountName, SignedIdentifiers, TableName};
use orrery_core::Timestamp;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    pub account: AccountName,
    /// As it was written when the table was created.
    pub name: TableName,
    pub(crate) number: u32,
    pub created: Timestamp,
    pub access_policies: SignedIdentifiers,
}

impl Table {
    /// No other table, container or queue has it, or had it.
    pub fn number(&self) -> u32 {
        self.number
    }
}
