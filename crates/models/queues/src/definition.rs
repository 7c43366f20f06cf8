//! A queue as it is defined.

use crate::Metadata;
use orrery_catalog::storage::{AccountName, QueueName, SignedIdentifiers};

/// How a queue is found.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct QueueId {
    pub account: AccountName,
    pub name: QueueName,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Queue {
    pub id: QueueId,
    /// No other table, queue or container has or had it.
    pub number: u32,
    pub metadata: Metadata,
    pub policies: SignedIdentifiers,
}
