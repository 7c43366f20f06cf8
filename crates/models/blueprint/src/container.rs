//! Builds a container's definition from a file's members, with the parser that a create on the wire uses.

use crate::container;
use crate::node::{Fault, Location};
use orrery_documents::definition::{ContainerDefinition, IndexPath, Throughput};
use serde_json::{Map, Value, json};

/// The definition, whether it included a policy, and what was completed.
pub(crate) struct Defined {
    pub definition: ContainerDefinition,
    pub has_policy: bool,
    pub notes: Vec<String>,
}

/// The default partition key version in files. The service's default is 1, which hashes only the first 100
/// characters of a key.
const PARTITION_KEY_VERSION: u8 = 2;

/// `body` has the service's form, except for what `policy` completes.
pub(crate) fn define(at: Location, mut body: Map<String, Value>) -> Result<Defined, Fault> {
    let id = body.get("id").and_then(Value::as_str).unwrap_or_default().to_owned();
    let mut notes = Vec::new();
    let policy = body.get_mut("indexingPolicy").and_then(Value::as_object_mut);
    let has_policy = policy.is_some();
    if let Some(policy) = policy {
        notes = container::complete(policy);
    }
    if let Some(key) = body.get_mut("partitionKey").and_then(Value::as_object_mut) {
        key.entry("version").or_insert(json!(PARTITION_KEY_VERSION));
    }
    let definition = ContainerDefinition::parse(body)
        .map_err(|error| Fault { at, reason: format!("the container '{id}' cannot be made: {error}") })?;
    let notes = notes.into_iter().map(|note| format!("{id}: {note}")).collect();
    Ok(Defined { definition, has_policy, notes })
}

/// Throughput in the files' form, validated like an offer. Both kinds at once are refused, as by the service
/// (C-30).
pub(crate) fn throughput(
    at: Location,
    manual: Option<i64>,
    autoscale: Option<i64>,
) -> Result<Option<Throughput>, Fault> {
    let content = match (manual, autoscale) {
        (None, None) => return Ok(None),
        (Some(_), Some(_)) => {
            let reason = "this asks for manual throughput and for autoscale at once; keep one: with autoscale only \
                          its maximum is given, and a tenth of it is the least";
            return Err(Fault { at, reason: reason.to_owned() });
        }
        (Some(units), None) => json!({"offerThroughput": units}),
        (None, Some(max)) => json!({"offerAutopilotSettings": {"maxThroughput": max}}),
    };
    let made = Throughput::from_offer_content(&content);
    made.map(Some).map_err(|error| Fault { at, reason: error.to_string() })
}

// Completes hand-written indexing policies so that the service accepts them.
//
// Documents and templates contain policies that the service refuses for a few common reasons: the root is
// missing, a `*` inside a path where an array is meant, a path without its suffix, a name without its quotes.
// Each has one sensible correction, which is applied and noted. Any other error remains and is refused as on
// the wire.

/// Completes the policy in place; the notes are sentences without a full stop.
pub(crate) fn complete(policy: &mut Map<String, Value>) -> Vec<String> {
    let mut notes = Vec::new();
    for list in ["includedPaths", "excludedPaths"] {
        for entry in entries(policy, list) {
            complete_entry(entry, &mut notes);
        }
    }
    for path in composite_paths(policy) {
        if let Some(bare) = path.as_str().and_then(|text| text.strip_suffix("/?")).map(str::to_owned) {
            notes.push(format!(
                "the composite path '{bare}/?' became '{bare}': paths of composite indexes have no end"
            ));
            *path = bare.into();
        }
    }
    complete_root(policy, &mut notes);
    notes
}

fn entries<'p>(policy: &'p mut Map<String, Value>, list: &str) -> impl Iterator<Item = &'p mut Value> {
    policy.get_mut(list).and_then(Value::as_array_mut).into_iter().flatten()
}

fn composite_paths(policy: &mut Map<String, Value>) -> impl Iterator<Item = &mut Value> {
    let parts = entries(policy, "compositeIndexes").filter_map(Value::as_array_mut).flatten();
    parts.filter_map(|part| part.get_mut("path"))
}

fn complete_entry(entry: &mut Value, notes: &mut Vec<String>) {
    if let Some(object) = entry.as_object_mut().filter(|object| object.contains_key("indexes")) {
        object.shift_remove("indexes");
        let path = object.get("path").and_then(Value::as_str).unwrap_or_default();
        notes.push(format!("the 'indexes' of '{path}' were left out: every index is a range index now"));
    }
    let Some(path) = entry.get_mut("path") else { return };
    let Some(mended) = path.as_str().and_then(mended) else { return };
    notes.push(format!("the indexing path '{}' became '{mended}'", path.as_str().unwrap_or_default()));
    *path = mended.into();
}

/// The corrected path, if the service would refuse it as written.
fn mended(raw: &str) -> Option<String> {
    if IndexPath::parse(raw).is_ok() {
        return None;
    }
    let mut parts: Vec<String> = raw.strip_prefix('/').unwrap_or(raw).split('/').map(str::to_owned).collect();
    if !parts.last().is_some_and(|last| last == "*" || last == "?") {
        parts.push("?".to_owned());
    }
    let last = parts.len() - 1;
    for part in &mut parts[..last] {
        if part == "*" {
            *part = "[]".to_owned();
        } else if needs_quotes(part) {
            *part = format!("\"{part}\"");
        }
    }
    let mended = format!("/{}", parts.join("/"));
    IndexPath::parse(&mended).is_ok().then_some(mended)
}

fn needs_quotes(part: &str) -> bool {
    let is_plain = part.chars().all(|one| one.is_alphanumeric() || one == '_');
    !part.is_empty() && part != "[]" && !is_plain && !part.contains(['"', '\'', '\\'])
}

/// Listing included paths means that the rest is excluded; listing only excluded paths, that the rest is
/// included.
fn complete_root(policy: &mut Map<String, Value>, notes: &mut Vec<String>) {
    let is_off = policy
        .get("indexingMode")
        .and_then(Value::as_str)
        .is_some_and(|mode| mode.eq_ignore_ascii_case("none"));
    let paths = |policy: &mut Map<String, Value>, list: &str| -> Vec<String> {
        let paths = entries(policy, list).filter_map(|entry| entry.get("path")?.as_str().map(str::to_owned));
        paths.collect()
    };
    let (included, excluded) = (paths(policy, "includedPaths"), paths(policy, "excludedPaths"));
    let names_root = included.iter().chain(&excluded).any(|path| path == "/*" || path == "/");
    if is_off || names_root || (included.is_empty() && excluded.is_empty()) {
        return;
    }
    let (list, what) = match included.is_empty() {
        false => ("excludedPaths", "only the paths that it includes are indexed"),
        true => ("includedPaths", "all but the paths that it excludes is indexed"),
    };
    notes.push(format!("the indexing policy says nothing of '/*', so it was added to {list}: {what}"));
    let entries = policy.entry(list).or_insert_with(|| json!([]));
    if let Some(entries) = entries.as_array_mut() {
        entries.push(json!({"path": "/*"}));
    }
}

#[cfg(test)]
mod policy_tests {
    use super::*;

    fn check(policy: Value, expected: Value, notes: usize) {
        let Value::Object(mut policy) = policy else { panic!("an object") };
        let made = complete(&mut policy);
        assert_eq!((Value::Object(policy), made.len()), (expected, notes), "{made:?}");
    }

    #[test]
    fn paths_that_the_service_refuses_are_corrected() {
        for (raw, expected) in [
            ("/agents/*/result/*", Some("/agents/[]/result/*")),
            ("/checkpoints/*/state/?", Some("/checkpoints/[]/state/?")),
            ("/expiration", Some("/expiration/?")),
            ("status/?", Some("/status/?")),
            ("/my-key/?", Some("/\"my-key\"/?")),
            ("/*", None),
            ("/_etag/?", None),
            ("/\"_etag\"/?", None),
            ("/a/[]/b/?", None),
        ] {
            assert_eq!(mended(raw).as_deref(), expected, "{raw}");
        }
        assert_eq!(mended("/a//?"), None, "an empty name has no sensible answer");
    }

    /// C-04: a policy that lists included paths excludes all others.
    #[test]
    fn the_root_is_named_on_the_side_that_is_meant() {
        check(
            json!({"includedPaths": [{"path": "/status/?"}]}),
            json!({"includedPaths": [{"path": "/status/?"}], "excludedPaths": [{"path": "/*"}]}),
            1,
        );
        check(
            json!({"excludedPaths": [{"path": "/context/*"}]}),
            json!({"excludedPaths": [{"path": "/context/*"}], "includedPaths": [{"path": "/*"}]}),
            1,
        );
        for whole in [
            json!({}),
            json!({"includedPaths": [{"path": "/*"}], "excludedPaths": [{"path": "/a/?"}]}),
            json!({"indexingMode": "none", "automatic": false, "excludedPaths": [{"path": "/a/?"}]}),
        ] {
            check(whole.clone(), whole, 0);
        }
    }

    #[test]
    fn old_index_kinds_and_ends_of_composite_paths_go() {
        check(
            json!({"includedPaths": [{"path": "/*", "indexes": [{"kind": "Range"}]}],
                "compositeIndexes": [[{"path": "/a/?"}, {"path": "/b", "order": "descending"}]]}),
            json!({"includedPaths": [{"path": "/*"}],
                "compositeIndexes": [[{"path": "/a"}, {"path": "/b", "order": "descending"}]]}),
            2,
        );
    }
}
