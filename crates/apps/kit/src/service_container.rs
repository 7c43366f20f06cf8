//! The container that a service keeps for itself: leases, idempotency records, cursors.
//!
//! Its partition key is `/partition`, and each item has its own TTL. Nothing searches it, so it has no index but ids.

use crate::ports::documents::Layout;
use serde_json::json;

/// The member that is the partition key of such a container.
pub const PARTITION: &str = "partition";

pub fn service_container(name: &str) -> Layout {
    let definition = json!({
        "id": name,
        "partitionKey": {"paths": [format!("/{PARTITION}")], "kind": "Hash", "version": 2},
        "indexingPolicy": {"indexingMode": "none", "automatic": false},
        "defaultTtl": -1,
    });
    Layout { definition }
}
