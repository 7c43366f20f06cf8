//! Index values: an order-preserving form of values with bounded length.
//!
//! A long string is truncated, and an array or object is reduced to its type. So different values may have
//! the same bytes, but never the wrong order: a search for a value finds everything that may equal it, and a
//! reader learns when the value is incomplete. [`crate::KeyBuf`]'s file documents the bytes.
//!
//! A number is stored as a double. From 2^53 on a double represents several integers, so it is incomplete
//! too.

use orrery_core::limits::INDEX_STRING_BYTES_MAX;
use orrery_value::{Number, Value};

use crate::key::{CUT, Direction, ESCAPED_ZERO, KeyBuf, ordered_bits, tag, write_open_bytes};
use crate::reader::{InvalidKey, KeyReader};

/// A value without its contents. It borrows its string, so that it can be encoded in place.
#[derive(Clone, Copy, Debug)]
pub enum Shallow<'a> {
    Undefined,
    Null,
    Bool(bool),
    Number(Number),
    String(&'a str),
    Array,
    Object,
}

/// The information that an index has about a value.
#[derive(Clone, Debug, PartialEq)]
pub enum IndexValue {
    Exactly(Value),
    /// A truncated string, an array, an object, or a number that a double may not represent exactly.
    NotAll,
}

impl<'a> From<&'a Value> for Shallow<'a> {
    fn from(value: &'a Value) -> Self {
        match value {
            Value::Undefined => Self::Undefined,
            Value::Null => Self::Null,
            Value::Bool(it) => Self::Bool(*it),
            Value::Number(number) => Self::Number(*number),
            Value::String(text) => Self::String(text),
            Value::Array(_) => Self::Array,
            Value::Object(_) => Self::Object,
        }
    }
}

impl KeyBuf {
    /// Appends an index value, in the order of [`Value::cmp_total`] or its reverse.
    pub fn index_value(self, part: &Value, direction: Direction) -> Self {
        self.shallow(part.into(), direction)
    }

    /// [`index_value`](Self::index_value) for a value that is not materialised.
    pub fn shallow(self, part: Shallow<'_>, direction: Direction) -> Self {
        self.masked(direction, |out| write(part, out))
    }

    /// The prefix of the index values of all strings with this prefix. If it is longer than the part
    /// that an index keeps, other strings share it.
    pub fn open_index_string(self, part: &str, direction: Direction) -> Self {
        self.masked(direction, |out| {
            out.push(tag::STRING);
            write_open_bytes(kept(part), out);
        })
    }
}

impl KeyReader<'_> {
    pub fn index_value(&mut self, direction: Direction) -> Result<IndexValue, InvalidKey> {
        let (mask, invalid) = (direction.mask(), self.invalid());
        let value = match self.u8()? ^ mask {
            tag::UNDEFINED => Value::Undefined,
            tag::NULL => Value::Null,
            tag::FALSE => Value::Bool(false),
            tag::TRUE => Value::Bool(true),
            tag::NUMBER => return self.number_under(mask).map(known_number),
            tag::STRING => {
                return self.ended_bytes_under(mask).and_then(|(part, end)| known_string(part, end, invalid));
            }
            tag::ARRAY | tag::OBJECT => return Ok(IndexValue::NotAll),
            _ => return Err(invalid),
        };
        Ok(IndexValue::Exactly(value))
    }

    /// Skips an index value.
    pub fn skip_index_value(&mut self, direction: Direction) -> Result<(), InvalidKey> {
        let (mask, invalid) = (direction.mask(), self.invalid());
        match self.u8()? ^ mask {
            tag::UNDEFINED | tag::NULL | tag::FALSE | tag::TRUE | tag::ARRAY | tag::OBJECT => Ok(()),
            tag::NUMBER => self.u64().map(|_| ()),
            tag::STRING => self.skip_string_under(mask),
            _ => Err(invalid),
        }
    }

    fn skip_string_under(&mut self, mask: u8) -> Result<(), InvalidKey> {
        loop {
            let invalid = self.invalid();
            match self.run_under(mask)? {
                (_, ESCAPED_ZERO) => {}
                (_, tag::END | CUT) => return Ok(()),
                _ => return Err(invalid),
            }
        }
    }
}

fn write(part: Shallow<'_>, out: &mut Vec<u8>) {
    match part {
        Shallow::Undefined => out.push(tag::UNDEFINED),
        Shallow::Null => out.push(tag::NULL),
        Shallow::Bool(false) => out.push(tag::FALSE),
        Shallow::Bool(true) => out.push(tag::TRUE),
        Shallow::Number(number) => {
            out.push(tag::NUMBER);
            out.extend_from_slice(&ordered_bits(number).to_be_bytes());
        }
        Shallow::String(text) => write_string(text, out),
        Shallow::Array => out.push(tag::ARRAY),
        Shallow::Object => out.push(tag::OBJECT),
    }
}

fn write_string(text: &str, out: &mut Vec<u8>) {
    let (kept, end) = (kept(text), if is_cut(text) { CUT } else { tag::END });
    out.push(tag::STRING);
    // Strings hardly ever contain a zero byte.
    if kept.contains(&0) {
        write_open_bytes(kept, out);
    } else {
        out.extend_from_slice(kept);
    }
    out.extend_from_slice(&[0, end]);
}

/// The part of a string that an index keeps; it may end inside a character.
fn kept(text: &str) -> &[u8] {
    &text.as_bytes()[..text.len().min(INDEX_STRING_BYTES_MAX)]
}

fn is_cut(text: &str) -> bool {
    text.len() > INDEX_STRING_BYTES_MAX
}

fn known_number(number: Number) -> IndexValue {
    const INTEGER_MAX: f64 = 9_007_199_254_740_992.0;
    let is_exact = number.as_f64().abs() < INTEGER_MAX;
    if is_exact { IndexValue::Exactly(Value::Number(number)) } else { IndexValue::NotAll }
}

fn known_string(part: Vec<u8>, end: u8, invalid: InvalidKey) -> Result<IndexValue, InvalidKey> {
    match end {
        CUT => Ok(IndexValue::NotAll),
        tag::END => String::from_utf8(part).map(|text| IndexValue::Exactly(text.into())).map_err(|_| invalid),
        _ => Err(invalid),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Direction::{Ascending, Descending};

    fn key(value: &Value, direction: Direction) -> Vec<u8> {
        KeyBuf::new().index_value(value, direction).finish()
    }

    fn hex(json: &str) -> String {
        let key = key(&Value::parse(json).unwrap(), Ascending);
        key.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    fn known(value: Value) -> IndexValue {
        KeyReader::new(&key(&value, Ascending)).index_value(Ascending).unwrap()
    }

    #[test]
    fn the_stored_bytes_are_these() {
        assert_eq!(["null", "false", "true"].map(hex), ["11", "12", "13"]);
        assert_eq!(hex("-1"), "14400fffffffffffff");
        assert_eq!(hex(r#""a\u0000b""#), "156100ff620000");
        assert_eq!(["[1,2]", "[]", "{\"a\":1}"].map(hex), ["16", "16", "17"]);
        assert_eq!(key(&Value::Undefined, Ascending), [0x10]);
        assert_eq!(key(&Value::from("a"), Descending), [0xea, 0x9e, 0xff, 0xff]);
    }

    #[test]
    fn a_long_string_is_truncated_by_bytes() {
        let whole = "x".repeat(128);
        assert_eq!(hex(&format!("{whole:?}")), format!("15{}0000", "78".repeat(128)));
        assert_eq!(hex(&format!("\"{whole}y\"")), format!("15{}0001", "78".repeat(128)));
        assert_eq!(hex(&format!("\"{}é\"", &whole[1..])), format!("15{}c30001", "78".repeat(127)));
        assert_eq!(hex(&format!("\"{}\\u0000y\"", &whole[1..])), format!("15{}00ff0001", "78".repeat(127)));
    }

    #[test]
    fn a_truncated_string_sorts_between_the_whole_one_and_its_extensions() {
        let whole = "x".repeat(128);
        let keys = [whole.clone(), format!("{whole}\0"), format!("{}y", &whole[1..])];
        let keys = keys.map(|text| key(&Value::from(text), Ascending));
        assert!(keys.is_sorted_by(|a, b| a < b));
        let longer = KeyBuf::new().value(&Value::from(format!("{whole}\0")), Ascending).finish();
        assert!(keys[1] < longer, "before what a whole string would be");
    }

    #[test]
    fn incomplete_values_are_marked() {
        assert_eq!(known(Value::from("x".repeat(128))), IndexValue::Exactly("x".repeat(128).into()));
        assert_eq!(known(Value::from("x".repeat(129))), IndexValue::NotAll);
        assert_eq!(known(Value::Array(Vec::new())), IndexValue::NotAll);
        assert_eq!(known(Value::Object(Vec::new())), IndexValue::NotAll);
        const EXACT: i64 = (1 << 53) - 1;
        for exact in [0, EXACT, -EXACT] {
            assert_eq!(known(Value::from(exact)), IndexValue::Exactly(exact.into()));
        }
        for doubtful in [EXACT + 1, -EXACT - 1, i64::MAX] {
            assert_eq!(known(Value::from(doubtful)), IndexValue::NotAll);
        }
        assert_eq!(known(Value::from(0.1)), IndexValue::Exactly(0.1.into()));
        assert_eq!(known(Value::from(f64::INFINITY)), IndexValue::NotAll);
    }

    #[test]
    fn malformed_bytes_are_an_error() {
        for bytes in [&[][..], &[0x18], &[0x14, 1, 2], &[0x15, b'a', 0], &[0x15, b'a', 0, 2], &[0x15, b'a']] {
            assert!(KeyReader::new(bytes).index_value(Ascending).is_err(), "{bytes:?}");
            assert!(KeyReader::new(bytes).skip_index_value(Ascending).is_err(), "{bytes:?}");
        }
        assert!(KeyReader::new(&[0x15, 0xc3, 0, 0]).index_value(Ascending).is_err(), "not UTF-8");
    }
}
