//! Indexing policies as advice would have them: some paths left out, a composite index added.
//!
//! A policy goes in as the JSON that its container shows and comes out as JSON to paste, with everything else as it
//! was. What comes out is a policy that the container accepts.

use orrery_catalog::definition::{DefinitionError, IndexPath, IndexReach, IndexingPolicy};
use orrery_catalog::indexing::{IndexRules, steps};
use orrery_query::access::{Path, PathDisplay, Step};
use serde_json::{Map, Value, json};

/// An indexing policy as its container shows it.
pub type PolicyJson = Map<String, Value>;

/// The policy with these paths left out of the index.
pub fn excluding(policy: &PolicyJson, paths: &[IndexPath]) -> Result<PolicyJson, DefinitionError> {
    let mut changed = policy.clone();
    let is_left_out =
        |entry: &Value| path_in(entry).is_some_and(|other| paths.iter().any(|path| covers(path, &other)));
    edit(&mut changed, "includedPaths", |list| list.retain(|entry| !is_left_out(entry)));
    for path in paths {
        // Where only a path that is gone now included it, nothing has to exclude it.
        if is_indexed(&changed, path)? {
            edit(&mut changed, "excludedPaths", |list| list.push(json!({"path": path.to_string()})));
        }
    }
    checked(changed)
}

/// The policy with one more composite index: its paths, and whether each descends.
pub fn with_composite(policy: &PolicyJson, parts: &[(Path, bool)]) -> Result<PolicyJson, DefinitionError> {
    let part = |(path, descends): &(Path, bool)| {
        let order = if *descends { "descending" } else { "ascending" };
        json!({"path": PathDisplay(path).to_string(), "order": order})
    };
    let mut changed = policy.clone();
    edit(&mut changed, "compositeIndexes", |list| list.push(parts.iter().map(part).collect()));
    checked(changed)
}

/// The path that [`PathDisplay`] wrote; `None` if it is none.
pub fn read_path(text: &str) -> Option<Path> {
    IndexPath::parse(&format!("{text}/?")).ok().map(|path| steps(&path))
}

/// Whether all that one path speaks of is left out with the other. The root stays: a policy has to name it.
fn covers(path: &IndexPath, other: &IndexPath) -> bool {
    !other.is_root()
        && match path.reach() {
            IndexReach::Value => path.place() == other.place(),
            IndexReach::Subtree => other.steps().starts_with(path.steps()),
        }
}

fn path_in(entry: &Value) -> Option<IndexPath> {
    IndexPath::parse(entry.get("path")?.as_str()?).ok()
}

/// Whether anything that the path speaks of is indexed; no path below it is named any more.
fn is_indexed(policy: &PolicyJson, path: &IndexPath) -> Result<bool, DefinitionError> {
    let rules = IndexRules::new(&IndexingPolicy::read(Value::Object(policy.clone()))?);
    let here = steps(path);
    let below = [&here[..], &[Step::Member(String::new())]].concat();
    Ok(rules.includes(&here) || (path.reach() == IndexReach::Subtree && rules.includes(&below)))
}

/// Changes one of a policy's lists; it is made if it is not there.
fn edit(policy: &mut PolicyJson, name: &str, change: impl FnOnce(&mut Vec<Value>)) {
    let place = policy.entry(name).or_insert(Value::Null);
    let mut list = if let Value::Array(list) = place.take() { list } else { Vec::new() };
    change(&mut list);
    *place = Value::Array(list);
}

fn checked(policy: PolicyJson) -> Result<PolicyJson, DefinitionError> {
    IndexingPolicy::read(Value::Object(policy.clone())).map(|_| policy)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn policy(included: &[&str], excluded: &[&str]) -> PolicyJson {
        let paths = |list: &[&str]| list.iter().map(|path| json!({"path": path})).collect::<Value>();
        let policy = json!({
            "indexingMode": "consistent", "automatic": true,
            "includedPaths": paths(included), "excludedPaths": paths(excluded),
        });
        policy.as_object().unwrap().clone()
    }

    fn rules(policy: &PolicyJson) -> IndexRules {
        IndexRules::new(&IndexingPolicy::read(policy.clone().into()).unwrap())
    }

    fn check(before: PolicyJson, without: &[&str], after: PolicyJson) {
        let paths: Vec<IndexPath> = without.iter().map(|path| IndexPath::parse(path).unwrap()).collect();
        assert_eq!(excluding(&before, &paths).unwrap(), after, "{without:?}");
    }

    #[test]
    fn a_path_is_excluded_where_the_root_is_included() {
        let etag = "/\"_etag\"/?";
        check(policy(&["/*"], &[etag]), &["/a/?", "/b/*"], policy(&["/*"], &[etag, "/a/?", "/b/*"]));
        check(policy(&["/*"], &["/b/*"]), &["/b/*"], policy(&["/*"], &["/b/*"]));
    }

    #[test]
    fn a_path_is_not_included_any_more_where_it_was_by_name() {
        check(policy(&["/a/?", "/b/?"], &["/*"]), &["/a/?"], policy(&["/b/?"], &["/*"]));
        check(policy(&["/*", "/a/b/?", "/a/*"], &[]), &["/a/*"], policy(&["/*"], &["/a/*"]));
        check(policy(&["/a/*"], &["/*"]), &["/a/b/?"], policy(&["/a/*"], &["/*", "/a/b/?"]));
    }

    #[test]
    fn a_composite_index_comes_after_those_that_are_there() {
        let parts = [(read_path("/a/b").unwrap(), false), (read_path("/\"c d\"").unwrap(), true)];
        let added = with_composite(&policy(&["/*"], &[]), &parts).unwrap();
        let expected = json!([[
            {"path": "/a/b", "order": "ascending"}, {"path": "/\"c d\"", "order": "descending"},
        ]]);
        assert_eq!(added["compositeIndexes"], expected);
        assert!(with_composite(&added, &parts).is_err(), "no policy has one twice");
        let turned: Vec<_> = parts.iter().cloned().map(|(path, descends)| (path, !descends)).collect();
        assert_eq!(with_composite(&added, &turned).unwrap()["compositeIndexes"][0], expected[0]);
    }

    fn path() -> impl Strategy<Value = Path> {
        let step = prop_oneof![
            4 => "[a-c]".prop_map(Step::Member),
            1 => Just(Step::Each),
        ];
        (Just(Step::Member("a".into())), prop::collection::vec(step, 0..3))
            .prop_map(|(first, rest)| [first].into_iter().chain(rest).collect())
    }

    fn index_path() -> impl Strategy<Value = String> {
        (path(), prop::bool::ANY)
            .prop_map(|(path, deep)| PathDisplay(&path).to_string() + if deep { "/*" } else { "/?" })
    }

    proptest! {
        #[test]
        fn what_is_left_out_is_not_indexed_and_the_rest_is_as_before(
            named in prop::collection::btree_map(index_path(), prop::bool::ANY, 0..5),
            root in prop::bool::ANY,
            without in index_path(),
            asked in path(),
        ) {
            let list = |wanted: bool| named.iter().filter(move |(_, included)| **included == wanted);
            let mut included: Vec<&str> = list(true).map(|(path, _)| path.as_str()).collect();
            let mut excluded: Vec<&str> = list(false).map(|(path, _)| path.as_str()).collect();
            if root { included.push("/*") } else { excluded.push("/*") }
            let before = policy(&included, &excluded);
            let without = IndexPath::parse(&without).unwrap();
            let after = excluding(&before, std::slice::from_ref(&without)).unwrap();
            let is_out = match without.reach() {
                IndexReach::Value => asked == steps(&without),
                IndexReach::Subtree => asked.starts_with(&steps(&without)),
            };
            prop_assert_eq!(rules(&after).includes(&asked), !is_out && rules(&before).includes(&asked));
        }

        #[test]
        fn a_spelled_path_is_read_again(names in prop::collection::vec("\\PC{1,8}", 1..4)) {
            let path: Path = names.into_iter().flat_map(|name| [Step::Member(name), Step::Each]).collect();
            prop_assert_eq!(read_path(&PathDisplay(&path).to_string()), Some(path));
        }
    }
}
