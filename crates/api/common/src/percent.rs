//! Percent-encoding of paths: one segment in, one path out.
//!
//! `+` is literal in both directions (a space is `%20`): this is the encoding of paths, not of forms. A `%`
//! without two following hex digits stands for itself, as clients that do not escape it expect.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use std::borrow::Cow;

/// A segment whose decoded bytes are not UTF-8.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the percent-encoded text is not valid UTF-8")]
pub struct NotText;

/// Decodes one segment, once: `a%2520b` is the text `a%20b`. Copies only if something is escaped.
pub fn decode_segment(raw: &str) -> Result<Cow<'_, str>, NotText> {
    let mut pieces = raw.as_bytes().split(|byte| *byte == b'%');
    let plain = pieces.next().unwrap_or_default();
    if plain.len() == raw.len() {
        return Ok(Cow::Borrowed(raw));
    }
    let mut bytes = Vec::with_capacity(raw.len());
    bytes.extend_from_slice(plain);
    for piece in pieces {
        match escaped(piece) {
            Some(byte) => {
                bytes.push(byte);
                bytes.extend_from_slice(&piece[2..]);
            }
            None => {
                bytes.push(b'%');
                bytes.extend_from_slice(piece);
            }
        }
    }
    String::from_utf8(bytes).map(Cow::Owned).map_err(|_| NotText)
}

/// The byte encoded by two hex digits at the start of `text`.
fn escaped(text: &[u8]) -> Option<u8> {
    let digit = |at: usize| char::from(*text.get(at)?).to_digit(16);
    Some((digit(0)? << 4 | digit(1)?) as u8)
}

/// Encodes like JavaScript's `encodeURI`, as in `x-ms-alt-content-path`.
pub fn encode_uri(text: &str) -> Cow<'_, str> {
    utf8_percent_encode(text, &URI).into()
}

/// Everything but letters, digits and the marks that `encodeURIComponent` leaves alone (ECMA-262, 19.2.6.5).
pub const COMPONENT: AsciiSet = NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'_')
    .remove(b'.')
    .remove(b'!')
    .remove(b'~')
    .remove(b'*')
    .remove(b'\'')
    .remove(b'(')
    .remove(b')');

/// And those that `encodeURI` also leaves alone (19.2.6.4).
const URI: AsciiSet = COMPONENT
    .remove(b';')
    .remove(b'/')
    .remove(b'?')
    .remove(b':')
    .remove(b'@')
    .remove(b'&')
    .remove(b'=')
    .remove(b'+')
    .remove(b'$')
    .remove(b',')
    .remove(b'#');

#[cfg(test)]
mod tests {
    use super::*;

    fn check_decode(raw: &str, expected: &str) {
        assert_eq!(decode_segment(raw).as_deref(), Ok(expected), "{raw}");
    }

    #[test]
    fn a_segment_is_decoded_exactly_once() {
        check_decode("orders", "orders");
        check_decode("100%25", "100%");
        check_decode("a%2520b", "a%20b");
        check_decode("caf%C3%A9%27", "café'");
        check_decode("%2F%3f", "/?");
    }

    #[test]
    fn a_plus_is_a_plus() {
        check_decode("a+b", "a+b");
        check_decode("a%2Bb", "a+b");
    }

    #[test]
    fn a_lone_percent_sign_stands_for_itself() {
        check_decode("100%", "100%");
        check_decode("%zz%4", "%zz%4");
        check_decode("%%41%", "%A%");
    }

    #[test]
    fn bytes_that_are_not_text_are_refused() {
        assert_eq!(decode_segment("a%ff"), Err(NotText));
        assert_eq!(decode_segment("%C3"), Err(NotText));
    }

    #[test]
    fn a_segment_without_escapes_is_not_copied() {
        assert!(matches!(decode_segment("orders"), Ok(Cow::Borrowed("orders"))));
    }

    #[test]
    fn encode_uri_leaves_what_javascript_leaves() {
        // The expected values are the output of `encodeURI` in Node.
        let left_alone = "azAZ09;/?:@&=+$,#-_.!~*'()";
        assert_eq!(encode_uri(left_alone), left_alone);
        assert_eq!(encode_uri("dbs/my db/colls/é%\"<>"), "dbs/my%20db/colls/%C3%A9%25%22%3C%3E");
        assert_eq!(encode_uri("[]{}|\\^`"), "%5B%5D%7B%7D%7C%5C%5E%60");
        assert_eq!(encode_uri("日\u{7f}\n"), "%E6%97%A5%7F%0A");
    }
}
