//! Decodes keys part by part, in the order they were written.
//!
//! The bytes may come from a damaged file or a forged token, so every step can fail and none can panic.
//! Numbers decode to doubles, since keys store nothing else.

use std::borrow::Cow;

use orrery_core::limits::NESTING_LEVELS_MAX;
use orrery_value::{Number, Value};

use crate::key::{Direction, ESCAPED_ZERO, tag};

/// The bytes are not a key of the expected form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidKey {
    /// The number of bytes left to read.
    pub left: usize,
}

impl std::fmt::Display for InvalidKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "not a valid key, {} bytes before its end", self.left)
    }
}

impl std::error::Error for InvalidKey {}

#[derive(Clone, Copy, Debug)]
pub struct KeyReader<'a>(&'a [u8]);

impl<'a> KeyReader<'a> {
    pub fn new(key: &'a [u8]) -> Self {
        Self(key)
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn u8(&mut self) -> Result<u8, InvalidKey> {
        self.array().map(|[byte]: [u8; 1]| byte)
    }

    pub fn u32(&mut self) -> Result<u32, InvalidKey> {
        self.array().map(u32::from_be_bytes)
    }

    pub fn u64(&mut self) -> Result<u64, InvalidKey> {
        self.array().map(u64::from_be_bytes)
    }

    /// Decodes [`KeyBuf::bytes`](crate::KeyBuf::bytes); borrowed unless it contains a zero.
    pub fn bytes(&mut self) -> Result<Cow<'a, [u8]>, InvalidKey> {
        let zero = self.0.iter().position(|byte| *byte == 0).ok_or(self.invalid())?;
        if self.0.get(zero + 1) == Some(&0) {
            let part = &self.0[..zero];
            self.0 = &self.0[zero + 2..];
            return Ok(Cow::Borrowed(part));
        }
        self.bytes_under(0).map(Cow::Owned)
    }

    pub fn value(&mut self, direction: Direction) -> Result<Value, InvalidKey> {
        self.value_under(direction.mask(), 0)
    }

    /// The rest, written by [`KeyBuf::raw`](crate::KeyBuf::raw).
    pub fn raw(self) -> &'a [u8] {
        self.0
    }

    /// Checks that nothing is left.
    pub fn finish(self) -> Result<(), InvalidKey> {
        if self.0.is_empty() { Ok(()) } else { Err(self.invalid()) }
    }

    fn value_under(&mut self, mask: u8, depth: usize) -> Result<Value, InvalidKey> {
        let invalid = self.invalid();
        match self.u8()? ^ mask {
            tag::UNDEFINED => Ok(Value::Undefined),
            tag::NULL => Ok(Value::Null),
            tag::FALSE => Ok(Value::Bool(false)),
            tag::TRUE => Ok(Value::Bool(true)),
            tag::NUMBER => self.number_under(mask).map(Value::Number),
            tag::STRING => self.text_under(mask).map(Value::String),
            tag::ARRAY if depth < NESTING_LEVELS_MAX => self.array_under(mask, depth + 1),
            tag::OBJECT if depth < NESTING_LEVELS_MAX => self.object_under(mask, depth + 1),
            _ => Err(invalid),
        }
    }

    pub(crate) fn number_under(&mut self, mask: u8) -> Result<Number, InvalidKey> {
        const SIGN: u64 = 1 << 63;
        let ordered = u64::from_be_bytes(self.array()?.map(|byte| byte ^ mask));
        let bits = if ordered & SIGN == 0 { !ordered } else { ordered & !SIGN };
        Ok(Number::Float(f64::from_bits(bits)))
    }

    fn text_under(&mut self, mask: u8) -> Result<String, InvalidKey> {
        let invalid = self.invalid();
        String::from_utf8(self.bytes_under(mask)?).map_err(|_| invalid)
    }

    fn array_under(&mut self, mask: u8, depth: usize) -> Result<Value, InvalidKey> {
        let mut items = Vec::new();
        while self.peek()? ^ mask != tag::END {
            items.push(self.value_under(mask, depth)?);
        }
        self.u8()?;
        Ok(Value::Array(items))
    }

    fn object_under(&mut self, mask: u8, depth: usize) -> Result<Value, InvalidKey> {
        let mut members = Vec::new();
        loop {
            let invalid = self.invalid();
            match self.u8()? ^ mask {
                tag::END => return Ok(Value::Object(members)),
                tag::MEMBER => members.push((self.text_under(mask)?, self.value_under(mask, depth)?)),
                _ => return Err(invalid),
            }
        }
    }

    fn bytes_under(&mut self, mask: u8) -> Result<Vec<u8>, InvalidKey> {
        let invalid = self.invalid();
        let (part, end) = self.ended_bytes_under(mask)?;
        if end == tag::END { Ok(part) } else { Err(invalid) }
    }

    /// Bytes, and the byte after the 00 that ends them.
    pub(crate) fn ended_bytes_under(&mut self, mask: u8) -> Result<(Vec<u8>, u8), InvalidKey> {
        let mut part = Vec::new();
        loop {
            let (run, next) = self.run_under(mask)?;
            part.extend(run.iter().map(|byte| byte ^ mask));
            match next {
                ESCAPED_ZERO => part.push(0),
                end => return Ok((part, end)),
            }
        }
    }

    /// The bytes before the next 00 as stored, and the byte after it.
    pub(crate) fn run_under(&mut self, mask: u8) -> Result<(&'a [u8], u8), InvalidKey> {
        let length = self.0.iter().position(|byte| byte ^ mask == 0).ok_or(self.invalid())?;
        let run = &self.0[..length];
        self.0 = &self.0[length + 1..];
        Ok((run, self.u8()? ^ mask))
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], InvalidKey> {
        let (part, rest) = self.0.split_first_chunk().ok_or(self.invalid())?;
        self.0 = rest;
        Ok(*part)
    }

    fn peek(&self) -> Result<u8, InvalidKey> {
        self.0.first().copied().ok_or(self.invalid())
    }

    pub(crate) fn invalid(&self) -> InvalidKey {
        InvalidKey { left: self.0.len() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::KeyBuf;

    #[test]
    fn parts_come_back_in_order() {
        let value = Value::parse(r#"{"a":[1,"x\u0000y"]}"#).unwrap();
        let key = KeyBuf::new()
            .u8(9)
            .bytes(b"plain")
            .bytes(b"\0\0")
            .u64(u64::MAX)
            .value(&value, Direction::Descending)
            .u32(5)
            .value(&value, Direction::Ascending)
            .raw(b"rest\0")
            .finish();
        let mut reader = KeyReader::new(&key);
        assert_eq!(reader.u8(), Ok(9));
        assert!(matches!(reader.bytes(), Ok(Cow::Borrowed(b"plain"))));
        assert_eq!(reader.bytes().unwrap(), b"\0\0".as_slice());
        assert_eq!(reader.u64(), Ok(u64::MAX));
        assert_eq!(reader.value(Direction::Descending), Ok(value.clone()));
        assert_eq!(reader.u32(), Ok(5));
        assert_eq!(reader.value(Direction::Ascending), Ok(value));
        assert_eq!(reader.finish(), Err(InvalidKey { left: 5 }));
        assert_eq!(reader.raw(), b"rest\0");
    }

    #[test]
    fn a_key_that_ends_early_is_an_error() {
        let value = Value::parse(r#"[1,"a",{"b":[null]}]"#).unwrap();
        for direction in [Direction::Ascending, Direction::Descending] {
            let key = KeyBuf::new().value(&value, direction).finish();
            for length in 0..key.len() {
                assert!(KeyReader::new(&key[..length]).value(direction).is_err(), "{length}");
            }
        }
        let key = KeyBuf::new().bytes(b"a\0b").finish();
        for length in 0..key.len() {
            assert!(KeyReader::new(&key[..length]).bytes().is_err(), "{length}");
        }
        assert_eq!(KeyReader::new(&[1, 2, 3]).u32(), Err(InvalidKey { left: 3 }));
    }

    #[test]
    fn malformed_bytes_are_an_error() {
        assert!(KeyReader::new(b"a\0\x05").bytes().is_err(), "an unknown escape");
        assert!(KeyReader::new(&[0x18]).value(Direction::Ascending).is_err(), "an unknown tag");
        assert!(KeyReader::new(&[0x15, 0xc3, 0, 0]).value(Direction::Ascending).is_err(), "not UTF-8");
        assert!(KeyReader::new(&[tag::ARRAY; 100_000]).value(Direction::Ascending).is_err(), "too deep");
    }
}
