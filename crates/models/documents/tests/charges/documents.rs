//! The documents of the examples, and what writing one costs.

use crate::terms::{everything, terms};
use orrery_documents::charge::Charge;
use orrery_documents::index::IndexRules;
use serde_json::{Value, json};

/// A document of the folder `documents`.
pub fn document(name: &str) -> Value {
    let path = format!("{}/tests/charges/documents/{name}.json", env!("CARGO_MANIFEST_DIR"));
    serde_json::from_str(&std::fs::read_to_string(&path).expect(&path)).expect(&path)
}

/// An ordinary item of a dozen values, filled up to a kilobyte.
pub fn typical() -> Value {
    let mut item = document("typical");
    let missing = 1024 - bytes(&item);
    item["notes"] = json!("x".repeat(missing));
    item
}

/// The seed's workflow document. Its first task used 800 tokens for its result, which is about 3,200 characters of text.
pub fn workflow() -> Value {
    let mut workflow = document("workflow");
    workflow["tasks"][0]["result"]["text"] = json!("word".repeat(800));
    workflow
}

/// The item with some members changed.
pub fn with(item: &Value, changes: &Value) -> Value {
    let mut changed = item.clone();
    for (name, value) in changes.as_object().expect("changes are members") {
        changed[name] = value.clone();
    }
    changed
}

pub fn bytes(item: &Value) -> usize {
    item.to_string().len()
}

/// A create under the default policy.
pub fn create(item: &Value) -> Charge {
    create_under(&everything(), item)
}

pub fn create_under(rules: &IndexRules, item: &Value) -> Charge {
    Charge::create(bytes(item), terms(rules, item, 1).len() as u64)
}

/// A replace under the default policy, some time after.
pub fn replace(old: &Value, new: &Value) -> Charge {
    let (before, after) = (terms(&everything(), old, 1), terms(&everything(), new, 2));
    Charge::replace(bytes(new), bytes(old), before.symmetric_difference(&after).count() as u64)
}

pub fn delete(item: &Value) -> Charge {
    Charge::delete(bytes(item), terms(&everything(), item, 1).len() as u64)
}

pub fn read(item: &Value) -> Charge {
    Charge::point_read(bytes(item))
}
