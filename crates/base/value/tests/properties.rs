//! Properties of any text and any values.

mod common;

use std::cmp::Ordering;

use orrery_value::{JsonError, Value, raw, scan_object, scan_value};
use proptest::prelude::*;

/// Pieces that, concatenated, are often almost JSON.
fn token_soup() -> impl Strategy<Value = String> {
    let pieces = prop::sample::select(vec![
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        "\"a\"",
        "\"b\"",
        "\"\"",
        "\"\\u0061\"",
        "\"\\n\"",
        "\"\\",
        "\"",
        "0",
        "1",
        "-",
        "1.5",
        "-0",
        ".",
        "e",
        "E+2",
        "1e308",
        "9e308",
        "null",
        "true",
        "false",
        "nul",
        " ",
        "\n",
        "\t",
        "\\",
        "é",
        "\u{1}",
        "{\"a\":",
        "[1,",
        "\"c\":",
        "\u{feff}",
    ]);
    prop::collection::vec(pieces, 0..12).prop_map(|pieces| pieces.concat())
}

/// The text of a value, damaged in one place.
fn damaged_text() -> impl Strategy<Value = Vec<u8>> {
    (common::value(), any::<prop::sample::Index>(), any::<u8>(), 0..4u8).prop_map(|(value, at, byte, how)| {
        let mut text = value.to_json().into_bytes();
        let at = at.index(text.len());
        match how {
            0 => text[at] = byte,
            1 => text.insert(at, byte),
            2 => drop(text.remove(at)),
            _ => text.truncate(at),
        }
        text
    })
}

/// The text of a value with white space wherever it is permitted.
fn spaced(value: &Value) -> String {
    let join = |parts: Vec<String>| parts.join("\r\n,\t");
    match value {
        Value::Array(items) => format!(" [ {} ] ", join(items.iter().map(spaced).collect())),
        Value::Object(members) => {
            let member = |(name, value): &(String, Value)| {
                format!("\n{} : {}", Value::from(name.as_str()).to_json(), spaced(value))
            };
            format!(" {{ {} }} ", join(members.iter().map(member).collect()))
        }
        scalar => format!(" {}\n", scalar.to_json()),
    }
}

fn check_against_serde(text: &[u8]) {
    let theirs = serde_json::from_slice::<serde_json::Value>(text);
    match scan_value(text) {
        Err(JsonError::DuplicateName { .. }) => {}
        Err(ours) => assert!(theirs.is_err(), "{ours}: {:?}", String::from_utf8_lossy(text)),
        Ok(()) => {
            let wrapped = [b"{\"x\":", text, b"}"].concat();
            let scan = scan_object(&wrapped).expect("a value is good as a member's value");
            let has_lone_surrogates = !scan.lone_surrogates.is_empty();
            assert_eq!(theirs.is_err(), has_lone_surrogates, "{:?}", String::from_utf8_lossy(text));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn text_that_another_parser_accepts_is_accepted(text in token_soup()) {
        check_against_serde(text.as_bytes());
        check_against_serde(format!("[{text}]").as_bytes());
        check_against_serde(format!("{{\"z\":{text}}}").as_bytes());
        check_against_serde(format!("\"{text}\"").as_bytes());
    }

    #[test]
    fn the_verdict_on_damaged_text_is_another_parsers(text in damaged_text()) {
        check_against_serde(&text);
    }

    #[test]
    fn arbitrary_bytes_break_nothing(data: Vec<u8>) {
        orrery_value::fuzz::scan_object(&data);
        orrery_value::fuzz::value_parse(&data);
        orrery_value::fuzz::binary_to_text(&data);
        orrery_value::fuzz::binary_to_text(&[&[0x80], data.as_slice()].concat());
        check_against_serde(&data);
    }

    #[test]
    fn members_spans_are_the_members(value in common::value()) {
        let Value::Object(members) = &value else { return Ok(()) };
        let text = value.to_json();
        let scan = scan_object(text.as_bytes()).unwrap();
        prop_assert_eq!(scan.members.len(), members.len());
        for (found, (name, member)) in scan.members.iter().zip(members) {
            prop_assert_eq!(raw::unescape(found.name.of(&text)), name.as_str());
            prop_assert_eq!(found.value.of(&text), member.to_json());
            prop_assert_eq!(raw::member(&text, name), Some(found.value.of(&text)));
        }
    }

    #[test]
    fn parsing_undoes_writing(value in common::value()) {
        let text = value.to_json();
        prop_assert_eq!(&Value::parse(&text).unwrap(), &value);
        prop_assert_eq!(Value::parse(&text).unwrap().to_json(), text.clone());
        prop_assert!(serde_json::from_str::<serde_json::Value>(&text).is_ok());
    }

    #[test]
    fn spaces_change_nothing(value in common::value()) {
        prop_assert_eq!(Value::parse(&spaced(&value)).unwrap(), value);
    }

    #[test]
    fn the_order_is_total(a in common::value(), b in common::value(), c in common::value()) {
        prop_assert_eq!(a.cmp_total(&a), Ordering::Equal);
        prop_assert_eq!(a.cmp_total(&b), b.cmp_total(&a).reverse());
        prop_assert_eq!(a == b, a.cmp_total(&b).is_eq());
        let mut sorted = [a, b, c];
        sorted.sort();
        prop_assert!(sorted[0] <= sorted[2]);
    }
}
