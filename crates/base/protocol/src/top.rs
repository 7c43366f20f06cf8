//! The response of `/v1/top`: the busiest containers, logical partitions, queries, tables and queues.

use serde::{Deserialize, Serialize};

/// Totals since `since_ms`; a client computes rates from two responses.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Top {
    pub since_ms: u64,
    pub now_ms: u64,
    pub containers: Vec<Busy>,
    pub partitions: Vec<Busy>,
    pub queries: Vec<Asked>,
    #[serde(default)]
    pub tables: Vec<BusyTable>,
    #[serde(default)]
    pub queues: Vec<BusyQueue>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Busy {
    pub database: String,
    pub container: String,
    /// JSON; empty for a container.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partition: Option<String>,
    pub requests: u64,
    pub reads: u64,
    pub writes: u64,
    pub queries: u64,
    pub throttled: u64,
    pub request_units: f64,
    pub p50_ms: f64,
    pub p95_ms: f64,
    pub p99_ms: f64,
    /// Absent if it was not looked up.
    pub bytes: Option<u64>,
    pub items: Option<u64>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Asked {
    pub database: String,
    pub container: String,
    pub text: String,
    pub queries: u64,
    pub rows: u64,
    pub request_units: f64,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct BusyTable {
    pub account: String,
    pub table: String,
    pub requests: u64,
    pub reads: u64,
    pub writes: u64,
    pub queries: u64,
    /// Queries over partitions that their filters do not name.
    pub scans: u64,
    pub entities_read: u64,
    pub entities_returned: u64,
    pub refused: u64,
    /// Absent if it was not looked up.
    pub entities: Option<u64>,
    pub bytes: Option<u64>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct BusyQueue {
    pub account: String,
    pub queue: String,
    pub requests: u64,
    pub puts: u64,
    pub messages_got: u64,
    /// Of them, those that had been got before.
    pub messages_got_again: u64,
    pub deletes: u64,
    pub empty_gets: u64,
    pub refused: u64,
    /// Absent if it was not looked up.
    pub messages: Option<u64>,
    pub bytes: Option<u64>,
    /// For how long the first visible message has waited.
    pub waiting_seconds: Option<u64>,
}
