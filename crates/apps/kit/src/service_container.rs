//! A service's own container: leases, idempotency records, cursors.
//!
//! Its partition key is `/partition`, and each item has its own TTL. It is never queried, so it has no index
//! except ids.

use crate::ports::documents::Layout;
use serde_json::json;

/// The member that holds the partition key.
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
