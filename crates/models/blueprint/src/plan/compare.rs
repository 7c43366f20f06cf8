//! Compares an existing container with the wanted one.

use super::ObservedContainer;
use super::step::{Change, Refusal};
use crate::blueprint::Container;
use orrery_documents::definition::{
    CompositeIndex, ContainerDefinition, DefaultTtl, IndexPath, IndexReach, IndexStep, IndexingPolicy,
    PropertyPath, SortOrder,
};
use serde_json::{Map, Value};
use std::collections::BTreeSet;

/// The differences that cannot be changed in place.
pub fn refusal(wanted: &Container, observed: &ObservedContainer) -> Option<Refusal> {
    let (new, old) = (&wanted.definition, &observed.definition);
    let (new_key, old_key) = (new.partition_key(), old.partition_key());
    if new_key.paths() != old_key.paths() {
        let shown = |definition: &ContainerDefinition| list(definition.partition_key().paths());
        return Some(Refusal::PartitionKey { observed: shown(old), wanted: shown(new) });
    }
    let (new_keys, old_keys) = (unique_keys(new), unique_keys(old));
    if new_keys != old_keys {
        return Some(Refusal::UniqueKeys { observed: all(&old_keys), wanted: all(&new_keys) });
    }
    old.replaced_by(body(wanted, observed)).err().map(|error| Refusal::Definition(error.to_string()))
}

/// The change of the definition, if any.
pub fn definition(wanted: &Container, observed: &ObservedContainer) -> Option<Change> {
    let what = differences(wanted, &observed.definition);
    if what.is_empty() {
        return None;
    }
    Some(Change::Definition { body: body(wanted, observed), etag: observed.etag.clone(), what })
}

/// The schema, if the server has another or none. Other members of the server's response (counters) are
/// ignored.
pub fn schema(wanted: Value, observed: Option<&Value>) -> Option<Change> {
    let is_same = observed.is_some_and(|observed| {
        ["validation", "schema", "schemas"].iter().all(|name| observed.get(name) == wanted.get(name))
    });
    (!is_same).then_some(Change::Schema { body: wanted })
}

/// The existing definition, with the blueprint's members replacing its own.
fn body(wanted: &Container, observed: &ObservedContainer) -> Map<String, Value> {
    let (mut body, new) = (observed.definition.to_json(), wanted.definition.to_json());
    for name in SPOKEN_OF {
        if let Some(value) = new.get(name) {
            body.insert(name.to_owned(), value.clone());
        }
    }
    if wanted.has_policy
        && let Some(policy) = new.get("indexingPolicy")
    {
        body.insert("indexingPolicy".to_owned(), policy.clone());
    }
    if new.get("defaultTtl").is_none() {
        body.shift_remove("defaultTtl");
    }
    body
}

/// The members that the blueprint replaces if it has them.
const SPOKEN_OF: [&str; 6] = [
    "defaultTtl",
    "analyticalStorageTtl",
    "computedProperties",
    "fullTextPolicy",
    "vectorEmbeddingPolicy",
    "changeFeedPolicy",
];

fn differences(wanted: &Container, old: &ContainerDefinition) -> Vec<String> {
    let new = &wanted.definition;
    let mut what = Vec::new();
    if new.default_ttl() != old.default_ttl() {
        what.push(format!("defaultTtl: {} -> {}", ttl(old.default_ttl()), ttl(new.default_ttl())));
    }
    if let Some(wanted_ttl) = new.analytical_ttl().filter(|given| Some(*given) != old.analytical_ttl()) {
        what.push(format!(
            "analyticalStorageTtl: {} -> {}",
            ttl(old.analytical_ttl()),
            ttl(Some(wanted_ttl))
        ));
    }
    if wanted.has_policy {
        what.extend(policy(new.indexing(), old.indexing()));
    }
    let (new_json, old_json) = (new.to_json(), old.to_json());
    for name in &SPOKEN_OF[2..] {
        if new_json.get(*name).is_some_and(|given| old_json.get(*name) != Some(given)) {
            what.push((*name).to_owned());
        }
    }
    what
}

fn ttl(ttl: Option<DefaultTtl>) -> String {
    match ttl {
        None => "off".to_owned(),
        Some(DefaultTtl::Never) => "-1".to_owned(),
        Some(DefaultTtl::Seconds(seconds)) => format!("{seconds} s"),
    }
}

/// Policies that list the same paths in another order are equal.
fn policy(new: &IndexingPolicy, old: &IndexingPolicy) -> Vec<String> {
    let mut what = Vec::new();
    if (new.mode, new.automatic) != (old.mode, old.automatic) {
        what.push("indexing: mode".to_owned());
    }
    let lists = [
        ("included", shown(&new.included), shown(&old.included)),
        ("excluded", shown(&new.excluded), shown(&old.excluded)),
        ("composite", composites(new), composites(old)),
    ];
    for (name, new, old) in lists {
        let added = new.difference(&old).map(|path| format!("+{path}"));
        let gone = old.difference(&new).map(|path| format!("-{path}"));
        let all: Vec<String> = added.chain(gone).collect();
        if !all.is_empty() {
            what.push(format!("indexing {name}: {}", all.join(" ")));
        }
    }
    if (&new.spatial, &new.vectors, &new.full_text) != (&old.spatial, &old.vectors, &old.full_text) {
        what.push("indexing: spatial, vector or full-text indexes".to_owned());
    }
    what
}

/// Compares by meaning, so that `/"a"/?` equals `/a/?`.
fn shown(paths: &[IndexPath]) -> BTreeSet<String> {
    let text = |path: &IndexPath| {
        let mut text = String::new();
        for step in path.steps() {
            text.push('/');
            text.push_str(match step {
                IndexStep::Property(name) => name,
                IndexStep::Each => "[]",
            });
        }
        text.push_str(match path.reach() {
            IndexReach::Value => "/?",
            IndexReach::Subtree => "/*",
        });
        text
    };
    paths.iter().map(text).collect()
}

fn composites(policy: &IndexingPolicy) -> BTreeSet<String> {
    let one = |index: &CompositeIndex| {
        let parts = index.paths().iter().map(|part| {
            let order = if part.order == SortOrder::Descending { "DESC" } else { "ASC" };
            format!("{} {order}", part.path)
        });
        format!("({})", parts.collect::<Vec<_>>().join(", "))
    };
    policy.composites.iter().map(one).collect()
}

fn unique_keys(definition: &ContainerDefinition) -> BTreeSet<Vec<PropertyPath>> {
    let sorted = |key: &Vec<PropertyPath>| {
        let mut key = key.clone();
        key.sort();
        key
    };
    definition.unique_keys().iter().map(sorted).collect()
}

fn all(keys: &BTreeSet<Vec<PropertyPath>>) -> String {
    if keys.is_empty() {
        return "none".to_owned();
    }
    keys.iter().map(|key| list(key)).collect::<Vec<_>>().join(" and ")
}

fn list(paths: &[PropertyPath]) -> String {
    let texts: Vec<String> = paths.iter().map(ToString::to_string).collect();
    match texts.as_slice() {
        [one] => one.clone(),
        several => format!("[{}]", several.join(", ")),
    }
}
