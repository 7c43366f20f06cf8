//! The seeds' containers and what is asked of them, one file each, and two kinds of items without a seed.
//!
//! Policies are the seeds' own, in the form that the service accepts: `/*` is excluded where a seed only lists what
//! is included, and an array's elements are `/[]`.

pub mod audit;
pub mod events;
pub mod growing;
pub mod memories;
pub mod metrics;
pub mod notifications;
pub mod paths;
pub mod workflows;

use serde_json::{Value, json};

/// The definition of a container with one partition key.
fn definition(partition_key: &str, ttl_seconds: u64, policy: &Value) -> Value {
    json!({
        "partitionKey": {"paths": [partition_key], "kind": "Hash", "version": 2},
        "defaultTtl": ttl_seconds,
        "indexingPolicy": policy,
    })
}

/// A policy that includes these paths and no other.
fn only(included: &[&str], composites: &Value) -> Value {
    let included: Vec<Value> = included.iter().map(|path| json!({"path": path})).collect();
    json!({
        "indexingMode": "consistent",
        "automatic": true,
        "includedPaths": included,
        "excludedPaths": [{"path": "/*"}],
        "compositeIndexes": composites,
    })
}

/// The policy of a container that was given none.
fn everything() -> Value {
    json!({
        "indexingMode": "consistent",
        "automatic": true,
        "includedPaths": [{"path": "/*"}],
        "excludedPaths": [{"path": "/\"_etag\"/?"}],
    })
}
