//! What is stored of a body, and what is answered: the text that arrived and five system properties.

use crate::world::{World, json, prepare, prepared, target};
use orrery_core::limits;
use orrery_documents::item::{ItemRow, PrepareError, Ttl};
use orrery_value::{Value, raw, scan_object};
use proptest::prelude::*;

const ADDED: [&str; 5] = ["_rid", "_self", "_etag", "_attachments", "_ts"];

/// Stores the body and gives it back as it is stored and as it is answered.
fn stored(body: &str) -> (String, String) {
    let mut world = World::new();
    let container = world.container("");
    let item = world.create(&container, body).unwrap();
    (item.text().to_owned(), json(&container, &item))
}

fn check_text(body: &str, expected: &str) {
    assert_eq!(stored(body).0, expected, "{body}");
}

#[test]
fn an_answer_is_the_text_and_five_system_properties() {
    let (_, answer) = stored(r#"{"id":"a","pk":1}"#);
    assert_eq!(
        answer,
        r#"{"id":"a","pk":1,"_rid":"AAAAAYAAAAEBAAAAAAAAAA==","_self":"dbs/AAAAAQ==/colls/AAAAAYAAAAE=/docs/AAAAAYAAAAEBAAAAAAAAAA==/","_etag":"\"00000000-0000-0000-0000-000000000003\"","_attachments":"attachments/","_ts":1000000}"#
    );
}

#[test]
fn white_space_around_the_object_goes_and_inside_it_stays() {
    check_text(
        " \r\n\t{ \"id\" : \"a\" ,\n \"n\":[ 1 , 2 ]\t}\n ",
        "{ \"id\" : \"a\" ,\n \"n\":[ 1 , 2 ]\t}",
    );
    let (_, answer) = stored("\n{\"id\":\"a\" \t\n}");
    assert!(answer.starts_with("{\"id\":\"a\",\"_rid\":"), "{answer}");
}

#[test]
fn system_properties_of_a_body_are_dropped_wherever_they_stand() {
    check_text(r#"{"_rid":"x","id":"a","n":1}"#, r#"{"id":"a","n":1}"#);
    check_text(r#"{"id":"a","_etag":{"x":[1]},"n":1}"#, r#"{"id":"a","n":1}"#);
    check_text(r#"{"id":"a","n":1,"_ts":5}"#, r#"{"id":"a","n":1}"#);
    check_text(r#"{"_self":"s","id":"a","_attachments":"t"}"#, r#"{"id":"a"}"#);
    check_text("{ \"_rid\" : \"x\" , \"id\" : \"a\" , \"_ts\" : 1 }", r#"{"id":"a"}"#);
    check_text(r#"{"id":"a","_lsn":7}"#, r#"{"id":"a"}"#);
}

#[test]
fn system_properties_are_known_through_escapes() {
    check_text(r#"{"_\u0072id":"x","id":"a","\u005fts":1}"#, r#"{"id":"a"}"#);
    let (_, answer) = stored(r#"{"id":"a","\u005f\u0065tag":"mine"}"#);
    assert_eq!(Value::parse(&answer).unwrap().member("_ts").to_json(), "1000000");
}

#[test]
fn a_body_of_only_system_properties_has_no_id() {
    let mut world = World::new();
    let container = world.container("");
    for body in [r#"{"_rid":"x"}"#, r#"{"_ts":1,"_etag":"e"}"#, "{}"] {
        assert!(matches!(prepare(&container, body), Err(PrepareError::NoId)), "{body}");
    }
}

#[test]
fn names_that_only_look_like_system_properties_stay() {
    let body = r#"{"id":"a","_Rid":1,"__ts":2,"_azsdkPatchTracking":3,"o":{"_rid":4}}"#;
    check_text(body, body);
}

#[test]
fn numbers_keep_the_text_they_came_with() {
    let body = r#"{"id":"a","pk":1.0,"n":[1.0,1e5,9007199254740993,-0.0,1E+2,18446744073709551615,0.10]}"#;
    check_text(body, body);
    let (_, answer) = stored(body);
    assert!(answer.contains("[1.0,1e5,9007199254740993,-0.0,1E+2,18446744073709551615,0.10]"), "{answer}");
}

#[test]
fn lone_surrogates_become_replacement_characters() {
    check_text(r#"{"id":"a","s":"x\ud800y"}"#, r#"{"id":"a","s":"x\ufffdy"}"#);
    check_text(
        r#"{"id":"a","\uDFFFn":["\udc00\ud83d\ude80"]}"#,
        r#"{"id":"a","\ufffdn":["\ufffd\ud83d\ude80"]}"#,
    );
    check_text(r#" {"_ts":"\ud800","id":"a","s":"\ud800"}"#, r#"{"id":"a","s":"\ufffd"}"#);
    let mut world = World::new();
    let container = world.container("");
    assert_eq!(prepared(&container, r#"{"id":"\ud800"}"#).id.as_str(), "\u{fffd}");
}

#[test]
fn what_is_no_object_or_says_a_name_twice_is_refused() {
    let mut world = World::new();
    let container = world.container("");
    for body in [
        "",
        "[]",
        "\"id\"",
        "{\"id\":\"a\"",
        "{\"id\":\"a\"} x",
        r#"{"id":"a","n":1,"\u006e":2}"#,
        r#"{"id":"a","n":1e400}"#,
    ] {
        assert!(matches!(prepare(&container, body), Err(PrepareError::Json(_))), "{body}");
    }
}

#[test]
fn an_item_may_have_two_megabytes_and_not_a_byte_more() {
    let mut world = World::new();
    let container = world.container("");
    let frame = r#"{"id":"a","s":""}"#.len();
    let body = |bytes: usize| format!(r#"{{"id":"a","s":"{}"}}"#, "x".repeat(bytes - frame));
    assert_eq!(
        world.create(&container, &body(limits::ITEM_BYTES_MAX)).unwrap().text().len(),
        limits::ITEM_BYTES_MAX
    );
    let refused = prepare(&container, &body(limits::ITEM_BYTES_MAX + 1));
    assert!(matches!(refused, Err(PrepareError::TooLarge(bytes)) if bytes == limits::ITEM_BYTES_MAX + 1));
    let with_space = format!("  {}  ", body(limits::ITEM_BYTES_MAX));
    assert!(prepare(&container, &with_space).is_ok(), "only what is stored counts");
}

fn space() -> impl Strategy<Value = String> {
    prop_oneof![4 => Just(String::new()), 1 => "[ \n\r\t]{1,3}"]
}

/// A name or string as a token, escaped more or less.
fn token() -> impl Strategy<Value = String> {
    let text = prop_oneof![
        6 => "[a-e]{0,4}",
        2 => "[\\x00-\\x24\\\\\"/é🚀]{0,6}",
        2 => prop::sample::select([&ADDED[..], &["_lsn"]].concat()).prop_map(str::to_owned),
    ];
    (text, any::<bool>())
        .prop_map(|(text, fully)| if fully { escaped(&text) } else { serde_json::to_string(&text).unwrap() })
}

fn escaped(text: &str) -> String {
    let units: String = text.encode_utf16().map(|unit| format!("\\u{unit:04x}")).collect();
    format!("\"{units}\"")
}

fn value() -> impl Strategy<Value = String> {
    let number = prop::sample::select(vec!["0", "-0.0", "1.0", "1e5", "9007199254740993", "-12.5E-3"]);
    let scalar = prop_oneof![
        number.prop_map(str::to_owned),
        prop::sample::select(vec!["null", "true", "false", "[ ]", "{ }"]).prop_map(str::to_owned),
        token(),
    ];
    scalar.prop_recursive(3, 12, 3, |inner| {
        let list = prop::collection::vec((inner, space()), 1..4);
        list.prop_map(|items| {
            let items: Vec<String> =
                items.into_iter().map(|(item, space)| format!("{space}{item}{space}")).collect();
            format!("[{}]", items.join(","))
        })
    })
}

/// The text of an object with an id somewhere, and odd space anywhere.
fn body() -> impl Strategy<Value = String> {
    let member = (token(), value(), space(), space());
    (prop::collection::vec(member, 0..7), any::<prop::sample::Index>(), space()).prop_map(
        |(members, at, outside)| {
            let mut names = vec!["id".to_owned(), "ttl".to_owned(), "pk".to_owned()];
            let mut texts = Vec::new();
            for (name, value, one, two) in members {
                let plain = raw::unescape(&name[1..name.len() - 1]).into_owned();
                if !names.contains(&plain) {
                    texts.push(format!("{one}{name}{two}:{one}{value}{two}"));
                    names.push(plain);
                }
            }
            texts.insert(at.index(texts.len() + 1), format!("{outside}\"id\":\"a\"{outside}"));
            format!("{outside}{{{}}}{outside}", texts.join(","))
        },
    )
}

/// Names and values of an object, names read and values as they stand.
fn members(text: &str) -> Vec<(String, String)> {
    raw::members(text).map(|(name, value)| (raw::unescape(name).into_owned(), value.to_owned())).collect()
}

fn read_back(body: &str, ttl: Option<i64>) -> (ItemRow, String) {
    let mut world = World::new();
    let container = world.container("");
    let body = match ttl {
        None => body.to_owned(),
        Some(ttl) => body.trim_end().strip_suffix('}').map(|open| format!("{open},\"ttl\":{ttl}}}")).unwrap(),
    };
    world.create(&container, &body).unwrap();
    let item = world.read(&container, &target(&container, "", "a")).unwrap();
    let answer = json(&container, &item);
    (item, answer)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn a_row_gives_back_what_was_put_into_it(body in body(), ttl in prop::option::of(1i64..i64::from(i32::MAX))) {
        let (item, _) = read_back(&body, ttl);
        prop_assert_eq!(item.members(), scan_object(item.text().as_bytes()).unwrap().members);
        let expected = ttl.map_or(Ttl::Default, |seconds| Ttl::Seconds(seconds as u32));
        prop_assert_eq!((item.ttl(), item.ordinal(), item.lsn().0), (expected, 1, 3));
        prop_assert_eq!((item.etag().as_u128(), item.written().seconds()), (3, 1_000_000));
        prop_assert_eq!(ItemRow::read(&*World::new().snapshot(), item.bytes().clone()).unwrap(), item);
    }

    #[test]
    fn an_answer_is_the_members_that_arrived_and_the_systems_own(body in body()) {
        let (item, answer) = read_back(&body, None);
        let is_system = |name: &String| ADDED.contains(&name.as_str()) || name == "_lsn";
        let kept: Vec<_> = members(&body).into_iter().filter(|(name, _)| !is_system(name)).collect();
        prop_assert_eq!(&members(item.text()), &kept);
        prop_assert!(scan_object(answer.as_bytes()).is_ok(), "{}", answer);
        let answered = members(&answer);
        prop_assert_eq!(&answered[..kept.len()], &kept[..]);
        let added: Vec<&str> = answered[kept.len()..].iter().map(|(name, _)| name.as_str()).collect();
        prop_assert_eq!(added, ADDED);
        prop_assert!(serde_json::from_str::<serde_json::Value>(&answer).is_ok());
    }
}
