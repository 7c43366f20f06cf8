//! No schema or item takes more time, stack or output than the limits allow.

use crate::support::schema;
use orrery_json_schema::limits;
use serde_json::{Value, json};
use std::time::Instant;

/// The stack of a server worker.
const STACK_BYTES: usize = 2 * 1024 * 1024;

/// A recursion that takes this many schema levels per item level.
fn slow_recursion(steps: usize) -> Value {
    let mut defs = serde_json::Map::new();
    for at in 0..steps {
        defs.insert(format!("s{at}"), json!({"$ref": format!("#/$defs/s{}", at + 1)}));
    }
    defs.insert(
        format!("s{steps}"),
        json!({"properties": {"n": {"type": "integer"}, "in": {"$ref": "#/$defs/s0"}}}),
    );
    json!({"$defs": defs, "$ref": "#/$defs/s0"})
}

fn nested(levels: usize, innermost: &str) -> String {
    let (open, close) = (r#"{"in":"#.repeat(levels - 1), "}".repeat(levels - 1));
    format!("{open}{innermost}{close}")
}

#[test]
fn the_deepest_item_under_the_longest_recursion_has_stack_enough() {
    let checks = || {
        for steps in [1, 8, 20, 55] {
            let schemas = schema(&slow_recursion(steps));
            for levels in [2, 10, 50, 127] {
                let good = schemas.check(&nested(levels, r#"{"n":1}"#));
                let bad = schemas.check(&nested(levels, r#"{"n":"x"}"#));
                assert!(!bad.is_empty(), "{steps} steps, {levels} levels");
                let is_too_deep = good.to_string().contains("nested too deep to be held against");
                assert!(good.is_empty() || is_too_deep, "{good}");
            }
        }
    };
    std::thread::Builder::new().stack_size(STACK_BYTES).spawn(checks).unwrap().join().unwrap();
}

#[test]
fn violations_are_located_in_items_of_moderate_depth() {
    let schemas = schema(&slow_recursion(1));
    let said = schemas.check(&nested(20, r#"{"n":"x"}"#));
    assert_eq!(said.first[0].pointer, format!("{}/n", "/in".repeat(19)));
}

/// An expression: ten kinds of nodes, against which a value is checked in turn.
fn expression() -> Value {
    let kind = |name: usize| {
        json!({"type": "object", "required": ["op"], "properties": {
            "op": {"enum": [format!("op{name}")]}, "l": {"$ref": "#/$defs/e"}, "r": {"$ref": "#/$defs/e"}}})
    };
    let kinds: Vec<Value> = (0..10).map(kind).chain([json!({"type": "integer"})]).collect();
    json!({"$defs": {"e": {"anyOf": kinds}}, "properties": {"e": {"$ref": "#/$defs/e"}}})
}

/// A chain of nodes, optionally with a violation at its end.
fn chain(levels: usize, end: &str) -> String {
    format!(r#"{{"id":"a","e":{}{end}{}}}"#, r#"{"op":"op9","r":1,"l":"#.repeat(levels), "}".repeat(levels))
}

#[test]
fn a_recursion_with_fan_out_gets_a_verdict_without_violations() {
    let schemas = schema(&expression());
    assert!(schemas.check(&chain(40, "1")).is_empty());
    let said = schemas.check(&chain(40, "null"));
    assert_eq!(said.to_string(), "the item: does not match its schema, and is too large to say where");
    let said = schemas.check(&chain(2, "null"));
    assert_eq!((said.count, said.first[0].pointer.as_str()), (1, "/e"), "{said}");
}

#[test]
fn a_large_item_reports_the_first_violation() {
    let schemas = schema(&json!({"properties": {"list": {"items": {"type": "integer"}}}}));
    let list = |last: &str| format!(r#"{{"id":"a","list":[{}{last}]}}"#, "1,".repeat(200_000));
    assert!(schemas.check(&list("1")).is_empty());
    let said = schemas.check(&list("null,null"));
    assert_eq!(
        (said.count, said.to_string()),
        (1, r#"/list/200000: null is not of type "integer""#.to_owned())
    );
}

#[test]
fn messages_have_a_maximum_length() {
    let names: Vec<String> = (0..2_000).map(|at| format!("required-{at}")).collect();
    let many = schema(&json!({"required": names})).check(r#"{"id":"a"}"#);
    assert_eq!((many.first.len(), many.count), (limits::VIOLATIONS_SHOWN_MAX, 2_000));
    let values: Vec<String> = (0..20_000).map(|at| at.to_string()).collect();
    let long = schema(&json!({"properties": {"v": {"enum": values}}})).check(r#"{"id":"a","v":"x"}"#);
    assert!(long.to_string().len() < 1_000);
}

#[test]
fn an_item_that_cannot_be_read_as_a_schema_reads_it_is_wrong() {
    let schemas = schema(&json!(true));
    let said = schemas.check(&nested(128, "{}"));
    assert!(said.to_string().starts_with("the item: it cannot be held against a schema"), "{said}");
    assert!(schemas.check(&nested(126, "{}")).is_empty());
}

/// Prints the cost of checking a 1 KB item; it depends on the build, so the asserted bound is generous.
#[test]
fn the_cost_of_a_check() {
    const ROUNDS: u32 = 2_000;
    let members: Vec<String> = (0..20).map(|at| format!("member{at:02}")).collect();
    let text = |at: usize| json!(format!("a text of some length, number {at}"));
    let item: serde_json::Map<String, Value> =
        members.iter().enumerate().map(|(at, name)| (name.clone(), text(at))).collect();
    let properties: serde_json::Map<String, Value> = members
        .iter()
        .map(|name| (name.clone(), json!({"type": "string", "minLength": 1, "maxLength": 100})))
        .collect();
    let schemas = schema(&json!({"type": "object", "required": members, "properties": properties}));
    let item = Value::Object(item).to_string();
    assert!(schemas.check(&item).is_empty());
    let began = Instant::now();
    (0..ROUNDS).for_each(|_| assert!(schemas.check(&item).is_empty()));
    let each = began.elapsed() / ROUNDS;
    println!("{} bytes, {} members: {} ns", item.len(), members.len(), each.as_nanos());
    assert!(each.as_millis() < 5, "{each:?} for {} bytes", item.len());
}
