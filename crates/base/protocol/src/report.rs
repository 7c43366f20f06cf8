//! What `/v1/advice` answers, a report on one container: what it holds, and how it is used.
//!
//! Paths are spelled as in an indexing policy, without what they end in. Partition keys are arrays, as clients send
//! them; `{}` stands for a value that is missing.

use serde::{Deserialize, Serialize};
use serde_json::Value;

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// When the server started to look, and when this was written.
    pub since_ms: u64,
    pub now_ms: u64,
    pub statistics: Statistics,
    pub usage: Usage,
}

/// What is stored.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Statistics {
    pub items: u64,
    pub bytes: u64,
    pub partitions: u64,
    /// Not if there are so many partitions that only the first were counted.
    pub is_whole: bool,
    /// What one partition may hold.
    pub partition_bytes_max: u64,
    /// The partitions with the most bytes.
    pub largest: Vec<Partition>,
    /// Items that were looked at for what is indexed of them, and how many index entries they have.
    pub sampled: u64,
    pub entries: u64,
    /// The paths that are indexed, the most entries first.
    pub paths: Vec<IndexedPath>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Partition {
    pub key: Vec<Value>,
    pub items: u64,
    pub bytes: u64,
}

/// Of the items that were looked at.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct IndexedPath {
    pub path: String,
    pub items: u64,
    pub entries: u64,
}

/// What was asked since the start.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Usage {
    pub queries: u64,
    /// The most recent ones, those first that cost most.
    pub shapes: Vec<Shape>,
    /// Where queries look; nothing if it is not known of all of them.
    pub paths: Option<Vec<AskedPath>>,
    /// Requests that were for one partition, estimated from some of them.
    pub requests: u64,
    /// The partitions that got the most of them.
    pub busiest: Vec<BusyPartition>,
    /// The largest items that were written and are still there, the largest first.
    pub large: Vec<LargeItem>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Shape {
    pub text: String,
    pub queries: u64,
    /// How many of them ran over all partitions.
    pub queries_over_all: u64,
    pub rows: u64,
    /// Request units, of all of them.
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
    /// The largest member at its top, and how large it is.
    pub member: Option<String>,
    pub member_bytes: u64,
}
