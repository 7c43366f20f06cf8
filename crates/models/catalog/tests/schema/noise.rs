//! Random schemas and items: nothing panics, and accepted schemas are shown as sent.

use crate::support::schemas_of;
use orrery_catalog::schema::Definition;
use proptest::prelude::*;
use serde_json::{Value, json};

/// A random schema, sometimes invalid.
fn schemas() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        any::<bool>().prop_map(Value::from),
        prop::sample::select(vec!["string", "integer", "object", "array", "null", "odd"])
            .prop_map(|name| json!({"type": name})),
        (0..5u64).prop_map(|n| json!({"minimum": n, "maxLength": n})),
        prop::sample::select(vec![
            "#",
            "#/$defs/a",
            "#/$defs/b",
            "#/properties/a",
            "#x",
            "other",
            "#/%24defs/a"
        ])
        .prop_map(|to| json!({"$ref": to})),
        prop::sample::select(vec!["^a", "b+", "(", "[a-c]{2}"])
            .prop_map(|pattern| json!({"pattern": pattern})),
        Just(json!({"required": ["a"]})),
        Just(json!({"enum": ["a", 1, null]})),
        Just(json!(7)),
    ];
    leaf.prop_recursive(4, 24, 3, |inner| {
        let list = prop::collection::vec(inner.clone(), 1..3);
        prop_oneof![
            list.clone().prop_map(|list| json!({"allOf": list})),
            list.clone().prop_map(|list| json!({"anyOf": list})),
            list.clone().prop_map(|list| json!({"oneOf": list, "unevaluatedProperties": false})),
            list.prop_map(|list| json!({"prefixItems": list, "items": false})),
            inner.clone().prop_map(|inner| json!({"not": inner})),
            inner.clone().prop_map(|inner| json!({"items": inner})),
            inner.clone().prop_map(|inner| json!({"additionalProperties": inner})),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| json!({"properties": {"a": a, "b": b}})),
            (inner.clone(), inner)
                .prop_map(|(a, b)| json!({"$defs": {"a": a}, "$ref": "#/$defs/a", "if": b})),
        ]
    })
}

fn items() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-3..9i64).prop_map(Value::from),
        prop::sample::select(vec!["a", "ab", "abc"]).prop_map(Value::from)
    ];
    leaf.prop_recursive(4, 24, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            (inner.clone(), inner).prop_map(|(a, b)| json!({"a": a, "b": b})),
        ]
    })
}

proptest! {
    #[test]
    fn any_schema_and_item_get_a_verdict(schema in schemas(), defs in schemas(), item in items()) {
        let whole = json!({"$defs": {"a": defs, "b": {"$anchor": "x"}}, "allOf": [schema]});
        let body = json!({"validation": "enforce", "schema": whole}).to_string();
        if let Ok(schemas) = schemas_of(&body) {
            prop_assert_eq!(Value::Object(schemas.definition().to_json()).to_string(), body);
            let said = schemas.check(&item.to_string());
            prop_assert_eq!(said.is_empty(), said.first.is_empty());
            prop_assert!(said.count >= said.first.len() as u64);
        }
    }

    #[test]
    fn any_text_is_accepted_or_refused(text in ".{0,200}") {
        let _ = Definition::parse(text.as_bytes());
        let _ = Definition::parse(format!(r#"{{"validation":"warn","schema":{text}}}"#).as_bytes());
    }
}
