//! The JSON of a finding: the part of a definition or of a query's body to paste.

use crate::advise::finding::Finding;
use orrery_documents::index::advice::PolicyJson;
use serde_json::{Value, json};

/// `None` where there is nothing to paste.
pub fn of(finding: &Finding, policy: &PolicyJson) -> Option<Value> {
    match finding {
        Finding::UnusedPaths(_) | Finding::MissingComposites(_) | Finding::LargeItems(_) => {
            let changed = finding.change(policy)?.ok()?;
            Some(json!({ "indexingPolicy": changed }))
        }
        Finding::HotPartition(found) => {
            found.partition_key.as_ref().map(|key| json!({ "partitionKey": key }))
        }
        Finding::CrossPartition(found) => {
            let parameter = |(name, value): &(String, Value)| json!({"name": name, "value": value});
            Some(json!({ "parameters": found.parameters.iter().map(parameter).collect::<Value>() }))
        }
    }
}
