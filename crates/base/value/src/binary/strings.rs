//! The strings of binary JSON: plain, well-known, packed into few bits, or references to earlier ones.
//!
//! ```text
//! 20–3F  a well-known string                 C0 C1 C2     length of 1, 2, 4 bytes, then UTF-8
//! 71–74  base64: the bytes it stands for     C3 … C6      offset of 1, 2, 3, 4 bytes of an earlier string
//! 75–77  a GUID: its 32 digits               D3           a GUID as .NET lays it out
//! 78–7A  4 bits a character, from a table    DD DE DF     bytes, which become base64
//! 7B–7D  4, 5, 6 bits a character, from a base character on
//! 7E 7F  7 bits a character                  80–BF        UTF-8, the length is in the marker
//! ```
//!
//! Packed characters fill bytes from the lowest bit up; so the first of two hex digits is the low half.

use std::borrow::Cow;

use super::BinaryError;
use super::cursor::Cursor;

#[rustfmt::skip]
const WELL_KNOWN: [&str; 32] = [
    "$s", "$t", "$v", "_attachments", "_etag", "_rid", "_self", "_ts",
    "attachments/", "coordinates", "geometry", "GeometryCollection", "id", "url", "Value", "label",
    "LineString", "link", "MultiLineString", "MultiPoint", "MultiPolygon", "name", "Name", "Type",
    "Point", "Polygon", "properties", "type", "value", "Feature", "FeatureCollection", "_id",
];
const LOWER_HEX: &[u8; 16] = b"0123456789abcdef";
const UPPER_HEX: &[u8; 16] = b"0123456789ABCDEF";
const DATE_TIME: &[u8; 16] = b" 0123456789:-.TZ";
const BASE64: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const BASE64_URL: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// Whether a string with this marker can name a member: any except those that encode other values.
pub(super) fn is_name(marker: u8) -> bool {
    matches!(marker, 0x20..=0xc6)
}

/// Reads a string of any kind, at its marker.
pub(super) fn read<'a>(input: &mut Cursor<'a>) -> Result<Cow<'a, str>, BinaryError> {
    let marker = input.peek()?;
    if (0xc3..=0xc6).contains(&marker) { read_reference(input) } else { read_in_place(input) }
}

/// A reference must point to an earlier string that is not a reference itself, so there are no loops.
fn read_reference<'a>(input: &mut Cursor<'a>) -> Result<Cow<'a, str>, BinaryError> {
    let at = input.at;
    let width = input.u8()? - 0xc2;
    let target = input.length(usize::from(width))?;
    // Byte 0 is the preamble, which looks like a string but is none.
    if target == 0 || target >= at || !is_name(input.bytes[target]) {
        return Err(BinaryError::Reference { at });
    }
    let mut earlier = Cursor { bytes: input.bytes, at: target, end: at };
    read_in_place(&mut earlier).map_err(|_| BinaryError::Reference { at })
}

fn read_in_place<'a>(input: &mut Cursor<'a>) -> Result<Cow<'a, str>, BinaryError> {
    let at = input.at;
    let marker = input.u8()?;
    match marker {
        0x20..=0x3f => Ok(Cow::Borrowed(WELL_KNOWN[usize::from(marker - 0x20)])),
        0x71..=0x74 => read_base64(input, marker, at),
        0x75 => Ok(guid_text(input.array()?, LOWER_HEX).into()),
        0x76 => Ok(guid_text(input.array()?, UPPER_HEX).into()),
        0x77 => Ok(format!("\"{}\"", guid_text(input.array()?, LOWER_HEX)).into()),
        0x78..=0x7f => read_packed(input, marker, at),
        0x80..=0xbf => read_plain(input, usize::from(marker & 0x7f)),
        0xc0..=0xc2 => {
            let length = input.length(1 << (marker - 0xc0))?;
            read_plain(input, length)
        }
        0xd3 => Ok(guid_value(input.array()?).into()),
        0xdd..=0xdf => {
            let length = input.length(1 << (marker - 0xdd))?;
            Ok(base64_text(input.take(length)?, BASE64, true).into())
        }
        _ => Err(BinaryError::Marker { at, marker }),
    }
}

fn read_plain<'a>(input: &mut Cursor<'a>, length: usize) -> Result<Cow<'a, str>, BinaryError> {
    let at = input.at;
    let text = std::str::from_utf8(input.take(length)?).map_err(|_| BinaryError::Text { at })?;
    Ok(Cow::Borrowed(text))
}

fn read_packed<'a>(input: &mut Cursor<'a>, marker: u8, at: usize) -> Result<Cow<'a, str>, BinaryError> {
    let count = input.length(if marker == 0x7f { 2 } else { 1 })?;
    let bits = [4, 4, 4, 4, 5, 6, 7, 7][usize::from(marker - 0x78)];
    let base = if (0x7b..=0x7d).contains(&marker) { input.u8()? } else { 0 };
    let packed = input.take((count * bits).div_ceil(8))?;
    let character = |code: u8| match marker {
        0x78 => Some(LOWER_HEX[usize::from(code)]),
        0x79 => Some(UPPER_HEX[usize::from(code)]),
        0x7a => Some(DATE_TIME[usize::from(code)]),
        _ => base.checked_add(code).filter(u8::is_ascii),
    };
    let text: Option<String> =
        unpack(packed, bits).take(count).map(|code| character(code).map(char::from)).collect();
    text.map(Cow::Owned).ok_or(BinaryError::Text { at })
}

/// Codes of `bits` bits (at most 8), from the lowest bit of the first byte on.
fn unpack(packed: &[u8], bits: usize) -> impl Iterator<Item = u8> + '_ {
    (0..packed.len() * 8 / bits).map(move |i| {
        let (byte, shift) = (i * bits / 8, i * bits % 8);
        let pair = [packed[byte], packed.get(byte + 1).copied().unwrap_or(0)];
        (u16::from_le_bytes(pair) >> shift) as u8 & ((1u16 << bits) - 1) as u8
    })
}

/// The length counts groups of four characters. The byte after it is the number of trailing `=` or, with all
/// bits inverted, the number omitted.
fn read_base64<'a>(input: &mut Cursor<'a>, marker: u8, at: usize) -> Result<Cow<'a, str>, BinaryError> {
    let groups = input.length(if marker == 0x71 || marker == 0x73 { 1 } else { 2 })?;
    let padding = input.u8()?;
    let is_padded = padding <= 2;
    let short = usize::from(if is_padded { padding } else { !padding });
    let length = (groups * 3).checked_sub(short).filter(|_| short <= 2).ok_or(BinaryError::Text { at })?;
    let alphabet = if marker <= 0x72 { BASE64 } else { BASE64_URL };
    Ok(base64_text(input.take(length)?, alphabet, is_padded).into())
}

fn base64_text(bytes: &[u8], alphabet: &[u8; 64], is_padded: bool) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let word = (0..3).fold(0u32, |word, i| word << 8 | u32::from(group.get(i).copied().unwrap_or(0)));
        for i in 0..4 {
            if i <= group.len() {
                text.push(char::from(alphabet[(word >> (18 - 6 * i)) as usize & 63]));
            } else if is_padded {
                text.push('=');
            }
        }
    }
    text
}

fn guid_text(packed: [u8; 16], digits: &[u8; 16]) -> String {
    let mut text = String::with_capacity(36);
    for (i, byte) in packed.into_iter().enumerate() {
        if matches!(i, 4 | 6 | 8 | 10) {
            text.push('-');
        }
        text.push(char::from(digits[usize::from(byte & 15)]));
        text.push(char::from(digits[usize::from(byte >> 4)]));
    }
    text
}

/// .NET stores the first three groups of a GUID as little-endian integers.
fn guid_value(bytes: [u8; 16]) -> String {
    const PLACES: [usize; 16] = [3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15];
    guid_text(PLACES.map(|place| bytes[place].rotate_left(4)), LOWER_HEX)
}
