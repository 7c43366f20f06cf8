//! Values to test with.

use orrery_value::{Number, Value};
use proptest::prelude::*;

/// Any value but undefined, up to four levels deep, with names that never repeat.
pub fn value() -> impl Strategy<Value = Value> {
    let scalar = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        any::<i64>().prop_map(|int| Value::Number(Number::Int(int))),
        (-40i64..300).prop_map(|int| Value::Number(Number::Int(int))),
        any::<f64>().prop_filter("finite", |float| float.is_finite()).prop_map(Value::from),
        text().prop_map(Value::String),
    ];
    scalar.prop_recursive(4, 40, 8, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..8).prop_map(Value::Array),
            prop::collection::btree_map(text(), inner, 0..8).prop_shuffle_members(),
        ]
    })
}

pub fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-c]{0,3}",
        ".{0,12}",
        "[\\x00-\\x24\\\\\"é\u{ffff}🚀]{0,9}",
        "[0-9a-f]{1,40}",
        "[ -~]{60,300}",
        Just("id".to_owned()),
        Just("type".to_owned()),
    ]
}

trait ShuffleMembers {
    fn prop_shuffle_members(self) -> BoxedStrategy<Value>;
}

impl<S> ShuffleMembers for S
where
    S: Strategy<Value = std::collections::BTreeMap<String, Value>> + 'static,
{
    fn prop_shuffle_members(self) -> BoxedStrategy<Value> {
        self.prop_map(|map| map.into_iter().collect::<Vec<_>>())
            .prop_shuffle()
            .prop_map(Value::Object)
            .boxed()
    }
}
