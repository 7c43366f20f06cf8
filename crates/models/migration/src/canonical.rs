//! Equality of items: the same JSON without system members, in any member order.
//!
//! Sets of items are compared by the sum of their hashes, which does not depend on their order.

use orrery_core::SYSTEM_MEMBERS;
use orrery_value::Value;
use xxhash_rust::xxh3::xxh3_128;

pub fn without_system(mut item: Value) -> Value {
    if let Value::Object(members) = &mut item {
        members.retain(|(name, _)| !SYSTEM_MEMBERS.contains(&name.as_str()));
    }
    item
}

/// A text form that is identical for equal items.
pub fn canonical(item: &Value) -> String {
    sorted(without_system(item.clone())).to_json()
}

pub fn content_hash(item: &Value) -> u128 {
    hash_of(&canonical(item))
}

pub fn hash_of(text: &str) -> u128 {
    xxh3_128(text.as_bytes())
}

fn sorted(value: Value) -> Value {
    match value {
        Value::Array(elements) => Value::Array(elements.into_iter().map(sorted).collect()),
        Value::Object(members) => {
            let mut members: Vec<_> =
                members.into_iter().map(|(name, value)| (name, sorted(value))).collect();
            members.sort_by(|(a, _), (b, _)| a.cmp(b));
            Value::Object(members)
        }
        plain => plain,
    }
}

/// The number of items, and the sum of their hashes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sum {
    pub items: u64,
    pub hash: u128,
}

impl Sum {
    pub fn add(&mut self, hash: u128) {
        self.items += 1;
        self.hash = self.hash.wrapping_add(hash);
    }

    pub fn merge(&mut self, other: Self) {
        self.items += other.items;
        self.hash = self.hash.wrapping_add(other.hash);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_same(a: &str, b: &str) -> bool {
        content_hash(&Value::parse(a).unwrap()) == content_hash(&Value::parse(b).unwrap())
    }

    #[test]
    fn order_of_members_spelling_of_numbers_and_system_properties_do_not_count() {
        assert!(is_same(
            r#"{"a":{"x":1,"y":[1.0]},"b":2}"#,
            r#"{"b":2.0,"a":{"y":[1],"x":1e0},"_ts":9,"_lsn":1}"#
        ));
    }

    #[test]
    fn order_of_elements_null_and_inner_underscores_do() {
        assert!(!is_same(r#"{"a":[1,2]}"#, r#"{"a":[2,1]}"#));
        assert!(!is_same(r#"{"a":null}"#, "{}"));
        assert!(!is_same(r#"{"a":{"_ts":1}}"#, r#"{"a":{}}"#));
    }

    #[test]
    fn sums_ignore_order_and_count_duplicates() {
        let sum = |hashes: &[u128]| {
            let mut sum = Sum::default();
            hashes.iter().for_each(|hash| sum.add(*hash));
            sum
        };
        assert_eq!(sum(&[1, u128::MAX, 7]), sum(&[7, 1, u128::MAX]));
        assert_ne!(sum(&[1, 1]), sum(&[1]));
        assert_ne!(sum(&[3, 3]), sum(&[3]));
    }
}
