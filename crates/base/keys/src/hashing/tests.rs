//! Keys computed by the official clients and, where they disagree in version 1, by the service.

use super::*;

fn components(json: &str) -> Vec<Value> {
    let Value::Array(items) = Value::parse(json).unwrap() else {
        panic!("components are written as an array")
    };
    let is_empty = |item: &Value| *item == Value::Object(vec![]);
    items.into_iter().map(|item| if is_empty(&item) { Value::Undefined } else { item }).collect()
}

/// Components as in the partition key header, where `{}` is undefined.
fn check(hashing: Hashing, json: &str, expected: &str) {
    assert_eq!(epk(hashing, &components(json)).to_string(), expected, "{hashing:?} {json}");
}

#[test]
fn version_2_keys_are_those_of_the_clients() {
    let check = |json: &str, expected: &str| check(Hashing::HashV2, json, expected);
    check(r#"[""]"#, "32E9366E637A71B4E710384B2F4970A0");
    check(r#"["partitionKey"]"#, "013AEFCF77FA271571CF665A58C933F1");
    check(r#"["abc"]"#, "2424691CC38A7EEF2A65ADE404E1F528");
    check(r#"["redmond"]"#, "22E342F38A486A088463DFF7838A5963");
    check(r#"["café 東京 🚀"]"#, "389ED563F219577470F42691A5234A68");
    check("[5]", "19C08621B135968252FB34B4CF66F811");
    check("[-1]", "19938E7A936C1C5B9E3AE842BBC16839");
    check("[1.5]", "35C5DDEB6C795D16A9963C73C54E97BC");
    check("[0]", "155B95BEDAC4B1E9EC1CDC9BB0DDDE58");
    check("[9007199254740993]", "15335910D01122E3D99DA5DE569B065D");
    check("[true]", "0E711127C5B5A8E4726AC6DD306A3E59");
    check("[false]", "2FE1BE91E90A3439635E0E9E37361EF2");
    check("[null]", "378867E4430E67857ACE5C908374FE16");
    check("[{}]", "11622DAA78F835834610ABE56EFF5CB5");
    check(&format!("[\"{}\"]", "a".repeat(100)), "0DBD7D229437BB665DE6417747994D57");
    check(&format!("[\"{}\"]", "a".repeat(101)), "08042541D30C8BF90D7092B1519AE0BC");
}

#[test]
fn version_1_keys_are_those_of_the_service() {
    let check = |json: &str, expected: &str| check(Hashing::HashV1, json, expected);
    check(r#"[""]"#, "05C1CF33970FF80800");
    check(r#"["partitionKey"]"#, "05C1E1B3D9CD2608716273756A756A706F4C667A00");
    check(r#"["redmond"]"#, "05C1EFE313830C087366656E706F6500");
    check("[5]", "05C1D9C1C5517C05C014");
    check("[1.5]", "05C1E9694167A805BFF8");
    check("[true]", "05C1D7C5A903D803");
    check("[false]", "05C1DB857D857C02");
    check("[{}]", "05C1D529E345DC00");
    check("[null]", "05C1ED45D7475601");
    check("[-1]", "05C1D1A5BDDF9C054010");
    check("[0]", "05C1BF6DA11560058000");
    for length in [101, 200] {
        let expected = format!("05C1EB5921F70608{}00", "62".repeat(100));
        check(&format!("[\"{}\"]", "a".repeat(length)), &expected);
    }
}

#[test]
fn version_1_keeps_a_hundred_and_one_bytes_of_a_long_string() {
    let key = epk(Hashing::HashV1, &["é".repeat(60).into()]).to_string();
    let (_, value) = key.split_at(key.find("08C4AA").unwrap());
    assert_eq!(value, format!("08{}C4", "C4AA".repeat(50)));
    let exactly = epk(Hashing::HashV1, &["é".repeat(50).into()]).to_string();
    assert!(exactly.ends_with(&format!("08{}00", "C4AA".repeat(50))));
}

#[test]
fn version_1_counts_characters_as_utf16_does() {
    let cut = epk(Hashing::HashV1, &[format!("{}🚀", "a".repeat(99)).into()]);
    let replaced = epk(Hashing::HashV1, &[format!("{}\u{fffd}", "a".repeat(99)).into()]);
    assert_eq!(cut, replaced, "a pair that is cut in two");
}

#[test]
fn a_hierarchical_key_is_hashed_level_by_level() {
    let check = |json: &str, expected: &str| check(Hashing::MultiHash, json, expected);
    check(r#"["redmond"]"#, "22E342F38A486A088463DFF7838A5963");
    check(r#"["redmond",5]"#, "22E342F38A486A088463DFF7838A596319C08621B135968252FB34B4CF66F811");
    check(
        r#"["redmond","5","x"]"#,
        "22E342F38A486A088463DFF7838A59631D8D4B6BC86F2AFE39EF91B6C481B1C311E3F358618BE9AA5BAFF4C7C74F0716",
    );
    check("[null,true]", "378867E4430E67857ACE5C908374FE160E711127C5B5A8E4726AC6DD306A3E59");
    check("[]", "");
}

#[test]
fn equal_values_have_one_key() {
    for hashing in [Hashing::HashV1, Hashing::HashV2, Hashing::MultiHash] {
        let key = |value: Value| epk(hashing, &[value]);
        assert_eq!(key(Value::from(-0.0)), key(Value::from(0i64)));
        assert_eq!(key(Value::from(7.0)), key(Value::from(7i64)));
        assert_eq!(key(Value::Array(vec![])), key(Value::Undefined));
        assert_eq!(key(Value::parse(r#"{"a":1}"#).unwrap()), key(Value::Undefined));
        assert_ne!(key(Value::Null), key(Value::Undefined));
    }
}

#[test]
fn a_number_is_found_at_the_start_of_a_version_1_key() {
    for number in [0.0, 1.0, -1.0, 1.5, 4_294_967_295.0, 1e300, -5e-324, 0.1, f64::MAX] {
        let mut bytes = encode_number(number);
        bytes.extend(b"\x08bc\0");
        assert_eq!(decode_number(&bytes), Some(number));
    }
    for bad in [&b""[..], b"\x05", b"\x05\xc1", b"\x05\xc1\xff", b"\x08a\0"] {
        assert_eq!(decode_number(bad), None);
    }
}
