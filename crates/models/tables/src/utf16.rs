//! Texts in the order of their UTF-16 code units, which is how the service sorts and compares them.
//!
//! UTF-8 sorts by code points. The two differ only where a character above U+FFFF meets one from U+E000 on: UTF-16 writes
//! the former with surrogates, which are smaller. So a stored key has each half of a surrogate pair as three bytes, as if
//! it were a character (CESU-8); everything else is UTF-8.

use std::borrow::Cow;
use std::cmp::Ordering;

/// Bytes that sort as the text does.
pub fn encode(text: &str) -> Cow<'_, [u8]> {
    // Characters above U+FFFF, and only these, begin with a byte from F0 on.
    if text.bytes().all(|byte| byte < 0xf0) {
        return Cow::Borrowed(text.as_bytes());
    }
    let mut encoded = Vec::with_capacity(text.len() + text.len() / 2);
    for character in text.chars() {
        if character.len_utf8() < 4 {
            encoded.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
        } else {
            for half in character.encode_utf16(&mut [0; 2]) {
                encoded.extend_from_slice(&encode_half(*half));
            }
        }
    }
    Cow::Owned(encoded)
}

/// The text of such bytes; `None` if they are of no text.
pub fn decode(bytes: &[u8]) -> Option<Cow<'_, str>> {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return Some(Cow::Borrowed(text));
    }
    let mut text = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some(byte) = rest.first() {
        if *byte == 0xed && rest.get(1).is_some_and(|next| *next >= 0xa0) {
            let (halves, after) = rest.split_first_chunk::<6>()?;
            let pair = [decode_half(&halves[..3])?, decode_half(&halves[3..])?];
            let character = char::decode_utf16(pair).next()?.ok()?;
            text.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
            rest = after;
        } else {
            text.push(*byte);
            rest = &rest[1..];
        }
    }
    // What was written has no characters of four bytes.
    let has_none = bytes.iter().all(|byte| *byte < 0xf0);
    String::from_utf8(text).ok().filter(|_| has_none).map(Cow::Owned)
}

fn encode_half(half: u16) -> [u8; 3] {
    let bits = |shift: u16| (half >> shift & 0x3f) as u8;
    [0xe0 | (half >> 12) as u8, 0x80 | bits(6), 0x80 | bits(0)]
}

fn decode_half(bytes: &[u8]) -> Option<u16> {
    match bytes {
        [0xed, middle @ 0xa0..=0xbf, last @ 0x80..=0xbf] => {
            Some(0xd000 | u16::from(middle & 0x3f) << 6 | u16::from(last & 0x3f))
        }
        _ => None,
    }
}

/// The order of the texts' UTF-16 code units.
pub fn compare(one: &str, other: &str) -> Ordering {
    let is_high = |byte: u8| byte >= 0xee;
    let differing = one.bytes().zip(other.bytes()).find(|(a, b)| a != b);
    match differing {
        // At least one of them begins a character from U+E000 on: bytes inside of characters are smaller.
        Some((a, b)) if is_high(a) || is_high(b) => one.encode_utf16().cmp(other.encode_utf16()),
        Some((a, b)) => a.cmp(&b),
        None => one.len().cmp(&other.len()),
    }
}

pub fn units(text: &str) -> usize {
    // Most texts are ASCII, and it is asked of every property that is written.
    if text.is_ascii() { text.len() } else { text.chars().map(char::len_utf16).sum() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Texts with characters on both sides of the surrogates.
    fn texts() -> impl Strategy<Value = String> {
        let characters = prop_oneof![
            Just('a'),
            Just('\u{ff}'),
            Just('\u{d7ff}'),
            Just('\u{e000}'),
            Just('\u{ffff}'),
            Just('\u{10000}'),
            Just('\u{10ffff}'),
            any::<char>()
        ];
        prop::collection::vec(characters, 0..6).prop_map(|all| all.into_iter().collect())
    }

    proptest! {
        #[test]
        fn bytes_and_texts_sort_as_code_units(one in texts(), other in texts()) {
            let expected = one.encode_utf16().cmp(other.encode_utf16());
            prop_assert_eq!(encode(&one).cmp(&encode(&other)), expected);
            prop_assert_eq!(compare(&one, &other), expected);
        }

        #[test]
        fn decode_undoes_encode(text in texts()) {
            let encoded = encode(&text);
            let decoded = decode(&encoded);
            prop_assert_eq!(decoded.as_deref(), Some(text.as_str()));
            prop_assert_eq!(units(&text), text.encode_utf16().count());
        }

        #[test]
        fn no_bytes_make_decode_fail_otherwise(bytes in prop::collection::vec(any::<u8>(), 0..12)) {
            let _ = decode(&bytes);
        }
    }

    #[test]
    fn half_a_pair_is_no_text() {
        assert_eq!(decode(&[0xed, 0xa0, 0x80]), None);
        assert_eq!(decode(&[0xed, 0xb0, 0x80, 0xed, 0xa0, 0x80]), None);
        assert_eq!(decode(&[0xed, 0xa0, 0x80, b'a', b'b', b'c']), None);
    }
}
