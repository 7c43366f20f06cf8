//! Encodes keys whose bytes sort as their parts do.
//!
//! ```text
//! u8 u32 u64   big-endian
//! bytes        each 00 as 00 FF, then 00 00       the end sorts before every continuation
//! value        a tag, then
//!   undefined 10   null 11   false 12   true 13   nothing
//!   number    14   the double, 8 bytes: sign bit turned over, or all bits if it is negative
//!   string    15   as bytes
//!   array     16   the elements, 00
//!   object    17   by name: 01, name as bytes, value; at the end 00
//! index value  as a value, but
//!   string    15   of more than 128 bytes: the first 128 of them as bytes, with 00 01 at the end
//!   array     16   nothing
//!   object    17   nothing
//! ```
//!
//! No part is a prefix of another of its kind, so later parts never affect the order of two different ones.
//! Descending parts have every bit inverted, which therefore gives the exact reverse.
//!
//! These bytes are stored: changing them changes the format.

use orrery_value::{Number, Value};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    Ascending,
    Descending,
}

impl Direction {
    /// XORed with every byte.
    pub(crate) fn mask(self) -> u8 {
        match self {
            Self::Ascending => 0x00,
            Self::Descending => 0xff,
        }
    }
}

pub(crate) mod tag {
    pub const END: u8 = 0x00;
    pub const MEMBER: u8 = 0x01;
    pub const UNDEFINED: u8 = 0x10;
    pub const NULL: u8 = 0x11;
    pub const FALSE: u8 = 0x12;
    pub const TRUE: u8 = 0x13;
    pub const NUMBER: u8 = 0x14;
    pub const STRING: u8 = 0x15;
    pub const ARRAY: u8 = 0x16;
    pub const OBJECT: u8 = 0x17;
}

/// Follows a 00 that belongs to the bytes; a second 00 there ends them.
pub(crate) const ESCAPED_ZERO: u8 = 0xff;
/// Follows the 00 that ends a truncated string: sorts after the end of a whole one and before a zero byte.
pub(crate) const CUT: u8 = 0x01;

/// A key under construction.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeyBuf(Vec<u8>);

impl KeyBuf {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn with_capacity(bytes: usize) -> Self {
        Self(Vec::with_capacity(bytes))
    }

    pub fn u8(mut self, part: u8) -> Self {
        self.0.push(part);
        self
    }

    pub fn u32(mut self, part: u32) -> Self {
        self.0.extend_from_slice(&part.to_be_bytes());
        self
    }

    pub fn u64(mut self, part: u64) -> Self {
        self.0.extend_from_slice(&part.to_be_bytes());
        self
    }

    /// Bytes of any length; any part may follow.
    pub fn bytes(mut self, part: &[u8]) -> Self {
        write_bytes(part, &mut self.0);
        self
    }

    /// The prefix shared by all keys whose bytes part starts with these. For bounds of ranges.
    pub fn open_bytes(mut self, part: &[u8]) -> Self {
        write_open_bytes(part, &mut self.0);
        self
    }

    /// Raw bytes, only as the last part, because nothing marks their end.
    pub fn raw(mut self, part: &[u8]) -> Self {
        self.0.extend_from_slice(part);
        self
    }

    /// A value, in the order of [`Value::cmp_total`] or its reverse. A number is encoded as the double
    /// it compares as, so that equal values have equal keys.
    pub fn value(self, part: &Value, direction: Direction) -> Self {
        self.masked(direction, |out| write_value(part, out))
    }

    /// The prefix shared by all keys whose value is a string with this prefix.
    pub fn open_string(self, part: &str, direction: Direction) -> Self {
        self.masked(direction, |out| {
            out.push(tag::STRING);
            write_open_bytes(part.as_bytes(), out);
        })
    }

    /// The prefix shared by the keys of all values of this one's type (true and false are two types).
    pub fn kind(self, of: &Value, direction: Direction) -> Self {
        self.masked(direction, |out| out.push(value_tag(of)))
    }

    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    pub fn finish(self) -> Vec<u8> {
        self.0
    }

    pub(crate) fn masked(mut self, direction: Direction, write: impl FnOnce(&mut Vec<u8>)) -> Self {
        let start = self.0.len();
        write(&mut self.0);
        if direction == Direction::Descending {
            self.0[start..].iter_mut().for_each(|byte| *byte ^= direction.mask());
        }
        self
    }
}

/// The smallest key greater than every key with this prefix; `None` if that is all FF.
pub fn prefix_end(prefix: &[u8]) -> Option<Vec<u8>> {
    let last = prefix.iter().rposition(|byte| *byte != 0xff)?;
    let mut end = prefix[..=last].to_vec();
    end[last] += 1;
    Some(end)
}

fn write_bytes(part: &[u8], out: &mut Vec<u8>) {
    write_open_bytes(part, out);
    out.extend_from_slice(&[0, 0]);
}

pub(crate) fn write_open_bytes(part: &[u8], out: &mut Vec<u8>) {
    for (i, run) in part.split(|byte| *byte == 0).enumerate() {
        if i > 0 {
            out.extend_from_slice(&[0, ESCAPED_ZERO]);
        }
        out.extend_from_slice(run);
    }
}

fn write_value(value: &Value, out: &mut Vec<u8>) {
    out.push(value_tag(value));
    match value {
        Value::Undefined | Value::Null | Value::Bool(_) => {}
        Value::Number(number) => out.extend_from_slice(&ordered_bits(*number).to_be_bytes()),
        Value::String(text) => write_bytes(text.as_bytes(), out),
        Value::Array(items) => {
            items.iter().for_each(|item| write_value(item, out));
            out.push(tag::END);
        }
        Value::Object(members) => write_members(members, out),
    }
}

fn write_members(members: &[(String, Value)], out: &mut Vec<u8>) {
    let mut sorted: Vec<_> = members.iter().collect();
    sorted.sort_by(|a, b| a.0.cmp(&b.0));
    for (name, value) in sorted {
        out.push(tag::MEMBER);
        write_bytes(name.as_bytes(), out);
        write_value(value, out);
    }
    out.push(tag::END);
}

fn value_tag(value: &Value) -> u8 {
    match value {
        Value::Undefined => tag::UNDEFINED,
        Value::Null => tag::NULL,
        Value::Bool(false) => tag::FALSE,
        Value::Bool(true) => tag::TRUE,
        Value::Number(_) => tag::NUMBER,
        Value::String(_) => tag::STRING,
        Value::Array(_) => tag::ARRAY,
        Value::Object(_) => tag::OBJECT,
    }
}

/// Bits that sort as doubles do. Zero has one form; NaN sorts first.
pub(crate) fn ordered_bits(number: Number) -> u64 {
    const SIGN: u64 = 1 << 63;
    let float = number.as_f64();
    if float.is_nan() {
        return 0;
    }
    let bits = if float == 0.0 { 0 } else { float.to_bits() };
    if bits & SIGN == 0 { bits | SIGN } else { !bits }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Direction::{Ascending, Descending};

    fn hex(key: KeyBuf) -> String {
        key.finish().iter().map(|byte| format!("{byte:02x}")).collect()
    }

    #[test]
    fn the_stored_bytes_are_these() {
        assert_eq!(hex(KeyBuf::new().u8(1).u32(2).u64(3)), "01000000020000000000000003");
        assert_eq!(hex(KeyBuf::new().bytes(b"a\0b").raw(b"\0")), "6100ff62000000");
        let value = Value::parse(r#"[null,false,true,-1,0,"a",{"b":1,"a":[]}]"#).unwrap();
        let expected = "16111213144 00fffffffffffff 148000000000000000 1561 0000 17 01610000 1600 01620000 14bff0000000000000 00 00";
        assert_eq!(hex(KeyBuf::new().value(&value, Ascending)), expected.replace(' ', ""));
        assert_eq!(hex(KeyBuf::new().value(&Value::Null, Descending).u8(0)), "ee00");
        assert_eq!(hex(KeyBuf::new().value(&Value::Undefined, Ascending)), "10");
    }

    #[test]
    fn both_zeros_have_one_key() {
        let key = |value: f64| KeyBuf::new().value(&value.into(), Ascending);
        assert_eq!(key(-0.0), key(0.0));
    }

    #[test]
    fn an_open_part_is_a_prefix_of_its_matches() {
        let open = KeyBuf::new().u8(7).open_bytes(b"a\0").finish();
        for (part, is_inside) in
            [(&b"a\0"[..], true), (b"a\0z", true), (b"a\0\0", true), (b"a", false), (b"b", false)]
        {
            assert_eq!(KeyBuf::new().u8(7).bytes(part).finish().starts_with(&open), is_inside, "{part:?}");
        }
        for direction in [Ascending, Descending] {
            let open = KeyBuf::new().open_string("ab", direction).finish();
            for (part, is_inside) in [("ab", true), ("abc", true), ("ab\0", true), ("a", false), ("b", false)]
            {
                let key = KeyBuf::new().value(&part.into(), direction).finish();
                assert_eq!(key.starts_with(&open), is_inside, "{part:?}");
            }
        }
    }

    #[test]
    fn a_kind_is_a_prefix_of_its_values() {
        for direction in [Ascending, Descending] {
            let numbers = KeyBuf::new().kind(&Value::from(0i64), direction).finish();
            let begins = |value: Value| KeyBuf::new().value(&value, direction).finish().starts_with(&numbers);
            assert!(begins(Value::from(-1e300)) && begins(Value::from(7i64)));
            assert!(!begins(Value::Bool(true)) && !begins(Value::from("7")));
        }
    }

    #[test]
    fn the_end_of_a_prefix_is_the_next_prefix() {
        assert_eq!(prefix_end(b"ab"), Some(b"ac".to_vec()));
        assert_eq!(prefix_end(b"a\xff\xff"), Some(b"b".to_vec()));
        assert_eq!(prefix_end(b"\xff\xff"), None);
        assert_eq!(prefix_end(b""), None);
    }
}
