//! Builds a value from validated text.
//!
//! One recursive descent over a cursor. Since the grammar holds, each step only examines the next byte; where
//! it does not hold, the walk ends and the value is undefined. The recursion is bounded: validation limits
//! the depth of input, and queries limit the depth of what they build.

use orrery_core::limits::VALUE_LEVELS_MAX;

use crate::number::Number;
use crate::raw::{scalar_end, skip_space, string_end, unescape};
use crate::value::Value;

pub(crate) fn value(text: &str) -> Value {
    Builder { text, at: 0 }.value(0).unwrap_or_default()
}

struct Builder<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Builder<'a> {
    fn value(&mut self, depth: usize) -> Option<Value> {
        match self.peek()? {
            b'"' => self.string().map(Value::String),
            b'[' if depth < VALUE_LEVELS_MAX => self.array(depth + 1),
            b'{' if depth < VALUE_LEVELS_MAX => self.object(depth + 1),
            b'[' | b'{' => None,
            _ => self.scalar(),
        }
    }

    fn array(&mut self, depth: usize) -> Option<Value> {
        let mut items = Vec::new();
        self.at += 1;
        if self.peek()? == b']' {
            self.at += 1;
            return Some(Value::Array(items));
        }
        loop {
            items.push(self.value(depth)?);
            if !self.another(b']')? {
                return Some(Value::Array(items));
            }
        }
    }

    fn object(&mut self, depth: usize) -> Option<Value> {
        let mut members = Vec::new();
        self.at += 1;
        if self.peek()? == b'}' {
            self.at += 1;
            return Some(Value::Object(members));
        }
        loop {
            members.push(self.member(depth)?);
            if !self.another(b'}')? {
                return Some(Value::Object(members));
            }
        }
    }

    fn member(&mut self, depth: usize) -> Option<(String, Value)> {
        if self.peek()? != b'"' {
            return None;
        }
        let name = self.string()?;
        if self.peek()? != b':' {
            return None;
        }
        self.at += 1;
        Some((name, self.value(depth)?))
    }

    /// Skips a comma (`true`) or the end of the container.
    fn another(&mut self, end: u8) -> Option<bool> {
        let byte = self.peek()?;
        self.at += 1;
        if byte == b',' { Some(true) } else { (byte == end).then_some(false) }
    }

    fn string(&mut self) -> Option<String> {
        let end = string_end(self.text.as_bytes(), self.at)?;
        let inside = self.text.get(self.at + 1..end - 1)?;
        self.at = end;
        Some(unescape(inside).into_owned())
    }

    fn scalar(&mut self) -> Option<Value> {
        let end = scalar_end(self.text.as_bytes(), self.at);
        let token = self.text.get(self.at..end)?;
        self.at = end;
        match token {
            "null" => Some(Value::Null),
            "true" => Some(Value::Bool(true)),
            "false" => Some(Value::Bool(false)),
            _ => Number::parse(token).map(Value::Number),
        }
    }

    /// Skips white space and returns the next byte, also skipped.
    fn peek(&mut self) -> Option<u8> {
        self.at = skip_space(self.text.as_bytes(), self.at);
        self.text.as_bytes().get(self.at).copied()
    }
}
