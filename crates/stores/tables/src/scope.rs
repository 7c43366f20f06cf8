//! The scopes of table transactions: the catalog, or one partition of one table.

use orrery_catalog::scope;

/// For definitions of tables.
pub(crate) const CATALOG: [u8; 1] = [scope::CATALOG];

/// For the entities of a partition.
pub(crate) fn partition(table: u32, partition_key: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(5 + partition_key.len());
    bytes.push(scope::TABLE_PARTITION);
    bytes.extend_from_slice(&table.to_be_bytes());
    bytes.extend_from_slice(partition_key.as_bytes());
    bytes
}
