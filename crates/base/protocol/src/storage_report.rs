//! The response of `/v1/advice?service=…`: reports on the tables or queues of the storage accounts.

use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StorageReport {
    /// When the server began to record, and when the report was written.
    pub since_ms: u64,
    pub now_ms: u64,
    /// The busiest first.
    #[serde(default)]
    pub tables: Vec<TableReport>,
    #[serde(default)]
    pub queues: Vec<QueueReport>,
    /// False if there are more than are told of.
    pub is_whole: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TableReport {
    pub account: String,
    pub table: String,
    pub entities: u64,
    pub bytes: u64,
    /// Requests since the start, and those for one partition.
    pub requests: u64,
    pub partition_requests: u64,
    /// The partitions with the most requests.
    pub busiest: Vec<BusyTablePartition>,
    /// Whether `busiest` has every partition that was asked for.
    pub is_all_partitions: bool,
    /// Queries that read whole partitions, those that read the most first.
    pub scans: Vec<TableScan>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct BusyTablePartition {
    pub partition_key: String,
    pub requests: u64,
}

/// Queries with one filter, but for its constants.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TableScan {
    /// With `?` for each constant; `None` if there was no filter.
    pub filter: Option<String>,
    /// Whether they read in one partition that they name.
    pub is_in_one_partition: bool,
    pub queries: u64,
    pub entities_read: u64,
    pub entities_returned: u64,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct QueueReport {
    pub account: String,
    pub queue: String,
    pub messages: u64,
    pub bytes: u64,
    /// Operations since the start.
    pub puts: u64,
    pub gets: u64,
    pub empty_gets: u64,
    pub deletes: u64,
    /// Messages that gets returned, and those of them that had been got before.
    pub messages_got: u64,
    pub messages_got_again: u64,
    /// For how long the first visible message has waited.
    pub waiting_seconds: Option<u64>,
    /// Messages that were got again and again and are still there.
    pub repeated: Vec<RepeatedMessage>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RepeatedMessage {
    pub id: String,
    pub gets: u32,
}
