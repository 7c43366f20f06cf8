//! The response of `/v1/advice`, a report on one container: its contents and usage.
//!
//! Paths are spelled as in an indexing policy, without their suffix. Partition keys are arrays, as clients
//! send them; `{}` represents a missing value.

use serde::{Deserialize, Serialize};
use serde_json::Value;

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// When the server began to record, and when the report was written.
    pub since_ms: u64,
    pub now_ms: u64,
    pub statistics: Statistics,
    pub usage: Usage,
}

/// The stored data.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Statistics {
    pub items: u64,
    pub bytes: u64,
    pub partitions: u64,
    /// False if only the first of very many partitions were counted.
    pub is_whole: bool,
    /// The size limit of a partition.
    pub partition_bytes_max: u64,
    /// The largest partitions.
    pub largest: Vec<Partition>,
    /// Items sampled for their indexing, and the number of their index entries.
    pub sampled: u64,
    pub entries: u64,
    /// The indexed paths, those with the most entries first.
    pub paths: Vec<IndexedPath>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Partition {
    pub key: Vec<Value>,
    pub items: u64,
    pub bytes: u64,
}

/// Among the sampled items.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct IndexedPath {
    pub path: String,
    pub items: u64,
    pub entries: u64,
}

/// Requests since the start.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Usage {
    pub queries: u64,
    /// The recent queries, most expensive first.
    pub shapes: Vec<Shape>,
    /// How queries locate documents; `None` if that is not known for all of them.
    pub paths: Option<Vec<AskedPath>>,
    /// Single-partition requests, estimated from a sample.
    pub requests: u64,
    /// The partitions with the most requests.
    pub busiest: Vec<BusyPartition>,
    /// The largest items written that still exist, largest first.
    pub large: Vec<LargeItem>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Shape {
    pub text: String,
    pub queries: u64,
    /// How many of them were cross-partition.
    pub queries_over_all: u64,
    pub rows: u64,
    /// Request units in total.
    pub charge: f64,
    /// Composite indexes that would have helped.
    pub missing: Vec<Vec<CompositePart>>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct CompositePart {
    pub path: String,
    pub descending: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AskedPath {
    pub path: String,
    pub pages: u64,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct BusyPartition {
    pub key: Vec<Value>,
    pub requests: u64,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LargeItem {
    pub key: Vec<Value>,
    pub id: String,
    pub bytes: u64,
    /// The largest top-level member, and its size.
    pub member: Option<String>,
    pub member_bytes: u64,
}
