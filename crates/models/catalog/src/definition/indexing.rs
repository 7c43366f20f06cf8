//! The indexing policy.
//!
//! In mode `consistent` the policy must list the root as included or excluded; a policy without any paths
//! includes it. `/"_etag"/?` is excluded unless listed. In mode `none` there is no index, so nothing may be
//! included. The per-path `indexes` of old policies are validated and dropped: every index is a range index
//! now.

use super::composite::{self, CompositeIndex};
use super::full_text::{self, FullTextIndex};
use super::index_path::{self, IndexPath};
use super::members::{DefinitionError, Parsed, invalid};
use super::members::{Members, spelled};
use super::spatial::{self, SpatialIndex};
use super::vector_index::{self, VectorIndex};
use serde_json::{Map, Value, json};
use std::collections::HashSet;

#[derive(Clone, Debug, PartialEq)]
pub struct IndexingPolicy {
    pub mode: IndexingMode,
    pub automatic: bool,
    pub included: Vec<IndexPath>,
    pub excluded: Vec<IndexPath>,
    pub composites: Vec<CompositeIndex>,
    pub spatial: Vec<SpatialIndex>,
    pub vectors: Vec<VectorIndex>,
    pub full_text: Vec<FullTextIndex>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IndexingMode {
    Consistent,
    None,
}

const MODES: [(&str, IndexingMode); 3] = [
    ("consistent", IndexingMode::Consistent),
    ("none", IndexingMode::None),
    ("lazy", IndexingMode::Consistent),
];

/// The member of a definition that holds its indexing policy.
pub(super) const INDEXING_POLICY: &str = "indexingPolicy";

/// Index kinds of old policies.
const LEGACY_KINDS: [(&str, ()); 3] = [("Hash", ()), ("Range", ()), ("Spatial", ())];

pub(super) fn parse(raw: Value) -> Parsed<IndexingPolicy> {
    let mut members = Members::of("indexingPolicy", raw)?;
    let mode = parse_mode(&mut members)?;
    let automatic = members.boolean("automatic")?.unwrap_or(mode == IndexingMode::Consistent);
    let mut included = parse_paths(members.list("includedPaths")?)?;
    let mut excluded = parse_paths(members.list("excludedPaths")?)?;
    check_disjoint(&included, &excluded)?;
    match mode {
        IndexingMode::Consistent => complete(&mut included, &mut excluded)?,
        IndexingMode::None => check_nothing_indexed(automatic, &included)?,
    }
    let mut shown = Map::new();
    shown.insert("indexingMode".to_owned(), json!(mode.name()));
    shown.insert("automatic".to_owned(), json!(automatic));
    let included = show_paths(included, "includedPaths", &mut shown);
    let excluded = show_paths(excluded, "excludedPaths", &mut shown);
    let policy = IndexingPolicy {
        mode,
        automatic,
        included,
        excluded,
        composites: parse_list(&mut members, "compositeIndexes", composite::parse, &mut shown)?,
        spatial: parse_list(&mut members, "spatialIndexes", spatial::parse, &mut shown)?,
        vectors: parse_list(&mut members, "vectorIndexes", vector_index::parse, &mut shown)?,
        full_text: parse_list(&mut members, "fullTextIndexes", full_text::parse_indexes, &mut shown)?,
    };
    Ok((policy, members.followed_by_rest(shown)))
}

/// A body that spells out the default policy gets the complete default, including `automatic`: the Rust SDK
/// sends `automatic: false` if its user said nothing.
pub(super) fn complete_default(body: &mut Map<String, Value>) {
    let Some(Value::Object(policy)) = body.get_mut(INDEXING_POLICY) else { return };
    let is = |name: &str, paths: &[&str]| {
        let shown: Vec<Value> = paths.iter().map(|path| json!({"path": path})).collect();
        policy.get(name).and_then(Value::as_array) == Some(&shown)
    };
    let is_consistent = policy.get("indexingMode").is_none_or(|mode| {
        mode.as_str().is_some_and(|mode| mode.eq_ignore_ascii_case(IndexingMode::Consistent.name()))
    });
    let has_more = policy.keys().any(|name| !DEFAULT_MEMBERS.contains(&name.as_str()));
    if is_consistent && !has_more && is("includedPaths", &["/*"]) && is("excludedPaths", &["/\"_etag\"/?"]) {
        policy.insert("automatic".to_owned(), json!(true));
    }
}

/// The members of the default policy.
const DEFAULT_MEMBERS: [&str; 4] = ["indexingMode", "automatic", "includedPaths", "excludedPaths"];

impl IndexingPolicy {
    /// Parses the policy in a definition as shown.
    pub fn read(shown: Value) -> Result<Self, DefinitionError> {
        parse(shown).map(|(policy, _)| policy)
    }
}

impl IndexingMode {
    fn name(self) -> &'static str {
        match self {
            Self::Consistent => "consistent",
            Self::None => "none",
        }
    }
}

/// A path, and its JSON entry.
struct Entry {
    path: IndexPath,
    shown: Value,
}

impl Entry {
    fn of(path: IndexPath) -> Self {
        let shown = json!({"path": path.to_string()});
        Self { path, shown }
    }
}

fn parse_mode(members: &mut Members) -> Result<IndexingMode, DefinitionError> {
    let named = members.string("indexingMode")?.unwrap_or_else(|| "consistent".to_owned());
    let (_, mode) = spelled(&named, &MODES).ok_or_else(|| {
        invalid(format!("The indexingMode '{named}' is invalid. Choose 'consistent' or 'none'."))
    })?;
    Ok(mode)
}

fn parse_paths(raw: Vec<Value>) -> Result<Vec<Entry>, DefinitionError> {
    raw.into_iter().map(parse_entry).collect()
}

fn parse_entry(raw: Value) -> Result<Entry, DefinitionError> {
    let mut members = Members::of("indexing path", raw)?;
    let path = IndexPath::parse(&members.required_string("path")?).map_err(index_path::refusal)?;
    for index in members.list("indexes")? {
        check_legacy_index(index)?;
    }
    let shown = Map::from_iter([("path".to_owned(), json!(path.to_string()))]);
    Ok(Entry { path, shown: members.followed_by_rest(shown) })
}

fn check_legacy_index(raw: Value) -> Result<(), DefinitionError> {
    let kind = Members::of("index of an indexing path", raw)?.required_string("kind")?;
    match spelled(&kind, &LEGACY_KINDS) {
        Some(_) => Ok(()),
        None => {
            Err(invalid(format!("The index kind '{kind}' is invalid. Choose Range, or leave 'indexes' out.")))
        }
    }
}

fn check_disjoint(included: &[Entry], excluded: &[Entry]) -> Result<(), DefinitionError> {
    let places: HashSet<_> = included.iter().map(|entry| entry.path.place()).collect();
    match excluded.iter().find(|entry| places.contains(&entry.path.place())) {
        None => Ok(()),
        Some(entry) => Err(invalid(format!(
            "The indexing path '{}' is both included and excluded. Keep it in one of includedPaths and \
             excludedPaths.",
            entry.path
        ))),
    }
}

/// The service's additions to a policy that indexes: the root if there are no paths, and the etag's
/// exclusion.
fn complete(included: &mut Vec<Entry>, excluded: &mut Vec<Entry>) -> Result<(), DefinitionError> {
    if included.is_empty() && excluded.is_empty() {
        included.push(Entry::of(IndexPath::root()));
    }
    let mut named = included.iter().chain(excluded.iter()).map(|entry| &entry.path);
    if !named.clone().any(IndexPath::is_root) {
        return Err(invalid(
            "The special mandatory indexing path \"/*\" is in neither list of the indexing policy. It must \
             include or exclude root: any indexing policy has to include the root path /* as either an \
             included or an excluded path. Add {\"path\":\"/*\"} to includedPaths or to excludedPaths.",
        ));
    }
    if !named.any(IndexPath::is_etag) {
        excluded.push(Entry::of(IndexPath::etag()));
    }
    Ok(())
}

fn check_nothing_indexed(automatic: bool, included: &[Entry]) -> Result<(), DefinitionError> {
    if automatic {
        return Err(invalid(
            "With the indexingMode 'none' indexing cannot be automatic. Set 'automatic' to false, or the \
             mode to 'consistent'.",
        ));
    }
    if !included.is_empty() {
        return Err(invalid(
            "With the indexingMode 'none' no path can be included. Empty includedPaths, or set the mode to \
             'consistent'.",
        ));
    }
    Ok(())
}

fn show_paths(entries: Vec<Entry>, name: &str, shown: &mut Map<String, Value>) -> Vec<IndexPath> {
    let (paths, values): (Vec<_>, Vec<_>) =
        entries.into_iter().map(|entry| (entry.path, entry.shown)).unzip();
    shown.insert(name.to_owned(), Value::Array(values));
    paths
}

/// A list of special indexes; an empty one is not shown.
fn parse_list<T>(
    members: &mut Members,
    name: &str,
    parse: fn(Vec<Value>) -> Parsed<Vec<T>>,
    shown: &mut Map<String, Value>,
) -> Result<Vec<T>, DefinitionError> {
    let (indexes, json) = parse(members.list(name)?)?;
    if !indexes.is_empty() {
        shown.insert(name.to_owned(), json);
    }
    Ok(indexes)
}
