//! What the rules find in tables and queues: facts with their numbers.

use orrery_protocol::storage_report::{RepeatedMessage, TableScan};

#[derive(Clone, Debug, PartialEq)]
pub enum Finding {
    /// Queries that name no PartitionKey, and a partition that there is.
    TableScan(TableScan, Option<String>),
    /// Queries that name a PartitionKey, read very much of the partition and return little.
    PartitionScan(TableScan),
    HotPartition(HotPartition),
    /// Gets that found nothing, among all.
    EmptyGets {
        empty: u64,
        gets: u64,
    },
    /// Messages that had been got before, among all that were got.
    LateDeletes {
        again: u64,
        got: u64,
    },
    RepeatedMessages(Vec<RepeatedMessage>),
    WaitingMessages {
        seconds: u64,
        messages: u64,
        gets: u64,
    },
}

/// A partition that gets far more than its share of the requests.
#[derive(Clone, Debug, PartialEq)]
pub struct HotPartition {
    pub partition_key: String,
    pub requests: u64,
    pub whole: u64,
    pub partitions: u64,
    /// Whether those are all partitions that were asked for.
    pub is_all: bool,
}

impl Finding {
    pub fn kind(&self) -> &'static str {
        match self {
            Self::TableScan(..) => "table-scan",
            Self::PartitionScan(_) => "partition-scan",
            Self::HotPartition(_) => "hot-partition",
            Self::EmptyGets { .. } => "empty-gets",
            Self::LateDeletes { .. } => "late-deletes",
            Self::RepeatedMessages(_) => "repeated-messages",
            Self::WaitingMessages { .. } => "waiting-messages",
        }
    }
}
