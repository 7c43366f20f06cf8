//! The response of `/v1/top`: the busiest containers, logical partitions and queries.

use serde::{Deserialize, Serialize};

/// Totals since `since_ms`; a client computes rates from two responses.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Top {
    pub since_ms: u64,
    pub now_ms: u64,
    pub containers: Vec<Busy>,
    pub partitions: Vec<Busy>,
    pub queries: Vec<Asked>,
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
