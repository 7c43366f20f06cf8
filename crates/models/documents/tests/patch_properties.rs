//! Patches by another way: the same operations on a tree of values must give the same item.

use orrery_documents::patch::{PatchRequest, apply};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

/// What an operation does to a tree; `None` if it cannot be done.
fn on_tree(item: &mut Value, operation: &Value) -> Option<()> {
    let path = operation["path"].as_str()?;
    let value = operation.get("value").cloned().unwrap_or_default();
    match operation["op"].as_str()? {
        "add" => put(item, path, value, Put::Insert),
        "set" => put(item, path, value, Put::Overwrite),
        "replace" => {
            *item.pointer_mut(path)? = value;
            Some(())
        }
        "remove" => take(item, path).map(drop),
        "incr" => match item.pointer_mut(path) {
            Some(found) => {
                *found = json!(found.as_i64()? + value.as_i64()?);
                Some(())
            }
            None => match parent(item, path)?.0 {
                Value::Object(_) => put(item, path, value, Put::Insert),
                _ => None,
            },
        },
        "move" => {
            let from = operation["from"].as_str()?;
            item.pointer(from)?;
            if from == path {
                return Some(());
            }
            if path.starts_with(&format!("{from}/")) {
                return None;
            }
            let moved = take(item, from)?;
            put(item, path, moved, Put::Insert)
        }
        _ => None,
    }
}

#[derive(PartialEq)]
enum Put {
    Insert,
    Overwrite,
}

fn parent<'v>(item: &'v mut Value, path: &str) -> Option<(&'v mut Value, String)> {
    let (above, leaf) = path.rsplit_once('/')?;
    Some((item.pointer_mut(above)?, leaf.replace("~1", "/").replace("~0", "~")))
}

fn put(item: &mut Value, path: &str, value: Value, how: Put) -> Option<()> {
    let (above, leaf) = parent(item, path)?;
    match above {
        Value::Object(members) => drop(members.insert(leaf, value)),
        Value::Array(elements) if leaf == "-" => elements.push(value),
        Value::Array(elements) => {
            let index: usize = leaf.parse().ok()?;
            if how == Put::Overwrite {
                *elements.get_mut(index)? = value;
            } else if index <= elements.len() {
                elements.insert(index, value);
            } else {
                return None;
            }
        }
        _ => return None,
    }
    Some(())
}

fn take(item: &mut Value, path: &str) -> Option<Value> {
    let (above, leaf) = parent(item, path)?;
    match above {
        Value::Object(members) => members.shift_remove(&leaf),
        Value::Array(elements) => {
            let index: usize = leaf.parse().ok()?;
            (index < elements.len()).then(|| elements.remove(index))
        }
        _ => None,
    }
}

fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        (-50i64..50).prop_map(Value::from),
        any::<bool>().prop_map(Value::from),
        "[a-c\"\\\\{}\\[\\],: é]{0,6}".prop_map(Value::from),
        Just(Value::Null),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::Array),
            members(inner).prop_map(Value::Object),
        ]
    })
}

fn members(value: impl Strategy<Value = Value>) -> impl Strategy<Value = Map<String, Value>> {
    prop::collection::vec(("[a-c]|a/b|~", value), 0..4).prop_map(|pairs| pairs.into_iter().collect())
}

fn any_path() -> impl Strategy<Value = String> {
    prop::collection::vec("[a-c]|[0-3]|-|a~1b|~0", 1..4).prop_map(|parts| format!("/{}", parts.join("/")))
}

fn any_operation() -> impl Strategy<Value = Value> {
    prop_oneof![
        ("add|set|replace", any_path(), any_value())
            .prop_map(|(op, path, value)| json!({"op": op, "path": path, "value": value})),
        any_path().prop_map(|path| json!({"op": "remove", "path": path})),
        (any_path(), -9i64..9).prop_map(|(path, by)| json!({"op": "incr", "path": path, "value": by})),
        (any_path(), any_path()).prop_map(|(from, path)| json!({"op": "move", "from": from, "path": path})),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn text_is_changed_as_a_tree_would_be(
        item in members(any_value()),
        operations in prop::collection::vec(any_operation(), 1..5),
    ) {
        let item = Value::Object(item);
        let request = PatchRequest::parse(&json!(operations).to_string()).unwrap();
        for text in [item.to_string(), serde_json::to_string_pretty(&item).unwrap()] {
            let mut tree = item.clone();
            let on_tree = operations.iter().try_for_each(|operation| on_tree(&mut tree, operation));
            match (apply(&request.operations, &text), on_tree) {
                (Ok(text), Some(())) => {
                    let read: Value = serde_json::from_str(&text).unwrap();
                    // As text, so that the order of members counts.
                    prop_assert_eq!(read.to_string(), tree.to_string());
                }
                (Err(_), None) => {}
                (text, tree) => prop_assert!(false, "{:?} against {:?}", text, tree),
            }
        }
    }

    #[test]
    fn no_body_makes_parsing_panic(text in r#"[\[\]{}"a-z/~0-9:, -]{0,80}"#) {
        let _ = PatchRequest::parse(&text);
    }

    #[test]
    fn what_is_added_and_removed_leaves_the_text_as_it_was(item in members(any_value()), value in any_value()) {
        prop_assume!(!item.is_empty());
        let text = serde_json::to_string_pretty(&Value::Object(item)).unwrap();
        let patch = json!([{"op": "add", "path": "/new", "value": value}, {"op": "remove", "path": "/new"}]);
        let request = PatchRequest::parse(&patch.to_string()).unwrap();
        prop_assert_eq!(apply(&request.operations, &text).unwrap(), text);
    }
}
