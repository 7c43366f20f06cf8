//! Entity group transactions: several operations in one partition, all or none.

use crate::entity::{EntityKey, KeyText};
use crate::limits;
use crate::operations::{EntityError, EntityOperation, Stamp, Written, apply_part, require_table};
use crate::size::Growth;
use crate::table::Table;
use orrery_kv::Txn;
use std::collections::HashSet;

/// Operations that may be done together.
#[derive(Clone, Debug, PartialEq)]
pub struct GroupTransaction(Vec<EntityOperation>);

/// Why operations cannot be a group. Indexes count from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidGroup {
    /// `InvalidInput`
    #[error("The batch has no operations.")]
    Empty,
    /// `InvalidInput`
    #[error("The batch has more than {} operations.", limits::GROUP_OPERATIONS_MAX)]
    TooManyOperations,
    /// `RequestBodyTooLarge`
    #[error("The entities of the batch have more than {} MiB.", limits::GROUP_BYTES_MAX >> 20)]
    TooLarge,
    /// `CommandsInBatchActOnDifferentPartitions`
    #[error("All commands in a batch must operate on same entity group.")]
    DifferentPartitions { index: usize },
    /// `InvalidDuplicateRow`
    #[error(
        "The batch request contains multiple changes with same row key. An entity can appear only once in a batch request."
    )]
    DuplicateRow { index: usize },
}

/// An operation failed, and none was done.
#[derive(Debug, thiserror::Error)]
#[error("{index}:{error}")]
pub struct GroupError {
    pub index: usize,
    #[source]
    pub error: EntityError,
}

impl GroupTransaction {
    pub fn new(operations: Vec<EntityOperation>) -> Result<Self, InvalidGroup> {
        let first = operations.first().ok_or(InvalidGroup::Empty)?;
        if operations.len() > limits::GROUP_OPERATIONS_MAX {
            return Err(InvalidGroup::TooManyOperations);
        }
        let partition_key = &first.key().partition_key;
        let mut rows: HashSet<&str> = HashSet::new();
        for (index, operation) in operations.iter().enumerate() {
            let EntityKey { partition_key: its, row_key } = operation.key();
            if its != partition_key {
                return Err(InvalidGroup::DifferentPartitions { index });
            }
            if !rows.insert(row_key.as_str()) {
                return Err(InvalidGroup::DuplicateRow { index });
            }
        }
        if operations.iter().map(EntityOperation::bytes).sum::<usize>() > limits::GROUP_BYTES_MAX {
            return Err(InvalidGroup::TooLarge);
        }
        Ok(Self(operations))
    }

    pub fn operations(&self) -> &[EntityOperation] {
        &self.0
    }

    pub fn partition_key(&self) -> &KeyText {
        &self.0[0].key().partition_key
    }
}

/// Does all of them, in order. After an error the transaction must not be committed.
pub fn apply_group(
    txn: &mut Txn<'_>,
    table: &Table,
    group: &GroupTransaction,
    stamp: Stamp,
) -> Result<Vec<Written>, GroupError> {
    require_table(txn, table.number());
    let mut growth = Growth::default();
    let operations = group.0.iter().enumerate();
    let written = operations.map(|(index, operation)| {
        apply_part(txn, table.number(), operation, stamp, &mut growth)
            .map_err(|error| GroupError { index, error })
    });
    let written = written.collect::<Result<_, _>>()?;
    growth.add_to(txn, table.number());
    Ok(written)
}
