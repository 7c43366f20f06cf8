//! Index rules: an indexing policy prepared for use.
//!
//! Two policies that index the same paths in the same way are equal here, however they list them.
//!
//! `id` and `_ts` are indexed unless the policy disables indexing. No other system member is, because terms
//! are produced from the item's own text; queries never use such an index.

use super::number::composite_number;
use super::tree::Tree;
use crate::definition::{
    BoundingBox, CompositeIndex, IndexPath, IndexReach, IndexStep, IndexingMode, IndexingPolicy, SortOrder,
    SpatialIndex,
};
use orrery_query::access::{Path, Step};

#[derive(Debug, Default, PartialEq)]
pub struct IndexRules {
    is_none: bool,
    pub tree: Tree,
    composites: Vec<Composite>,
    /// The number of values that the composite indexes need.
    pub parts: usize,
    spatial: Vec<SpatialIndex>,
}

const ALWAYS: [&str; 2] = ["id", "_ts"];
const NEVER: [&str; 5] = ["_rid", "_self", "_etag", "_attachments", "_lsn"];

impl IndexRules {
    pub fn new(policy: &IndexingPolicy) -> Self {
        if policy.mode == IndexingMode::None {
            return Self { is_none: true, ..Self::default() };
        }
        let mut rules = Self::default();
        rules.take_paths(policy);
        rules.take_composites(policy);
        rules.take_spatial(policy);
        rules.tree = rules.tree.finish();
        rules
    }

    /// Whether indexing is disabled.
    pub fn is_none(&self) -> bool {
        self.is_none
    }

    /// Whether each stored value at a path is indexed. A computed property is not stored.
    pub fn includes(&self, path: &[Step]) -> bool {
        self.tree.at(path).is_indexed
    }

    pub fn composites(&self) -> &[Composite] {
        &self.composites
    }

    pub fn has_composite(&self, parts: &[(Path, bool)]) -> bool {
        self.composites.iter().any(|composite| composite.has(parts))
    }

    /// Whether each shape at a path is indexed.
    pub fn has_spatial(&self, path: &[Step]) -> bool {
        self.spatial_at(path).is_some()
    }

    /// The bounding box of a planar spatial index.
    pub fn bounds(&self, path: &[Step]) -> Option<BoundingBox> {
        self.spatial_at(path)?.bounds
    }

    pub fn spatial(&self) -> &[SpatialIndex] {
        &self.spatial
    }

    fn spatial_at(&self, path: &[Step]) -> Option<&SpatialIndex> {
        self.spatial.get(self.tree.at(path).shape?)
    }

    fn take_paths(&mut self, policy: &IndexingPolicy) {
        let included = policy.included.iter().map(|path| (path, true));
        let excluded = policy.excluded.iter().map(|path| (path, false));
        let named = included.chain(excluded).map(|(path, says)| (steps(path), path, says));
        let mut named: Vec<_> = named.collect();
        // Sorted, so that equal policies give equal trees.
        named.sort_by(|(a, _, _), (b, _, _)| a.cmp(b));
        for (steps, path, says) in named {
            let node = self.tree.node(&steps);
            match path.reach() {
                IndexReach::Value => node.value = Some(says),
                IndexReach::Subtree => node.subtree = Some(says),
            }
        }
        for name in ALWAYS {
            self.tree.node(&member(name)).value = Some(true);
        }
        for name in NEVER {
            let node = self.tree.node(&member(name));
            (node.value, node.subtree) = (Some(false), Some(false));
        }
    }

    fn take_composites(&mut self, policy: &IndexingPolicy) {
        let mut composites: Vec<_> = policy.composites.iter().map(parts_of).collect();
        composites.retain(|parts| !parts.iter().any(|(path, _)| is_never(path)));
        composites.sort();
        let composites = composites.into_iter().map(|parts| Composite::new(parts, |path| self.ask(path)));
        self.composites = composites.collect();
    }

    /// Marks the value at a path as needed by composite indexes; returns its number.
    fn ask(&mut self, path: &[Step]) -> usize {
        let part = *self.tree.node(path).part.get_or_insert(self.parts);
        self.parts = self.parts.max(part + 1);
        part
    }

    fn take_spatial(&mut self, policy: &IndexingPolicy) {
        self.spatial = policy.spatial.clone();
        self.spatial.sort_by_cached_key(|index| steps(&index.path));
        for (at, index) in self.spatial.iter().enumerate() {
            let node = self.tree.node(&steps(&index.path));
            match index.path.reach() {
                IndexReach::Value => node.shape.get_or_insert(at),
                IndexReach::Subtree => node.shapes.get_or_insert(at),
            };
        }
    }
}

/// The steps of a policy's path, without its scope.
pub fn steps(path: &IndexPath) -> Path {
    let step = |step: &IndexStep| match step {
        IndexStep::Property(name) => Step::Member(name.clone()),
        IndexStep::Each => Step::Each,
    };
    path.steps().iter().map(step).collect()
}

/// Whether a path leads to a value outside the item's text.
fn is_never(path: &[Step]) -> bool {
    matches!(path.first(), Some(Step::Member(name)) if NEVER.contains(&name.as_str()))
}

fn member(name: &str) -> Path {
    [Step::Member(name.to_owned())].into()
}

// Composite indexes: one term per item, built from its values at several paths.
//
// ```text
// number u64, then for each part its index value, in the part's direction
// ```
//
// A part that an item lacks is undefined; an item without any of the parts has no term.

#[derive(Debug, PartialEq)]
pub struct Composite {
    number: u64,
    /// Each path, and whether it descends.
    parts: Vec<(Path, bool)>,
    /// The source of each part's value.
    sources: Vec<Source>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Source {
    /// The item's text: the collected value with this number.
    Text(usize),
    /// The time of the write, as shown in `_ts`.
    Written,
}

impl Composite {
    /// Marks the parts' paths as needed through `ask`, which returns their numbers.
    pub(super) fn new(parts: Vec<(Path, bool)>, mut ask: impl FnMut(&[Step]) -> usize) -> Self {
        let source = |(path, _): &(Path, bool)| match &path[..] {
            [Step::Member(name)] if name == "_ts" => Source::Written,
            path => Source::Text(ask(path)),
        };
        let sources = parts.iter().map(source).collect();
        Self { number: composite_number(&parts), parts, sources }
    }

    /// Each path and whether it descends, with the source of its value.
    pub fn columns(&self) -> impl Iterator<Item = (&(Path, bool), Source)> {
        self.parts.iter().zip(self.sources.iter().copied())
    }

    pub fn number(&self) -> u64 {
        self.number
    }

    pub fn parts(&self) -> Vec<(Path, bool)> {
        self.parts.clone()
    }

    pub fn has(&self, parts: &[(Path, bool)]) -> bool {
        self.parts == parts
    }
}

/// The paths of a definition, and whether each descends.
pub(super) fn parts_of(index: &CompositeIndex) -> Vec<(Path, bool)> {
    let parts = index.paths().iter().map(|part| {
        let path = part.path.segments().iter().cloned().map(Step::Member).collect();
        (path, part.order == SortOrder::Descending)
    });
    parts.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::definition::ContainerDefinition;
    use serde_json::{Value, json};

    fn rules(policy: Value) -> IndexRules {
        let body = json!({"id": "c", "partitionKey": {"paths": ["/pk"]}, "indexingPolicy": policy});
        let Value::Object(body) = body else { unreachable!("it was written as an object") };
        IndexRules::new(ContainerDefinition::parse(body).unwrap().indexing())
    }

    fn paths(included: &[&str], excluded: &[&str]) -> Value {
        let list = |paths: &[&str]| paths.iter().map(|path| json!({"path": path})).collect::<Vec<_>>();
        json!({"includedPaths": list(included), "excludedPaths": list(excluded)})
    }

    /// A path without its scope suffix.
    fn path(text: &str) -> Path {
        steps(&IndexPath::parse(&format!("{text}/?")).unwrap())
    }

    fn check(included: &[&str], excluded: &[&str], inside: &[&str], outside: &[&str]) {
        let rules = rules(paths(included, excluded));
        for (texts, expected) in [(inside, true), (outside, false)] {
            for text in texts {
                assert_eq!(
                    rules.includes(&path(text)),
                    expected,
                    "{text} of {included:?} without {excluded:?}"
                );
            }
        }
    }

    #[test]
    fn a_deeper_path_overrides_a_shallower_one() {
        check(
            &["/*", "/food/ingredients/nutrition/*"],
            &["/food/ingredients/*"],
            &["/food", "/food/x", "/food/ingredients/nutrition", "/food/ingredients/nutrition/a/b"],
            &["/food/ingredients", "/food/ingredients/salt", "/food/ingredients/salt/gram"],
        );
        check(
            &["/category/name/?"],
            &["/*", "/category/*"],
            &["/category/name"],
            &["/category", "/category/id", "/category/name/x", "/name", "/x"],
        );
        check(&["/*"], &["/a/*", "/a/b/c/?"], &["/b"], &["/a", "/a/b", "/a/b/c", "/a/b/c/d"]);
        check(&["/a/b/*"], &["/*", "/a/b/c/*"], &["/a/b", "/a/b/d"], &["/a", "/a/b/c", "/a/b/c/d"]);
    }

    #[test]
    fn at_one_place_the_value_overrides_the_subtree() {
        check(&["/*", "/a/?"], &["/a/*"], &["/a", "/b"], &["/a/b", "/a/[]"]);
        check(&["/a/*"], &["/*", "/a/?"], &["/a/b", "/a/b/c", "/a/[]"], &["/a", "/b"]);
    }

    #[test]
    fn a_value_path_does_not_affect_the_subtree() {
        check(&["/*"], &["/a/?"], &["/a/b", "/a/[]", "/b"], &["/a"]);
        check(&["/a/?"], &["/*"], &["/a"], &["/a/b", "/a/[]", "/b"]);
        check(&["/a/b/?"], &["/*", "/a/?"], &["/a/b"], &["/a"]);
    }

    #[test]
    fn array_elements_have_their_own_paths() {
        check(&["/tags/[]/name/?"], &["/*"], &["/tags/[]/name"], &["/tags", "/tags/[]", "/tags/name"]);
        check(&["/tags/[]/?"], &["/*"], &["/tags/[]"], &["/tags", "/tags/[]/[]", "/tags/[]/a"]);
        check(
            &["/*"],
            &["/agents/[]/result/*"],
            &["/agents", "/agents/[]", "/agents/[]/state", "/agents/result/x", "/agents/[]/[]/result"],
            &["/agents/[]/result", "/agents/[]/result/x", "/agents/[]/result/[]"],
        );
    }

    #[test]
    fn a_quoted_name_is_a_name() {
        check(
            &["/\"a\"/?", "/\"odd name\"/\"[]\"/?"],
            &["/*"],
            &["/a", "/\"odd name\"/\"[]\""],
            &["/\"odd name\"/[]"],
        );
    }

    #[test]
    fn id_and_time_are_always_indexed_and_other_system_properties_never() {
        let system = ["/_etag", "/_rid", "/_self", "/_attachments"];
        check(&["/*"], &[], &["/id", "/_ts", "/_other", "/a/_etag"], &system);
        check(&["/a/?"], &["/*"], &["/id", "/_ts"], &system);
        check(&["/*"], &["/id/?", "/_ts/?"], &["/id", "/_ts"], &system);
        check(&["/*", "/_etag/?", "/_rid/*"], &[], &["/id", "/_ts"], &system);
    }

    #[test]
    fn without_a_mode_there_is_nothing() {
        let none = rules(json!({"indexingMode": "none", "automatic": false}));
        assert!(none.is_none() && !none.includes(&path("/id")) && !none.includes(&path("/_ts")));
        assert!(!rules(paths(&[], &["/*"])).is_none(), "with all paths excluded there is still the id");
        assert!(!rules(paths(&["/*"], &[])).includes(&[]), "the item itself is no value");
    }

    #[test]
    fn equal_policies_are_equal_however_they_are_listed() {
        let policy = |included: &[&str], composites: Value| {
            let mut policy = paths(included, &["/*"]);
            policy["compositeIndexes"] = composites;
            rules(policy)
        };
        let up = |name: &str| json!({"path": name, "order": "ascending"});
        let both = json!([[up("/x"), up("/y")], [up("/y"), up("/x")]]);
        let turned = json!([[up("/y"), up("/x")], [up("/x"), up("/y")]]);
        assert_eq!(policy(&["/a/?", "/b/c/*"], both.clone()), policy(&["/\"b\"/c/*", "/a/?"], turned));
        assert_ne!(policy(&["/a/?", "/b/c/*"], both.clone()), policy(&["/a/?", "/b/c/?"], both.clone()));
        assert_ne!(policy(&["/a/?"], both), policy(&["/a/?"], json!([[up("/x"), up("/y")]])));
    }

    #[test]
    fn composites_are_known_by_their_parts() {
        let mut policy = paths(&["/*"], &[]);
        policy["compositeIndexes"] = json!([
            [{"path": "/a/b", "order": "ascending"}, {"path": "/_ts", "order": "descending"}],
            [{"path": "/a", "order": "ascending"}, {"path": "/_etag", "order": "ascending"}],
        ]);
        let rules = rules(policy);
        let parts = vec![(path("/a/b"), false), (path("/_ts"), true)];
        let known: Vec<_> = rules.composites().iter().map(Composite::parts).collect();
        assert_eq!(known, std::slice::from_ref(&parts));
        assert!(
            rules.has_composite(&parts),
            "and the one over a tag, which is not in the text, is not there"
        );
        assert!(!rules.has_composite(&[(path("/a/b"), false), (path("/_ts"), false)]));
    }

    #[test]
    fn a_spatial_index_is_for_its_place_or_for_all_below() {
        let mut policy = paths(&[], &["/*"]);
        policy["spatialIndexes"] = json!([{"path": "/at/?"}, {"path": "/stops/[]/*"}]);
        let rules = rules(policy);
        for (text, expected) in [
            ("/at", true),
            ("/at/x", false),
            ("/stops", false),
            ("/stops/[]", true),
            ("/stops/[]/where/exactly", true),
            ("/other", false),
        ] {
            assert_eq!(rules.has_spatial(&path(text)), expected, "{text}");
        }
    }
}
