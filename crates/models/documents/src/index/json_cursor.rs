//! A forward-only cursor over an item's JSON text.
//!
//! The text was checked when it was stored, so each step only looks at what comes next. Where something else comes,
//! which no stored text has, the answer is `None` and the walk is over: no panic, no endless loop.

use orrery_core::Timestamp;
use orrery_keys::{Direction, KeyBuf, Shallow};
use orrery_value::{Number, raw};

#[derive(Clone, Copy, Debug)]
pub(super) struct JsonCursor<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> JsonCursor<'a> {
    pub fn new(text: &'a str) -> Self {
        Self { text, at: 0 }
    }

    /// The next byte that is not white space, without stepping over it.
    #[inline]
    pub fn peek(&mut self) -> Option<u8> {
        loop {
            match self.text.as_bytes().get(self.at)? {
                b' ' | b'\n' | b'\r' | b'\t' => self.at += 1,
                byte => return Some(*byte),
            }
        }
    }

    /// Steps over the opening of an object or array; whether anything is in it. If not, over its end too.
    pub fn open(&mut self, end: u8) -> Option<bool> {
        self.peek()?;
        self.at += 1;
        let is_empty = self.peek()? == end;
        self.at += usize::from(is_empty);
        Some(!is_empty)
    }

    /// After a value inside of an object or array: steps over a comma (`true`) or the end.
    pub fn another(&mut self, end: u8) -> Option<bool> {
        let byte = self.peek()?;
        self.at += 1;
        if byte == b',' { Some(true) } else { (byte == end).then_some(false) }
    }

    /// A member's name, still escaped, and its colon.
    pub fn name(&mut self) -> Option<&'a str> {
        let quoted = self.scalar()?;
        if self.peek()? != b':' {
            return None;
        }
        self.at += 1;
        inside(quoted)
    }

    /// The text of a string, with its quotes, of a number or of a word.
    pub fn scalar(&mut self) -> Option<&'a str> {
        let is_string = self.peek()? == b'"';
        let start = self.at;
        self.at = if is_string { string_end(self.text, start)? } else { word_end(self.text, start) };
        self.since(start)
    }

    /// Steps over a value, whatever it is.
    pub fn skip(&mut self) -> Option<()> {
        let mut levels = 0usize;
        loop {
            match self.peek()? {
                b'{' | b'[' => {
                    levels += 1;
                    self.at += 1;
                }
                b'}' | b']' => {
                    levels = levels.checked_sub(1)?;
                    self.at += 1;
                }
                b',' | b':' if levels > 0 => self.at += 1,
                _ => {
                    self.scalar()?;
                }
            }
            if levels == 0 {
                return Some(());
            }
        }
    }

    /// Where the walk is: at a byte that [`peek`](Self::peek) saw.
    pub fn at(&self) -> usize {
        self.at
    }

    /// What was stepped over from a place on; `None` if that is nothing.
    pub fn since(&self, start: usize) -> Option<&'a str> {
        self.text.get(start..self.at).filter(|stepped| !stepped.is_empty())
    }
}

/// Appends the value that a text stands for, as an index keeps it; undefined if it is empty.
pub(super) fn index_value(key: KeyBuf, text: &str, direction: Direction) -> KeyBuf {
    match text.as_bytes().first() {
        Some(b'"') => {
            let string = raw::unescape(inside(text).unwrap_or_default());
            key.shallow(Shallow::String(&string), direction)
        }
        first => key.shallow(plain(first.copied(), text), direction),
    }
}

fn plain(first: Option<u8>, text: &str) -> Shallow<'static> {
    match first {
        None => Shallow::Undefined,
        Some(b'{') => Shallow::Object,
        Some(b'[') => Shallow::Array,
        Some(b'n') => Shallow::Null,
        Some(b't') => Shallow::Bool(true),
        Some(b'f') => Shallow::Bool(false),
        Some(_) => Number::parse(text).map_or(Shallow::Undefined, Shallow::Number),
    }
}

/// What `_ts` shows of the time of a write.
pub(super) fn seconds(written: Timestamp) -> Shallow<'static> {
    Shallow::Number(Number::Int(written.seconds() as i64))
}

fn inside(quoted: &str) -> Option<&str> {
    quoted.strip_prefix('"')?.strip_suffix('"')
}

/// The index after the closing quote of the string that opens at `start`.
fn string_end(text: &str, start: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = start + 1;
    loop {
        at += bytes.get(at..)?.iter().position(|byte| matches!(byte, b'"' | b'\\'))?;
        if bytes[at] == b'"' {
            return Some(at + 1);
        }
        at += 2;
    }
}

fn word_end(text: &str, start: usize) -> usize {
    let ends = |byte: &u8| matches!(byte, b',' | b']' | b'}' | b' ' | b'\n' | b'\r' | b'\t');
    text.as_bytes()[start..].iter().position(ends).map_or(text.len(), |length| start + length)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn any_value_is_stepped_over_whole() {
        for value in
            ["1.5e3", "true", r#""a\"}]\\""#, r#"[1,[],{"a":[{}]}, "x]" ]"#, "{}", r#"{"a" : {"b}":1}}"#]
        {
            let text = format!(" {value} ,");
            let mut walk = JsonCursor::new(&text);
            assert_eq!(walk.skip(), Some(()), "{value}");
            assert_eq!(walk.since(1), Some(value));
        }
    }

    proptest! {
        #[test]
        fn no_text_breaks_the_walk(text in r#"[{}\[\]":,\\u0-9a-f é]{0,40}"#) {
            let mut walk = JsonCursor::new(&text);
            let _ = walk.skip();
            let mut walk = JsonCursor::new(&text);
            for _ in 0..text.len() {
                let _ = (walk.open(b'}'), walk.name(), walk.scalar(), walk.another(b'}'));
            }
            prop_assert!(walk.at() <= text.len() + 2);
        }
    }
}
