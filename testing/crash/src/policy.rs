//! The indexing policies that the container has in turn.

use crate::history::Seq;
use orrery_testing_client::{ContainerPath, Method, Request};
use serde_json::{Value, json};

/// How many ways of indexing there are to choose from.
pub const WAYS: u64 = 5;

/// A policy. It names its attempt as an excluded path that no item has, so that it can be told from all others.
pub fn policy(seq: Seq, way: u64) -> Value {
    let attempt = json!({"path": format!("/attempt/a{seq}/?")});
    let root = json!({"path": "/*"});
    match way % WAYS {
        0 => json!({"indexingMode": "none", "automatic": false, "excludedPaths": [attempt]}),
        1 => json!({"includedPaths": [root], "excludedPaths": [attempt]}),
        2 => json!({
            "includedPaths": [root],
            "excludedPaths": [{"path": "/filler/?"}, {"path": "/sum/?"}, attempt],
            "compositeIndexes": [composite("/kind", "/info/rank", "descending"), composite("/kind", "/seq", "ascending")],
        }),
        3 => json!({
            "includedPaths": [{"path": "/kind/?"}, {"path": "/tags/[]/?"}, {"path": "/info/*"}],
            "excludedPaths": [root, attempt],
            "compositeIndexes": [composite("/kind", "/info/rank", "ascending"), composite("/info/rank", "/seq", "ascending")],
        }),
        _ => json!({
            "includedPaths": [{"path": "/seq/?"}, {"path": "/tags/[]/?"}],
            "excludedPaths": [root, attempt],
            "compositeIndexes": [composite("/kind", "/info/rank", "descending"), composite("/seq", "/kind", "descending")],
        }),
    }
}

fn composite(first: &str, second: &str, order: &str) -> Value {
    json!([{"path": first, "order": "ascending"}, {"path": second, "order": order}])
}

/// The attempt that made a policy, as the server shows it.
pub fn attempt(shown: &Value) -> Option<Seq> {
    let excluded = shown.get("excludedPaths")?.as_array()?;
    let paths = excluded.iter().filter_map(|entry| entry.get("path")?.as_str());
    paths.filter_map(|path| path.strip_prefix("/attempt/a")?.strip_suffix("/?")?.parse().ok()).next()
}

/// What a container with this policy has besides its name and partition key.
pub fn members(policy: Value) -> Value {
    json!({"uniqueKeyPolicy": {"uniqueKeys": [{"paths": ["/unique"]}]}, "indexingPolicy": policy})
}

/// Gives the container another policy.
pub fn replace(path: &ContainerPath, policy: Value) -> Request {
    let mut body = members(policy);
    body["id"] = json!(path.container);
    body["partitionKey"] = json!({"paths": ["/pk"], "kind": "Hash", "version": 2});
    Request::new(Method::Put, link(path)).body(body.to_string())
}

/// Reads the container: its policy, and how far its items are indexed as it says.
pub fn read(path: &ContainerPath) -> Request {
    Request::new(Method::Get, link(path))
}

fn link(path: &ContainerPath) -> String {
    format!("dbs/{}/colls/{}", path.database, path.container)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_policy_tells_its_attempt_and_no_two_are_alike() {
        for way in 0..WAYS {
            assert_eq!(attempt(&policy(12, way)), Some(12), "{way}");
            assert_ne!(policy(12, way), policy(12, way + 1), "{way}");
        }
        assert_eq!(attempt(&json!({"excludedPaths": [{"path": "/\"_etag\"/?"}]})), None);
    }
}
