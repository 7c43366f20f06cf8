//! Index values sort as values do, and decode as far as they were kept.

use std::cmp::Ordering;

use orrery_core::limits::INDEX_STRING_BYTES_MAX;
use orrery_keys::{Direction, IndexValue, KeyBuf, KeyReader};
use orrery_value::{Number, Value};
use proptest::prelude::*;

/// Strings around the truncation length, many with a common prefix.
fn text() -> impl Strategy<Value = String> {
    let tail = "[\\x00\\x01ab\u{ff}é\u{ffff}🚀]{0,4}";
    let filled = (INDEX_STRING_BYTES_MAX - 6..INDEX_STRING_BYTES_MAX + 2, tail)
        .prop_map(|(length, tail)| "x".repeat(length) + &tail);
    prop_oneof![filled, tail.prop_map(String::from), ".{0,8}".prop_map(String::from)]
}

fn value() -> impl Strategy<Value = Value> {
    let scalar = prop_oneof![
        Just(Value::Undefined),
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        any::<i64>().prop_map(|int| Value::Number(Number::Int(int))),
        (-3i64..3).prop_map(|int| Value::Number(Number::Int(int))),
        ((1i64 << 53) - 3..(1i64 << 53) + 3).prop_map(|int| Value::Number(Number::Int(int))),
        any::<f64>().prop_map(Value::from),
        text().prop_map(Value::String),
        text().prop_map(Value::String),
    ];
    let array = prop::collection::vec(scalar.clone(), 0..3).prop_map(Value::Array);
    let object = prop::collection::btree_map("[a-c]{1,2}", scalar.clone(), 0..3)
        .prop_map(|members| Value::Object(members.into_iter().collect()));
    prop_oneof![8 => scalar, 1 => array, 1 => object]
}

fn direction() -> impl Strategy<Value = Direction> {
    prop_oneof![Just(Direction::Ascending), Just(Direction::Descending)]
}

fn directed(order: Ordering, direction: Direction) -> Ordering {
    if direction == Direction::Ascending { order } else { order.reverse() }
}

fn key(value: &Value, direction: Direction) -> Vec<u8> {
    KeyBuf::new().index_value(value, direction).finish()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn index_values_sort_as_values_do_except_for_incomplete_ties(
        a in value(), b in value(), direction in direction(),
    ) {
        let (first, second) = (key(&a, direction), key(&b, direction));
        if first == second {
            let read = KeyReader::new(&first).index_value(direction).unwrap();
            prop_assert!(a == b || read == IndexValue::NotAll, "{:?} {:?}", a, b);
        } else {
            prop_assert_eq!(first.cmp(&second), directed(a.cmp_total(&b), direction), "{:?} {:?}", a, b);
        }
    }

    #[test]
    fn later_parts_decide_only_between_ties(
        (a, b) in (value(), value()), (after_a, after_b) in (any::<u64>(), any::<u64>()), direction in direction(),
    ) {
        let with = |value: &Value, after| KeyBuf::new().index_value(value, direction).u64(after).finish();
        let expected = key(&a, direction).cmp(&key(&b, direction)).then(after_a.cmp(&after_b));
        prop_assert_eq!(with(&a, after_a).cmp(&with(&b, after_b)), expected);
    }

    #[test]
    fn decoding_gives_the_value_or_marks_it_incomplete(a in value(), n: u64, direction in direction()) {
        let key = KeyBuf::new().index_value(&a, direction).u64(n).finish();
        let (mut reader, mut skipping) = (KeyReader::new(&key), KeyReader::new(&key));
        match reader.index_value(direction).unwrap() {
            IndexValue::Exactly(read) => prop_assert_eq!(read.to_json(), as_double(&a).to_json()),
            IndexValue::NotAll => prop_assert!(is_more(&a), "{:?}", a),
        }
        skipping.skip_index_value(direction).unwrap();
        prop_assert_eq!((reader.u64(), skipping.u64()), (Ok(n), Ok(n)));
    }

    #[test]
    fn an_open_string_is_a_prefix_of_its_matches(start in text(), text in text(), direction in direction()) {
        let open = KeyBuf::new().open_index_string(&start, direction).finish();
        let is_inside = key(&Value::from(text.as_str()), direction).starts_with(&open);
        if start.len() <= INDEX_STRING_BYTES_MAX {
            prop_assert_eq!(is_inside, text.starts_with(&start));
        } else {
            prop_assert!(is_inside || !text.starts_with(&start));
        }
    }

    #[test]
    fn every_string_matches_its_own_prefixes(text in text(), length in 0usize..140, direction in direction()) {
        let start: String = text.chars().take(length).collect();
        let open = KeyBuf::new().open_index_string(&start, direction).finish();
        prop_assert!(key(&Value::from(text), direction).starts_with(&open));
    }

    #[test]
    fn decodable_values_can_be_skipped(data: Vec<u8>, direction in direction()) {
        let (mut reader, mut skipping) = (KeyReader::new(&data), KeyReader::new(&data));
        if reader.index_value(direction).is_ok() {
            prop_assert_eq!(skipping.skip_index_value(direction), Ok(()));
            prop_assert_eq!(skipping.raw(), reader.raw());
        }
    }
}

/// The decoded form of a value that a key holds exactly.
fn as_double(value: &Value) -> Value {
    match value {
        Value::Number(number) => Value::from(number.as_f64()),
        other => other.clone(),
    }
}

/// Whether an index holds the value only in part.
fn is_more(value: &Value) -> bool {
    match value {
        Value::Number(number) => number.as_f64().abs() >= 9_007_199_254_740_992.0,
        Value::String(text) => text.len() > INDEX_STRING_BYTES_MAX,
        Value::Array(_) | Value::Object(_) => true,
        Value::Undefined | Value::Null | Value::Bool(_) => false,
    }
}
