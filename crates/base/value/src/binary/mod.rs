//! Decodes Cosmos binary JSON to JSON text.
//!
//! A buffer is `80` and one value; a value is a marker byte followed by the content that the marker defines,
//! with little-endian numbers. Containers declare their length in bytes, or length and count, and must fill
//! it exactly:
//!
//! ```text
//! 80 ED 0F 03  82 'i' 'd'  82 'i' '0'  81 'n'  0A  …     {"id":"i0","n":10,…
//!    │  │  │   │           │           │       └ the integer 10
//!    │  │  │   └ a string of two bytes ┘
//!    │  │  └ three members
//!    │  └ in fifteen bytes
//!    └ object with length and count
//! ```
//!
//! Invariants: every item takes at least one byte of input and every string at least two of output, and depth
//! and output are limited; so time and space are bounded for any input. The text still passes the scanner,
//! which finds repeated names. Strings of the user dictionary (`40`–`67`) are unknown here, as clients use
//! them only after agreeing on a dictionary.

mod cursor;
mod numbers;
mod strings;

use orrery_core::limits::{ITEM_BYTES_MAX, NESTING_LEVELS_MAX};

use crate::raw::escape_into;
use cursor::Cursor;

const PREAMBLE: u8 = 0x80;
/// The limit of the text; items have a smaller limit further on.
const TEXT_BYTES_MAX: usize = 2 * ITEM_BYTES_MAX;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BinaryError {
    #[error("binary JSON begins with the byte 80")]
    Preamble,
    #[error("at byte {at}: the data ends in the middle of a value")]
    Truncated { at: usize },
    #[error("at byte {at}: unknown marker {marker:02X}")]
    Marker { at: usize, marker: u8 },
    #[error("at byte {at}: expected a string as member name")]
    Name { at: usize },
    #[error("at byte {at}: a string is not valid text")]
    Text { at: usize },
    #[error("at byte {at}: a reference must lead back to a string")]
    Reference { at: usize },
    #[error("at byte {at}: a container does not have the length or count it gives")]
    Length { at: usize },
    #[error("at byte {at}: a number is not finite")]
    NotFinite { at: usize },
    #[error("at byte {at}: more than {NESTING_LEVELS_MAX} levels of nesting")]
    TooDeep { at: usize },
    #[error("at byte {at}: data after the end of the value")]
    Trailing { at: usize },
    #[error("the value is more than {TEXT_BYTES_MAX} bytes of text")]
    TooLong,
}

pub fn binary_to_text(bytes: &[u8]) -> Result<Vec<u8>, BinaryError> {
    if bytes.first() != Some(&PREAMBLE) {
        return Err(BinaryError::Preamble);
    }
    let out = Vec::with_capacity(bytes.len().min(ITEM_BYTES_MAX) * 2);
    let mut decoder = Decoder { input: Cursor::new(bytes, 1), out };
    decoder.value(0)?;
    if decoder.input.at < bytes.len() {
        return Err(BinaryError::Trailing { at: decoder.input.at });
    }
    Ok(decoder.out)
}

struct Decoder<'a> {
    input: Cursor<'a>,
    out: Vec<u8>,
}

/// The declared size of a container.
struct Extent {
    end: Option<usize>,
    count: Option<usize>,
}

impl Decoder<'_> {
    fn value(&mut self, depth: usize) -> Result<(), BinaryError> {
        match self.input.peek()? {
            marker @ (0xc7..=0xcf | 0xd7..=0xdc | 0x00..=0x1f) => {
                self.input.at += 1;
                numbers::write(marker, &mut self.input, &mut self.out)?;
                self.check_length()
            }
            0xd0 => self.word(b"null"),
            0xd1 => self.word(b"false"),
            0xd2 => self.word(b"true"),
            marker @ 0xe0..=0xe7 => self.array(marker - 0xe0, depth),
            marker @ 0xe8..=0xef => self.object(marker - 0xe8, depth),
            0xf0 | 0xf1 => self.number_array(depth),
            0xf2 | 0xf3 => self.number_arrays(depth),
            _ => self.string(),
        }
    }

    fn word(&mut self, word: &[u8]) -> Result<(), BinaryError> {
        self.input.at += 1;
        self.emit(word)
    }

    fn string(&mut self) -> Result<(), BinaryError> {
        let text = strings::read(&mut self.input)?;
        escape_into(&text, &mut self.out);
        self.check_length()
    }

    fn array(&mut self, form: u8, depth: usize) -> Result<(), BinaryError> {
        let depth = self.deeper(depth)?;
        let extent = self.extent(form)?;
        self.emit(b"[")?;
        self.items(extent, |decoder| decoder.value(depth))?;
        self.emit(b"]")
    }

    fn object(&mut self, form: u8, depth: usize) -> Result<(), BinaryError> {
        let depth = self.deeper(depth)?;
        let extent = self.extent(form)?;
        self.emit(b"{")?;
        self.items(extent, |decoder| decoder.member(depth))?;
        self.emit(b"}")
    }

    fn member(&mut self, depth: usize) -> Result<(), BinaryError> {
        if !strings::is_name(self.input.peek()?) {
            return Err(BinaryError::Name { at: self.input.at });
        }
        self.string()?;
        self.emit(b":")?;
        self.value(depth)
    }

    /// Reads the content after a container's marker; `form` is the marker's index in its group of
    /// eight.
    fn extent(&mut self, form: u8) -> Result<Extent, BinaryError> {
        self.input.at += 1;
        let width = [0, 0, 1, 2, 4, 1, 2, 4][usize::from(form)];
        match form {
            0 | 1 => Ok(Extent { end: None, count: Some(usize::from(form)) }),
            2..=4 => {
                let bytes = self.input.length(width)?;
                Ok(Extent { end: Some(self.end_after(bytes)?), count: None })
            }
            _ => {
                let bytes = self.input.length(width)?;
                let count = self.input.length(width)?;
                Ok(Extent { end: Some(self.end_after(bytes)?), count: Some(count) })
            }
        }
    }

    fn end_after(&self, bytes: usize) -> Result<usize, BinaryError> {
        let end = self.input.at.checked_add(bytes).filter(|end| *end <= self.input.end);
        end.ok_or(BinaryError::Truncated { at: self.input.at })
    }

    fn items(
        &mut self,
        extent: Extent,
        mut item: impl FnMut(&mut Self) -> Result<(), BinaryError>,
    ) -> Result<(), BinaryError> {
        let outer_end = self.input.end;
        self.input.end = extent.end.unwrap_or(outer_end);
        let mut read = 0;
        while extent.count.map_or(self.input.at < self.input.end, |count| read < count) {
            if read > 0 {
                self.emit(b",")?;
            }
            item(self)?;
            read += 1;
        }
        if extent.end.is_some_and(|end| end != self.input.at) {
            return Err(BinaryError::Length { at: self.input.at });
        }
        self.input.end = outer_end;
        Ok(())
    }

    /// `F0`/`F1`, marker of the items, count, items without markers.
    fn number_array(&mut self, depth: usize) -> Result<(), BinaryError> {
        self.deeper(depth)?;
        let width = number_count_width(self.input.u8()?);
        let marker = self.number_marker()?;
        let count = self.input.length(width)?;
        self.numbers(marker, count)
    }

    /// `F2`/`F3`, `F0`/`F1`, marker of the numbers, count in each inner array, count of inner arrays,
    /// numbers. Matrices and lists of coordinates have this form.
    fn number_arrays(&mut self, depth: usize) -> Result<(), BinaryError> {
        let depth = self.deeper(depth)?;
        self.deeper(depth)?;
        let inner = self.input.u8()? - 2;
        let width = number_count_width(inner);
        self.input.expect(inner)?;
        let marker = self.number_marker()?;
        let inner_count = self.input.length(width)?;
        let count = self.input.length(width)?;
        self.emit(b"[")?;
        self.items(Extent { end: None, count: Some(count) }, |decoder| decoder.numbers(marker, inner_count))?;
        self.emit(b"]")
    }

    fn numbers(&mut self, marker: u8, count: usize) -> Result<(), BinaryError> {
        self.emit(b"[")?;
        self.items(Extent { end: None, count: Some(count) }, |decoder| {
            numbers::write(marker, &mut decoder.input, &mut decoder.out)?;
            decoder.check_length()
        })?;
        self.emit(b"]")
    }

    fn number_marker(&mut self) -> Result<u8, BinaryError> {
        let at = self.input.at;
        match self.input.u8()? {
            marker @ (0xcd..=0xcf | 0xd7..=0xdc) => Ok(marker),
            marker => Err(BinaryError::Marker { at, marker }),
        }
    }

    fn deeper(&self, depth: usize) -> Result<usize, BinaryError> {
        if depth == NESTING_LEVELS_MAX {
            return Err(BinaryError::TooDeep { at: self.input.at });
        }
        Ok(depth + 1)
    }

    fn emit(&mut self, text: &[u8]) -> Result<(), BinaryError> {
        self.out.extend_from_slice(text);
        self.check_length()
    }

    fn check_length(&self) -> Result<(), BinaryError> {
        if self.out.len() > TEXT_BYTES_MAX { Err(BinaryError::TooLong) } else { Ok(()) }
    }
}

fn number_count_width(marker: u8) -> usize {
    if marker == 0xf0 || marker == 0xf2 { 1 } else { 2 }
}

#[cfg(test)]
mod tests;
