//! What an item's own members must be: its id, its ttl, its partition key, its unique values.

use crate::world::{World, Written, epk, prepare, prepared};
use orrery_core::limits::ITEM_ID_BYTES_MAX;
use orrery_documents::item::{Preconditions, PrepareError, Ttl, partition_key_of};
use orrery_documents::limits;
use orrery_value::Value;

#[test]
fn an_id_is_a_string_that_a_url_can_hold() {
    let mut world = World::new();
    let container = world.container("");
    let check = |id: &str, expected: &str| {
        let found = match prepare(&container, &format!(r#"{{"id":{id}}}"#)) {
            Ok(item) => item.id.to_string(),
            Err(PrepareError::NoId) => "missing".to_owned(),
            Err(PrepareError::IdNotText) => "no text".to_owned(),
            Err(PrepareError::Id(_)) => "invalid".to_owned(),
            Err(other) => other.to_string(),
        };
        assert_eq!(found, expected, "{id}");
    };
    check(r#""a""#, "a");
    check(r#""a?b""#, "a?b");
    check(r#""\u0041\u00e9""#, "Aé");
    check(r#"" lead""#, " lead");
    check(r#""trail ""#, "trail ");
    check("null", "missing");
    for other in ["1", "true", "[\"a\"]", "{}"] {
        check(other, "no text");
    }
    for invalid in [r#""a/b""#, r#""a\\b""#, r#""a#b""#, "\"\""] {
        check(invalid, "invalid");
    }
    let longest = "x".repeat(ITEM_ID_BYTES_MAX);
    check(&format!("\"{longest}\""), &longest);
    check(&format!("\"{longest}x\""), "invalid");
}

#[test]
fn the_id_is_found_under_an_escaped_name() {
    let mut world = World::new();
    let container = world.container("");
    assert_eq!(prepared(&container, r#"{"n":{"id":"no"},"\u0069d":"a"}"#).id.as_str(), "a");
}

#[test]
fn a_ttl_is_minus_one_or_whole_seconds() {
    let mut world = World::new();
    let container = world.container("");
    let mut check = |ttl: &str, expected: Option<Ttl>| {
        let body = format!(r#"{{"id":"a","ttl":{ttl}}}"#);
        let found = match prepare(&container, &body) {
            Err(PrepareError::Ttl(_)) => None,
            Err(other) => panic!("{ttl}: {other}"),
            Ok(_) => match world.upsert(&container, &body, Preconditions::default()).unwrap() {
                Written::Created(item) | Written::Replaced(item) => Some(item.ttl()),
            },
        };
        assert_eq!(found, expected, "{ttl}");
    };
    check("-1", Some(Ttl::Never));
    check("-1.0", Some(Ttl::Never));
    check("1", Some(Ttl::Seconds(1)));
    check("5.0", Some(Ttl::Seconds(5)));
    check("1e2", Some(Ttl::Seconds(100)));
    check("2147483647", Some(Ttl::Seconds(i32::MAX as u32)));
    for invalid in ["0", "-2", "1.5", "2147483648", "\"5\"", "null", "true", "[1]", "{}", "-0.0"] {
        check(invalid, None);
    }
    let said = world.create(&container, r#"{"id":"none"}"#).unwrap().ttl();
    assert_eq!(said, Ttl::Default, "an item that says nothing has the default");
}

/// Under this partition key path, the body lies where these values in JSON do; nothing is a missing value.
fn check_key(path: &str, body: &str, expected: &str) {
    let mut world = World::new();
    let container = world.container(&format!(r#""partitionKey":{{"paths":[{path}]}}"#));
    let item = prepared(&container, body);
    assert_eq!(item.epk, epk(&container, expected), "{path} of {body}");
    let stored = world.create(&container, body).unwrap();
    let again = partition_key_of(&container, stored.text());
    assert_eq!(orrery_keys::epk(container.hashing(), &again), item.epk, "a stored item says the same");
}

#[test]
fn the_partition_key_is_the_scalar_at_the_path() {
    check_key(r#""/pk""#, r#"{"id":"a","pk":"x"}"#, r#""x""#);
    check_key(r#""/pk""#, r#"{"id":"a","p\u006b":"\u0078"}"#, r#""x""#);
    check_key(r#""/pk""#, r#"{"id":"a","pk":1.0}"#, "1");
    check_key(r#""/pk""#, r#"{"id":"a","pk":true}"#, "true");
    check_key(r#""/pk""#, r#"{"id":"a","pk":null}"#, "null");
    check_key(r#""/id""#, r#"{"id":"a"}"#, r#""a""#);
    check_key(r#""/a/b/c""#, r#"{"id":"a","a":{"x":1,"b":{"c":7}}}"#, "7");
    check_key(r#""/\"a b\"/c""#, r#"{"id":"a","a b":{"c":"v"}}"#, r#""v""#);
}

#[test]
fn what_is_no_scalar_counts_as_missing() {
    for body in [r#"{"id":"a"}"#, r#"{"id":"a","pk":{"x":1}}"#, r#"{"id":"a","pk":[1]}"#] {
        check_key(r#""/pk""#, body, "");
    }
    check_key(r#""/a/b""#, r#"{"id":"a","a":5}"#, "");
    check_key(r#""/a/b""#, r#"{"id":"a","a":[{"b":1}]}"#, "");
    let mut world = World::new();
    let container = world.container("");
    assert_ne!(epk(&container, ""), epk(&container, "null"), "missing is not null");
}

#[test]
fn a_path_with_a_backslash_means_the_backslash() {
    let path = r#""/\"a\\\\b\"""#;
    check_key(path, r#"{"id":"a","a\\b":"x"}"#, r#""x""#);
    check_key(path, r#"{"id":"a","a\b":"x"}"#, "");
}

#[test]
fn a_hierarchical_key_takes_a_value_from_each_path() {
    let definition = r#""partitionKey":{"paths":["/t","/u/id"],"kind":"MultiHash","version":2}"#;
    let mut world = World::new();
    let container = world.container(definition);
    let check = |body: &str, expected: [Value; 2]| {
        let expected = orrery_keys::epk(container.hashing(), &expected);
        assert_eq!(prepared(&container, body).epk, expected, "{body}");
    };
    check(r#"{"id":"a","t":"x","u":{"id":2}}"#, ["x".into(), 2i64.into()]);
    check(r#"{"id":"a","t":"x"}"#, ["x".into(), Value::Undefined]);
    check(r#"{"id":"a","u":{"id":null}}"#, [Value::Undefined, Value::Null]);
}

#[test]
fn a_partition_key_value_has_an_end() {
    let mut world = World::new();
    let container = world.container("");
    let body = |bytes: usize| format!(r#"{{"id":"a","pk":"{}"}}"#, "x".repeat(bytes));
    assert!(prepare(&container, &body(limits::PARTITION_KEY_BYTES_MAX)).is_ok());
    let refused = prepare(&container, &body(limits::PARTITION_KEY_BYTES_MAX + 1));
    assert!(matches!(refused, Err(PrepareError::PartitionKeyTooLong)));
}

/// The engine's keys end at 65,535 bytes, and the values are part of one.
#[test]
fn the_values_of_a_unique_key_have_an_end() {
    let mut world = World::new();
    let container = world.container(r#""uniqueKeyPolicy":{"uniqueKeys":[{"paths":["/s","/t"]}]}"#);
    let body = |bytes: usize| format!(r#"{{"id":"a","s":"{}"}}"#, "x".repeat(bytes));
    assert!(world.create(&container, &body(limits::UNIQUE_KEY_BYTES_MAX - 16)).is_ok());
    assert!(matches!(
        prepare(&container, &body(limits::UNIQUE_KEY_BYTES_MAX)),
        Err(PrepareError::UniqueKeyTooLong)
    ));
    let zeros = format!(r#"{{"id":"a","s":"{}"}}"#, "\\u0000".repeat(limits::UNIQUE_KEY_BYTES_MAX / 2));
    assert!(
        matches!(prepare(&container, &zeros), Err(PrepareError::UniqueKeyTooLong)),
        "zeros take two bytes"
    );
}
