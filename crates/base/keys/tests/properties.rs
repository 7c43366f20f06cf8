//! Keys sort as their parts do.

use std::cmp::Ordering;

use orrery_keys::{Direction, Epk, Hashing, KeyBuf, KeyReader, epk, prefix_end, prefix_range};
use orrery_value::{Number, Value};
use proptest::prelude::*;

fn value() -> impl Strategy<Value = Value> {
    let scalar = prop_oneof![
        Just(Value::Undefined),
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        any::<i64>().prop_map(|int| Value::Number(Number::Int(int))),
        (-3i64..3).prop_map(|int| Value::Number(Number::Int(int))),
        any::<f64>().prop_map(Value::from),
        text().prop_map(Value::String),
    ];
    scalar.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::Array),
            prop::collection::btree_map(text(), inner, 0..4)
                .prop_map(|map| map.into_iter().collect::<Vec<_>>())
                .prop_shuffle()
                .prop_map(Value::Object),
        ]
    })
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof!["[\\x00\\x01a\u{ff}é\u{ffff}🚀]{0,4}", ".{0,8}"]
}

/// Short, with many zeros and FFs, which are the critical bytes.
fn bytes() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(prop_oneof![Just(0u8), Just(1), Just(0xff), any::<u8>()], 0..5)
}

fn direction() -> impl Strategy<Value = Direction> {
    prop_oneof![Just(Direction::Ascending), Just(Direction::Descending)]
}

fn directed(order: Ordering, direction: Direction) -> Ordering {
    if direction == Direction::Ascending { order } else { order.reverse() }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn keys_sort_as_values_do(a in value(), b in value(), direction in direction()) {
        let key = |value: &Value| KeyBuf::new().value(value, direction).finish();
        prop_assert_eq!(key(&a).cmp(&key(&b)), directed(a.cmp_total(&b), direction), "{:?} {:?}", a, b);
    }

    #[test]
    fn decoding_undoes_encoding(a in value(), part in bytes(), n: u64, direction in direction()) {
        let key = KeyBuf::new().bytes(&part).value(&a, direction).u64(n).finish();
        let mut reader = KeyReader::new(&key);
        prop_assert_eq!(reader.bytes().unwrap().into_owned(), part);
        prop_assert_eq!(reader.value(direction).unwrap(), a);
        prop_assert_eq!(reader.u64().unwrap(), n);
        prop_assert!(reader.finish().is_ok());
    }

    #[test]
    fn parts_sort_as_tuples(
        a in (bytes(), value(), any::<u32>(), value(), bytes()),
        b in (bytes(), value(), any::<u32>(), value(), bytes()),
        share in 0usize..4,
        (first, second) in (direction(), direction()),
    ) {
        let mut b = b;
        // Tuples that differ early do not exercise their later parts.
        if share > 0 { b.0 = a.0.clone(); }
        if share > 1 { b.1 = a.1.clone(); }
        if share > 2 { b.2 = a.2; }
        let key = |t: &(Vec<u8>, Value, u32, Value, Vec<u8>)| {
            KeyBuf::new().bytes(&t.0).value(&t.1, first).u32(t.2).value(&t.3, second).raw(&t.4).finish()
        };
        let expected = a.0.cmp(&b.0)
            .then(directed(a.1.cmp_total(&b.1), first))
            .then(a.2.cmp(&b.2))
            .then(directed(a.3.cmp_total(&b.3), second))
            .then(a.4.cmp(&b.4));
        prop_assert_eq!(key(&a).cmp(&key(&b)), expected);
    }

    #[test]
    fn an_open_part_bounds_what_starts_with_it(start in bytes(), part in bytes()) {
        let open = KeyBuf::new().u8(3).open_bytes(&start).finish();
        let key = KeyBuf::new().u8(3).bytes(&part).finish();
        prop_assert_eq!(key.starts_with(&open), part.starts_with(&start));
        let in_range = key >= open && prefix_end(&open).is_none_or(|end| key < end);
        prop_assert_eq!(in_range, part.starts_with(&start));
    }

    #[test]
    fn the_end_of_a_prefix_is_beyond_it_and_the_least(prefix in bytes(), key in bytes()) {
        if let Some(end) = prefix_end(&prefix) {
            prop_assert_eq!(key.starts_with(&prefix), key >= prefix && key < end);
        } else {
            prop_assert!(prefix.iter().all(|byte| *byte == 0xff));
        }
    }

    #[test]
    fn an_epk_is_even_hex_inside_the_key_space(components in prop::collection::vec(value(), 1..4)) {
        for hashing in [Hashing::HashV1, Hashing::HashV2, Hashing::MultiHash] {
            let components = if hashing == Hashing::MultiHash { &components[..] } else { &components[..1] };
            let key = epk(hashing, components);
            let hex = key.to_string();
            prop_assert!(hex.len().is_multiple_of(2) && hex.bytes().all(|c| matches!(c, b'0'..=b'9' | b'A'..=b'F')));
            prop_assert_eq!(Epk::parse(&hex).unwrap(), key.clone());
            prop_assert!(Epk::start() < key && key < Epk::end());
        }
        let (min, max) = prefix_range(&epk(Hashing::MultiHash, &components[..1]));
        let whole = epk(Hashing::MultiHash, &components);
        prop_assert!(min <= whole && whole < max);
    }

    #[test]
    fn arbitrary_bytes_break_no_reader(data: Vec<u8>) {
        orrery_keys::fuzz::key_reader(&data);
        orrery_keys::fuzz::epk_parse(&data);
    }
}
