//! One JSON array, read element by element: only nesting and strings are followed until an element ends.

use super::{RECORD_BYTES_MAX, ReadError, Record, object};
use std::io::BufRead;

pub struct JsonArray<R> {
    reader: R,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Before the opening bracket.
    Start,
    /// After the opening bracket: an element or the end.
    First,
    /// After an element: a comma or the end.
    After,
    Over,
}

impl<R: BufRead> JsonArray<R> {
    pub fn new(reader: R) -> Self {
        Self { reader, state: State::Start }
    }

    fn step(&mut self) -> Result<Option<Record>, String> {
        if self.state == State::Start {
            self.expect(b'[')?;
            self.state = State::First;
        }
        match (self.state, self.peek_token()?) {
            (State::Over, _) => Ok(None),
            (_, Some(b']')) => {
                self.reader.consume(1);
                self.state = State::Over;
                match self.peek_token()? {
                    None => Ok(None),
                    Some(_) => Err("something follows the array".to_owned()),
                }
            }
            (State::After, Some(b',')) => {
                self.reader.consume(1);
                self.element().map(Some)
            }
            (State::After, _) => Err("a comma or the end of the array is missing".to_owned()),
            (_, None) => Err("the array breaks off".to_owned()),
            (_, Some(_)) => self.element().map(Some),
        }
    }

    fn element(&mut self) -> Result<Record, String> {
        self.peek_token()?;
        let text = self.take_element()?;
        self.state = State::After;
        let text = String::from_utf8(text).map_err(|_| "the file is not UTF-8".to_owned())?;
        Ok(object(&text))
    }

    /// The bytes up to the comma or bracket that ends the element.
    fn take_element(&mut self) -> Result<Vec<u8>, String> {
        let (mut text, mut depth, mut in_string, mut is_escaped) = (Vec::new(), 0usize, false, false);
        while let Some(byte) = self.peek()? {
            match byte {
                _ if is_escaped => is_escaped = false,
                b'\\' if in_string => is_escaped = true,
                b'"' => in_string = !in_string,
                _ if in_string => {}
                b'{' | b'[' => depth += 1,
                b',' | b']' | b'}' if depth == 0 => return Ok(text),
                b'}' | b']' => depth -= 1,
                _ => {}
            }
            if text.len() == RECORD_BYTES_MAX {
                return Err(format!("an element is longer than {RECORD_BYTES_MAX} bytes"));
            }
            text.push(byte);
            self.reader.consume(1);
        }
        Err("the array breaks off".to_owned())
    }

    fn expect(&mut self, wanted: u8) -> Result<(), String> {
        if self.peek_token()? != Some(wanted) {
            return Err(
                "the file does not begin with an array; for an object on each line use --format jsonl"
                    .to_owned(),
            );
        }
        self.reader.consume(1);
        Ok(())
    }

    /// The next byte that is not a blank, not yet taken.
    fn peek_token(&mut self) -> Result<Option<u8>, String> {
        while let Some(byte) = self.peek()? {
            if !byte.is_ascii_whitespace() {
                return Ok(Some(byte));
            }
            self.reader.consume(1);
        }
        Ok(None)
    }

    fn peek(&mut self) -> Result<Option<u8>, String> {
        let buffer =
            self.reader.fill_buf().map_err(|error| format!("the file cannot be read on: {error}"))?;
        Ok(buffer.first().copied())
    }
}

impl<R: BufRead> Iterator for JsonArray<R> {
    type Item = Record;

    fn next(&mut self) -> Option<Record> {
        if self.state == State::Over {
            return None;
        }
        self.step().unwrap_or_else(|why| {
            self.state = State::Over;
            Some(Err(ReadError::File(why)))
        })
    }
}
