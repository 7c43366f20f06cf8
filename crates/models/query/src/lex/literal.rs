//! String and number literals.
//!
//! A string has single or double quotes, the escapes of JSON, and `\'`. A number is decimal, with optional
//! digits on either side of its point, or hexadecimal after `0x`. Signs are operators. A malformed token
//! extends as far as it appears to: a number includes the letters attached to it, an unterminated string the
//! rest of the text.

use super::{TokenKind, Wrong, continues_name};
use orrery_value::{Number, raw};

pub(super) fn string(rest: &str) -> (Result<TokenKind, Wrong>, usize) {
    let Some(length) = string_length(rest.as_bytes()) else { return (Err(Wrong::String), rest.len()) };
    let inside = &rest[1..length - 1];
    if !escapes_are_known(inside) {
        return (Err(Wrong::String), length);
    }
    (Ok(TokenKind::String(raw::unescape(inside).into_owned())), length)
}

/// Length including both quotes; `None` if the closing one is missing.
fn string_length(bytes: &[u8]) -> Option<usize> {
    let mut at = 1;
    loop {
        match bytes.get(at)? {
            b'\\' => at += 2,
            byte if *byte == bytes[0] => return Some(at + 1),
            _ => at += 1,
        }
    }
}

fn escapes_are_known(inside: &str) -> bool {
    let mut bytes = inside.bytes();
    while let Some(byte) = bytes.next() {
        if byte == b'\\' && !escape_is_known(&mut bytes) {
            return false;
        }
    }
    true
}

fn escape_is_known(after: &mut impl Iterator<Item = u8>) -> bool {
    match after.next() {
        Some(b'u') => after.take(4).filter(u8::is_ascii_hexdigit).count() == 4,
        Some(letter) => b"\"'\\/bfnrt".contains(&letter),
        None => false,
    }
}

pub(super) fn number(rest: &str) -> (Result<TokenKind, Wrong>, usize) {
    let length = number_length(rest);
    let value = value_of(&rest[..length]);
    (value.map(TokenKind::Number).ok_or(Wrong::Number), length)
}

/// Everything attached, digits or not.
fn number_length(rest: &str) -> usize {
    let hexadecimal = rest.starts_with("0x") || rest.starts_with("0X");
    let (mut length, mut before, mut points) = (0, '0', 0);
    for c in rest.chars() {
        let sign = matches!(c, '+' | '-') && matches!(before, 'e' | 'E') && !hexadecimal;
        let point = c == '.' && points == 0 && !hexadecimal;
        if !sign && !point && !continues_name(c) {
            break;
        }
        points += usize::from(point);
        length += c.len_utf8();
        before = c;
    }
    length
}

fn value_of(token: &str) -> Option<Number> {
    if let Some(digits) = token.strip_prefix("0x").or_else(|| token.strip_prefix("0X")) {
        return hexadecimal(digits);
    }
    if let Ok(int) = token.parse::<i64>() {
        return Some(Number::Int(int));
    }
    // Rust's doubles also parse "inf" and "nan", but this text starts with a digit or a point.
    token.parse::<f64>().ok().filter(|float| float.is_finite()).map(Number::Float)
}

fn hexadecimal(digits: &str) -> Option<Number> {
    if !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    let value = u128::from_str_radix(digits, 16).ok()?;
    Some(i64::try_from(value).map_or(Number::Float(value as f64), Number::Int))
}
