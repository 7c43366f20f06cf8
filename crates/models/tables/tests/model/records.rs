//! Records: every value comes back as it was written, limits hold, and the first version is still read.

use crate::world::{entity, key};
use bytes::Bytes;
use orrery_kv::Error;
use orrery_tables::{
    DateTime, EntityBuilder, EntityRow, Guid, InvalidEntity, Ticks, Value, ValueRef, etag, limits,
};
use proptest::prelude::*;

fn values() -> impl Strategy<Value = Value> {
    let date_time = (0..=Ticks::MAX.count()).prop_map(Ticks::from_count);
    prop_oneof![
        ".{0,12}".prop_map(Value::String),
        any::<bool>().prop_map(Value::Boolean),
        any::<i32>().prop_map(Value::Int32),
        any::<i64>().prop_map(Value::Int64),
        any::<f64>().prop_map(Value::Double),
        date_time
            .prop_filter("not too early", |at| at.year() >= 1601)
            .prop_map(|at| Value::DateTime(at.into())),
        Just(Value::DateTime(DateTime::parse("2024-05-01T12:00:00.5+02:00").unwrap())),
        any::<u128>().prop_map(|bits| Value::Guid(Guid::from_u128(bits))),
        prop::collection::vec(any::<u8>(), 0..12).prop_map(|bytes| Value::Binary(bytes.into())),
    ]
}

/// NaN too, which does not equal itself.
fn is_same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Double(one), Value::Double(other)) => one.to_bits() == other.to_bits(),
        _ => one == other,
    }
}

proptest! {
    #[test]
    fn what_is_written_is_read_back(
        properties in prop::collection::btree_map("[a-zA-Zé_][a-z0-9_]{0,8}", values(), 0..12),
        keys in ("[^\\x00-\\x1f\\x7f-\\x9f/\\\\#?]{0,6}", "[a-z\u{e000}\u{10000}]{0,3}"),
        at in 0..=Ticks::MAX.count(),
    ) {
        let properties: Vec<(&str, Value)> =
            properties.iter().map(|(name, value)| (name.as_str(), value.clone())).collect();
        let row = entity(&keys.0, &keys.1, &properties).as_row(7, Ticks::from_count(at));
        let read = EntityRow::read(row.stored().0.clone(), row.stored().1.clone()).unwrap();
        prop_assert_eq!(&read.partition_key(), &keys.0);
        prop_assert_eq!(&read.row_key(), &keys.1);
        prop_assert_eq!(read.key(), key(&keys.0, &keys.1));
        prop_assert_eq!(read.timestamp().count(), at);
        prop_assert_eq!(read.etag(), etag(read.timestamp()));
        prop_assert_eq!(read.properties().len(), properties.len());
        for ((name, value), (expected_name, expected)) in read.properties().zip(&properties) {
            prop_assert_eq!(&name, expected_name);
            prop_assert!(is_same(&value.to_value(), expected), "{:?} {:?}", value, expected);
            prop_assert!(read.property(name).is_some());
        }
    }

    #[test]
    fn damage_is_an_error_or_another_entity_and_never_a_panic(at in 0usize..1000, byte: u8, cut: bool) {
        let row = everything();
        let mut record = row.stored().1.to_vec();
        let at = at % record.len();
        record[at] = byte;
        if cut {
            record.truncate(at);
        }
        if let Ok(read) = EntityRow::read(row.stored().0.clone(), record.into()) {
            let _ = (read.properties().count(), read.timestamp().to_string());
        }
    }
}

/// One of each type.
fn everything() -> EntityRow {
    let entity = entity(
        "pä",
        "𝄞",
        &[
            ("Text", Value::String("it's é".to_owned())),
            ("Yes", Value::Boolean(true)),
            ("Small", Value::Int32(-5)),
            ("Large", Value::Int64(1 << 40)),
            ("Half", Value::Double(0.5)),
            ("When", Value::DateTime(DateTime::parse("2024-05-01T12:00:00.123Z").unwrap())),
            ("Id", Value::Guid(Guid::parse("c9da6455-213d-42c9-9a79-3e9149a57833").unwrap())),
            ("Blob", Value::Binary(Bytes::from_static(&[0x0a, 0xff]))),
        ],
    );
    entity.as_row(7, Ticks::parse("2026-11-15T00:59:26.3287118Z").unwrap())
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn unhex(text: &str) -> Bytes {
    let digits: Vec<u8> = text.trim().chars().map(|digit| digit.to_digit(16).unwrap() as u8).collect();
    digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect()
}

#[test]
fn the_first_version_is_still_read_and_written() {
    let fixture = include_str!("../fixtures/entity-v1.hex");
    let (key, record) = fixture.trim().split_once('\n').unwrap();
    let read = EntityRow::read(unhex(key), unhex(record)).unwrap();
    assert_eq!(read, everything());
    assert_eq!(hex(everything().stored().0), key);
    assert_eq!(hex(everything().stored().1), record.trim());
    assert_eq!(read.etag(), "W/\"datetime'2026-11-15T00%3A59%3A26.3287118Z'\"");
    assert_eq!(read.property("Half"), Some(ValueRef::Double(0.5)));
}

#[test]
fn an_unknown_version_is_damage() {
    let row = everything();
    let mut record = row.stored().1.to_vec();
    record[0] = 2;
    let read = EntityRow::read(row.stored().0.clone(), record.into());
    assert_eq!(read, Err(Error::Corrupt("the record of an entity has version 2".to_owned())));
    assert!(EntityRow::read(Bytes::from_static(b"abc"), row.stored().1.clone()).is_err());
}

#[test]
fn properties_are_within_the_limits_of_the_service() {
    let check = |name: &str, value: Value, expected: Result<(), InvalidEntity>| {
        let got = EntityBuilder::new().push(name, value.as_ref());
        assert_eq!(got, expected, "{}", &name[..name.len().min(20)]);
    };
    let one = || Value::Int32(1);
    let named = |name: &str| name.to_owned();
    check("a", one(), Ok(()));
    check(&"x".repeat(255), one(), Ok(()));
    check(&"x".repeat(256), one(), Err(InvalidEntity::PropertyNameTooLong));
    check(&"é".repeat(255), one(), Ok(()));
    for bad in ["", "9a", "a-b", "PartitionKey", "RowKey", "Timestamp"] {
        check(bad, one(), Err(InvalidEntity::PropertyNameInvalid { name: named(bad) }));
    }
    let too_large = || Err(InvalidEntity::PropertyValueTooLarge { name: named("a") });
    check("a", Value::String("x".repeat(32 * 1024)), Ok(()));
    check("a", Value::String("x".repeat(32 * 1024 + 1)), too_large());
    check("a", Value::String("€".repeat(32 * 1024)), Ok(()));
    check("a", Value::String("𝄞".repeat(16 * 1024)), Ok(()));
    check("a", Value::String("𝄞".repeat(16 * 1024 + 1)), too_large());
    check("a", Value::Binary(vec![0; 64 * 1024].into()), Ok(()));
    check("a", Value::Binary(vec![0; 64 * 1024 + 1].into()), too_large());
    let year = |text: &str| Value::DateTime(DateTime::parse(text).unwrap());
    check("a", year("1601-01-01T00:00:00Z"), Ok(()));
    check("a", year("1600-12-31T23:59:59Z"), Err(InvalidEntity::DateTimeOutOfRange { name: named("a") }));
}

#[test]
fn an_entity_has_252_properties_and_no_name_twice() {
    let build = |names: &[String]| {
        let mut entity = EntityBuilder::new();
        names.iter().try_for_each(|name| entity.push(name, ValueRef::Int32(1)))?;
        entity.finish(key("p", "r"))
    };
    let numbered = |count: usize| (0..count).map(|number| format!("p{number}")).collect::<Vec<_>>();
    assert!(build(&numbered(limits::PROPERTIES_MAX)).is_ok());
    let over = build(&numbered(limits::PROPERTIES_MAX + 1));
    assert_eq!(over, Err(InvalidEntity::TooManyProperties));
    let twice = build(&["a", "b", "a"].map(str::to_owned));
    assert_eq!(twice, Err(InvalidEntity::DuplicateProperty { name: "a".to_owned() }));
    assert!(build(&["a", "A"].map(str::to_owned)).is_ok(), "case makes a difference");
}

#[test]
fn an_entity_has_a_mebibyte() {
    let build = |last: usize| {
        let mut entity = EntityBuilder::new();
        for number in 0..15 {
            entity.push(&format!("p{number:02}"), ValueRef::Binary(&[0; 64 * 1024]))?;
        }
        entity.push("last", ValueRef::Binary(&vec![0; last]))?;
        entity.finish(key("p", "r"))
    };
    // 15 properties of 64 KiB and 18 bytes each, 20 bytes for the last, 8 for the keys.
    let room = limits::ENTITY_BYTES_MAX - 15 * (64 * 1024 + 18) - 20 - 8;
    assert!(build(room).is_ok());
    assert_eq!(build(room + 1), Err(InvalidEntity::EntityTooLarge));
    assert_eq!(build(room + 9), Err(InvalidEntity::EntityTooLarge));
}
