//! The distinct key of a row: equal rows have equal keys, different rows different ones.
//!
//! A short row is its own key, so that rows come in the order of their values. A long row does not fit into a
//! continuation token and is represented by 128 bits of its text.

use crate::execute::subquery::size_of_value;
use orrery_value::Value;
use std::hash::{DefaultHasher, Hasher};

/// Measured by [`size_of_value`]: equal values have equal sizes, however they were written.
const VALUE_BYTES_MAX: usize = 1024;

pub(super) fn distinct_key(value: Value) -> Value {
    if size_of_value(&value) <= VALUE_BYTES_MAX {
        return value;
    }
    Value::String(format!("{:032x}", digest(canonical(&value).as_bytes())))
}

/// A 64-bit fingerprint of a row already returned; it lives no longer than a page.
pub(super) fn fingerprint(identity: &Value) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(canonical(identity).as_bytes());
    hasher.finish()
}

/// FNV-1a. Continuation tokens contain it, so it must not change.
fn digest(bytes: &[u8]) -> u128 {
    const START: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;
    bytes.iter().fold(START, |hash, byte| (hash ^ u128::from(*byte)).wrapping_mul(PRIME))
}

/// Canonical text, the same for equal values: members sorted, numbers as doubles.
fn canonical(value: &Value) -> String {
    match value {
        Value::Number(number) => Value::from(number.as_f64() + 0.0).to_json(),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(canonical).collect();
            format!("[{}]", items.join(","))
        }
        Value::Object(members) => {
            let mut members: Vec<String> = members
                .iter()
                .map(|(name, value)| format!("{}:{}", Value::from(name.as_str()).to_json(), canonical(value)))
                .collect();
            members.sort();
            format!("{{{}}}", members.join(","))
        }
        other => other.to_json(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_values_have_one_key_however_written() {
        let value = |text: &str| Value::parse(text).unwrap();
        let long = "x".repeat(2000);
        let same = [
            (r#"{"a":1,"b":[2]}"#.to_owned(), r#"{ "b" : [2.0], "a" : 1e0 }"#.to_owned()),
            (format!(r#"{{"a":1,"t":"{long}"}}"#), format!(r#"{{"t":"{long}","a":1.0}}"#)),
            (format!("[0,\"{long}\"]"), format!("[-0.0,  \"{long}\"]")),
        ];
        for (a, b) in same {
            assert_eq!(distinct_key(value(&a)), distinct_key(value(&b)), "{a:.40}");
        }
        let other = [
            format!("[1,\"{long}\"]"),
            format!("[2,\"{long}\"]"),
            format!("[\"1\",\"{long}\"]"),
            long.clone(),
        ];
        for (i, a) in other.iter().enumerate() {
            for b in &other[..i] {
                let read = |text: &str| Value::parse(text).unwrap_or_else(|_| Value::from(text));
                assert_ne!(distinct_key(read(a)), distinct_key(read(b)));
            }
        }
    }

    #[test]
    fn the_digest_matches_older_tokens() {
        assert_eq!(digest(b""), 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d);
        assert_eq!(digest(b"a"), 0xd228_cb69_6f1a_8caf_7891_2b70_4e4a_8964);
        let long = Value::String("x".repeat(2000));
        assert!(matches!(distinct_key(long), Value::String(text) if text.len() == 32));
    }
}
