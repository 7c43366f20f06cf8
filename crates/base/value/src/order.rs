//! The total order of values (ORDER BY, indexes, DISTINCT), and equality in filters.
//!
//! undefined < null < false < true < numbers < strings < arrays < objects.
//!
//! Strings compare by their UTF-8 bytes, which is the order of their code points. Arrays compare element by
//! element, then by length; objects likewise over their members sorted by name, so the order of members does
//! not matter.

use std::cmp::Ordering;

use crate::value::Value;

impl Value {
    pub fn cmp_total(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Number(a), Self::Number(b)) => a.cmp_total(*b),
            (Self::String(a), Self::String(b)) => a.as_bytes().cmp(b.as_bytes()),
            (Self::Array(a), Self::Array(b)) => a.iter().cmp(b.iter()),
            (Self::Object(a), Self::Object(b)) => by_name(a).into_iter().cmp(by_name(b)),
            _ => self.rank().cmp(&other.rank()),
        }
    }

    /// Equality in a filter: undefined if either side is.
    pub fn equals(&self, other: &Self) -> Option<bool> {
        let both_defined = !self.is_undefined() && !other.is_undefined();
        both_defined.then(|| self == other)
    }

    fn rank(&self) -> u8 {
        match self {
            Self::Undefined => 0,
            Self::Null => 1,
            Self::Bool(false) => 2,
            Self::Bool(true) => 3,
            Self::Number(_) => 4,
            Self::String(_) => 5,
            Self::Array(_) => 6,
            Self::Object(_) => 7,
        }
    }
}

fn by_name(members: &[(String, Value)]) -> Vec<&(String, Value)> {
    let mut sorted: Vec<_> = members.iter().collect();
    sorted.sort_by(|a, b| a.0.cmp(&b.0));
    sorted
}

/// Equality in the total order; unlike in a filter, undefined equals undefined.
impl PartialEq for Value {
    fn eq(&self, other: &Self) -> bool {
        self.cmp_total(other).is_eq()
    }
}

impl Eq for Value {}

impl PartialOrd for Value {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Value {
    fn cmp(&self, other: &Self) -> Ordering {
        self.cmp_total(other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> Value {
        if text == "undefined" { Value::Undefined } else { Value::parse(text).unwrap() }
    }

    #[test]
    fn types_come_before_values() {
        let ascending = [
            "undefined",
            "null",
            "false",
            "true",
            "-1e300",
            "-1",
            "0",
            "0.5",
            "1",
            "9007199254740992",
            "1e300",
            r#""""#,
            r#""A""#,
            r#""a""#,
            r#""ab""#,
            r#""b""#,
            r#""é""#,
            "\"\u{ffff}\"",
            "\"\u{1f680}\"",
            "[]",
            "[null]",
            "[1]",
            "[1,0]",
            "[2]",
            "[\"\"]",
            "{}",
            r#"{"a":1}"#,
            r#"{"a":1,"b":0}"#,
            r#"{"a":2}"#,
            r#"{"b":0}"#,
        ];
        for (i, a) in ascending.iter().enumerate() {
            for (j, b) in ascending.iter().enumerate() {
                assert_eq!(value(a).cmp_total(&value(b)), i.cmp(&j), "{a} {b}");
            }
        }
    }

    #[test]
    fn the_order_of_members_does_not_matter() {
        assert_eq!(value(r#"{"a":1,"b":[{"x":1,"y":2}]}"#), value(r#"{"b":[{"y":2.0,"x":1}],"a":1}"#));
        assert_ne!(value("[1,2]"), value("[2,1]"));
    }

    #[test]
    fn undefined_equals_nothing_in_a_filter() {
        assert_eq!(Value::Undefined.equals(&Value::Undefined), None);
        assert_eq!(value("1").equals(&Value::Undefined), None);
        assert_eq!(value("1").equals(&value("1.0")), Some(true));
        assert_eq!(value("null").equals(&value("0")), Some(false));
        assert_eq!(Value::Undefined, Value::Undefined);
    }
}
