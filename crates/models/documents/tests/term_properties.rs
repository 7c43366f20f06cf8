//! Terms of random items under random policies are those that the policy's words ask for, read as they stand.

use orrery_catalog::definition::ContainerDefinition;
use orrery_core::Timestamp;
use orrery_documents::index::{IndexRules, Terms, composite_number, path_number, terms};
use orrery_keys::{Direction, KeyBuf};
use orrery_query::access::{Path, PathDisplay, Step};
use orrery_value::{Value, raw};
use proptest::prelude::*;
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};

const WRITTEN: Timestamp = Timestamp::from_seconds(1_700_000_000);

/// What a policy says: of each place it names, with `/*` or (`true`) with `/?`.
type Says = BTreeMap<(Path, bool), bool>;
type Composites = Vec<Vec<(Path, bool)>>;

fn name() -> impl Strategy<Value = String> {
    prop_oneof!["[abc]", "[abc]", "é\"x", "a b"].prop_map(String::from)
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![3 => name().prop_map(Step::Member), 1 => Just(Step::Each)]
}

/// From an item on: an item has members, and no elements.
fn path() -> impl Strategy<Value = Path> {
    (name(), prop::collection::vec(step(), 0..4))
        .prop_map(|(first, rest)| [Step::Member(first)].into_iter().chain(rest).collect())
}

fn says() -> impl Strategy<Value = Says> {
    let root = any::<bool>().prop_map(|says| ((Path::from([]), false), says));
    let named = prop::collection::vec(((path(), any::<bool>()), any::<bool>()), 0..8);
    (root, named).prop_map(|(root, named)| named.into_iter().chain([root]).collect())
}

fn composites() -> impl Strategy<Value = Composites> {
    let property = prop::collection::vec(name(), 1..3)
        .prop_map(|names| names.into_iter().map(Step::Member).collect::<Path>());
    let parts = prop::collection::btree_map(property, any::<bool>(), 2..4)
        .prop_map(|parts| parts.into_iter().collect::<Vec<_>>());
    prop::collection::btree_set(parts, 0..3).prop_map(|composites| composites.into_iter().collect())
}

fn scalar() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        (-2i64..3).prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "[a\\x00\\n\"é🚀]{0,3}".prop_map(Value::from),
        (126usize..131).prop_map(|length| Value::from("é".repeat(length / 2) + &"x".repeat(length % 2))),
    ]
}

fn members(of: impl Strategy<Value = Value>) -> impl Strategy<Value = Value> {
    prop::collection::btree_map(name(), of, 0..5)
        .prop_map(|members| Value::Object(members.into_iter().collect()))
}

fn item() -> impl Strategy<Value = Value> {
    let inside = scalar().prop_recursive(4, 40, 5, |inside| {
        prop_oneof![members(inside.clone()), prop::collection::vec(inside, 0..4).prop_map(Value::Array)]
    });
    members(inside)
}

fn rules(says: &Says, composites: &Composites) -> IndexRules {
    let list = |wanted: bool| {
        let places = says.iter().filter(|(_, says)| **says == wanted);
        let shown = places.map(|((path, is_value), _)| {
            format!("{}/{}", PathDisplay(path), if *is_value { '?' } else { '*' })
        });
        shown.map(|path| json!({"path": path})).collect::<Vec<_>>()
    };
    let part = |(path, descends): &(Path, bool)| json!({"path": PathDisplay(path).to_string(), "order": if *descends { "descending" } else { "ascending" }});
    let composites: Vec<Vec<_>> = composites.iter().map(|parts| parts.iter().map(part).collect()).collect();
    let body = json!({"id": "c", "partitionKey": {"paths": ["/pk"]}, "indexingPolicy": {
        "includedPaths": list(true), "excludedPaths": list(false), "compositeIndexes": composites,
    }});
    let body = body.as_object().expect("it was written as an object").clone();
    IndexRules::new(ContainerDefinition::parse(body).expect("the policy is valid").indexing())
}

/// The word of the most precise path that speaks of a place.
fn includes(says: &Says, place: &[Step]) -> bool {
    let speaks =
        |(path, is_value): &(Path, bool)| if *is_value { **path == *place } else { place.starts_with(path) };
    let speaking = says.iter().filter(|(named, _)| speaks(named));
    let (_, word) =
        speaking.max_by_key(|((path, is_value), _)| (path.len(), *is_value)).expect("the root speaks");
    *word
}

/// Every place in a value with what is there.
fn places(value: &Value) -> Vec<(Path, &Value)> {
    let inside = |step: Step, value| {
        let with =
            move |(path, value): (Path, _)| ([std::slice::from_ref(&step), &*path].concat().into(), value);
        [vec![(Path::from([]), value)], places(value)].concat().into_iter().map(with)
    };
    match value {
        Value::Object(members) => {
            members.iter().flat_map(|(name, value)| inside(Step::Member(name.clone()), value)).collect()
        }
        Value::Array(elements) => elements.iter().flat_map(|value| inside(Step::Each, value)).collect(),
        _ => Vec::new(),
    }
}

fn path_term(path: &[Step], value: &Value) -> Vec<u8> {
    KeyBuf::new().u64(path_number(path)).index_value(value, Direction::Ascending).finish()
}

fn composite_term(parts: &[(Path, bool)], item: &Value) -> Option<Vec<u8>> {
    let at = |path: &Path| {
        path.iter().fold(item, |value, step| match step {
            Step::Member(name) => value.member(name),
            Step::Each => unreachable!("a composite index passes no array"),
        })
    };
    let key = parts.iter().fold(KeyBuf::new().u64(composite_number(parts)), |key, (path, descends)| {
        key.index_value(at(path), if *descends { Direction::Descending } else { Direction::Ascending })
    });
    parts.iter().any(|(path, _)| !at(path).is_undefined()).then(|| key.finish())
}

/// The terms, by going over every place and asking of each.
fn expected(says: &Says, composites: &Composites, item: &Value) -> BTreeSet<Vec<u8>> {
    let is_mark = |value: &Value| matches!(value, Value::Array(_) | Value::Object(_));
    let found = places(item)
        .into_iter()
        .filter(|(path, value)| includes(says, path) && !(is_mark(value) && path.contains(&Step::Each)));
    let seconds = Value::from(WRITTEN.seconds() as i64);
    let time = path_term(&[Step::Member("_ts".into())], &seconds);
    let composites = composites.iter().filter_map(|parts| composite_term(parts, item));
    found.map(|(path, value)| path_term(&path, value)).chain(composites).chain([time]).collect()
}

fn listed(terms: &Terms) -> Vec<Vec<u8>> {
    terms.iter().map(<[u8]>::to_vec).collect()
}

/// The same item in other words: space between all parts, and every character of a string escaped.
fn spelled_out(value: &Value, out: &mut String) {
    let string = |text: &str, out: &mut String| {
        let units = text.encode_utf16().map(|unit| format!("\\u{unit:04x}"));
        *out += &format!("\n\"{}\"\t", units.collect::<String>());
    };
    match value {
        Value::String(text) => string(text, out),
        Value::Array(elements) => {
            out.push_str(" [ ");
            for (at, element) in elements.iter().enumerate() {
                out.push_str(if at > 0 { " , " } else { "" });
                spelled_out(element, out);
            }
            out.push_str(" ] ");
        }
        Value::Object(members) => {
            out.push_str(" { ");
            for (at, (name, value)) in members.iter().enumerate() {
                out.push_str(if at > 0 { " , " } else { "" });
                string(name, out);
                out.push_str(" : ");
                spelled_out(value, out);
            }
            out.push_str(" } ");
        }
        scalar => *out += &format!(" {} ", scalar.to_json()),
    }
}

/// An item that has a value at a path, and nothing else.
fn with_value_at(path: &[Step], value: &str) -> String {
    path.iter().rev().fold(value.to_owned(), |inside, step| match step {
        Step::Each => format!("[{inside}]"),
        Step::Member(name) => {
            let mut object = b"{".to_vec();
            raw::escape_into(name, &mut object);
            format!("{}:{inside}}}", String::from_utf8(object).expect("JSON is UTF-8"))
        }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn terms_are_what_the_policy_asks_for(item in item(), says in says(), composites in composites()) {
        let rules = rules(&says, &composites);
        let found = terms(&rules, &item.to_json(), WRITTEN);
        let expected: Vec<Vec<u8>> = expected(&says, &composites, &item).into_iter().collect();
        prop_assert_eq!(listed(&found), expected, "{} {:?}", item.to_json(), says);
        prop_assert_eq!(found.len(), found.iter().count());
    }

    #[test]
    fn the_spelling_of_an_item_does_not_matter(item in item(), says in says(), composites in composites()) {
        let rules = rules(&says, &composites);
        let mut other = String::new();
        spelled_out(&item, &mut other);
        prop_assert_eq!(listed(&terms(&rules, &item.to_json(), WRITTEN)), listed(&terms(&rules, &other, WRITTEN)));
    }

    #[test]
    fn a_path_is_included_if_and_only_if_a_value_there_has_a_term(path in path(), says in says()) {
        let rules = rules(&says, &Vec::new());
        let found = terms(&rules, &with_value_at(&path, "7"), WRITTEN);
        let is_found = listed(&found).contains(&path_term(&path, &Value::from(7i64)));
        prop_assert_eq!(rules.includes(&path), is_found);
        prop_assert_eq!(rules.includes(&path), includes(&says, &path));
    }

    #[test]
    fn tallies_count_each_path_without_an_array_once(item in item(), says in says(), composites in composites()) {
        let rules = rules(&says, &composites);
        let numbers: Vec<u64> = terms(&rules, &item.to_json(), WRITTEN).path_numbers().collect();
        let places = places(&item).into_iter().map(|(path, _)| path);
        let counted = places.filter(|path| includes(&says, path) && !path.contains(&Step::Each));
        let composites = composites.iter().filter(|parts| composite_term(parts, &item).is_some());
        let expected: BTreeSet<u64> = counted
            .map(|path| path_number(&path))
            .chain(composites.map(|parts| composite_number(parts)))
            .chain([path_number(&[Step::Member("_ts".into())])])
            .collect();
        prop_assert_eq!(numbers, expected.into_iter().collect::<Vec<_>>());
    }

    #[test]
    fn a_changed_value_changes_its_own_terms_only(item in item(), name in name(), old in scalar(), new in scalar(), says in says()) {
        let rules = rules(&says, &Vec::new());
        let Value::Object(members) = &item else { unreachable!("an item is an object") };
        let with = |value: &Value| {
            let others = members.iter().filter(|(known, _)| *known != name).cloned();
            let item = Value::Object(others.chain([(name.clone(), value.clone())]).collect());
            terms(&rules, &item.to_json(), WRITTEN).iter().map(<[u8]>::to_vec).collect::<BTreeSet<_>>()
        };
        let path = [Step::Member(name.clone())];
        let (before, after) = (path_term(&path, &old), path_term(&path, &new));
        let changes: BTreeSet<_> = with(&old).symmetric_difference(&with(&new)).cloned().collect();
        let is_seen = includes(&says, &path) && before != after;
        prop_assert_eq!(changes, if is_seen { BTreeSet::from([before, after]) } else { BTreeSet::new() });
    }

    #[test]
    fn no_text_breaks_it(text in r#"[{}\[\]":,\\u0-9a-f é]{0,60}"#, item in item(), cut in 0usize..200, says in says()) {
        let rules = rules(&says, &Vec::new());
        let _ = terms(&rules, &text, WRITTEN);
        let item = item.to_json();
        let _ = terms(&rules, &item.chars().take(cut).collect::<String>(), WRITTEN);
    }
}

#[test]
fn the_deepest_item_is_walked_and_a_deeper_one_does_no_harm() {
    let rules = rules(&Says::from([((Path::from([]), false), true)]), &Vec::new());
    let path = vec![Step::Member("a".into()); 128];
    let found = terms(&rules, &with_value_at(&path, "7"), WRITTEN);
    assert!(listed(&found).contains(&path_term(&path, &Value::from(7i64))), "at the limit of nesting");
    let deeper = vec![Step::Each; 100_000];
    terms(&rules, &with_value_at(&[&path[..1], &deeper].concat(), "7"), WRITTEN);
}
