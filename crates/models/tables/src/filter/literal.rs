//! Constants of a filter, in the forms that clients write.

use crate::edm::{DateTime, Guid, Value};
use bytes::Bytes;

/// `12` is an Int32, or an Int64 if it does not fit; `12L` an Int64; `1.5`, `1e3` and `12d` are Doubles.
pub(super) fn number(text: &str) -> Option<Value> {
    match text {
        "-Infinity" => return Some(Value::Double(f64::NEG_INFINITY)),
        "-" => return None,
        _ => {}
    }
    if let Some(digits) = text.strip_suffix(['L', 'l']) {
        return integer(digits).map(Value::Int64);
    }
    if let Some(digits) = text.strip_suffix(['d', 'D']) {
        return double(digits).map(Value::Double);
    }
    if text.contains(['.', 'e', 'E']) {
        return double(text).map(Value::Double);
    }
    let value = integer(text)?;
    Some(i32::try_from(value).map_or(Value::Int64(value), Value::Int32))
}

fn integer(text: &str) -> Option<i64> {
    is_digits(text.strip_prefix('-').unwrap_or(text)).then(|| text.parse().ok())?
}

/// Digits, then perhaps a fraction, then perhaps an exponent.
fn double(text: &str) -> Option<f64> {
    let unsigned = text.strip_prefix('-').unwrap_or(text);
    let (mantissa, exponent) = unsigned.split_once(['e', 'E']).unwrap_or((unsigned, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, "0"));
    let exponent = exponent.strip_prefix(['-', '+']).unwrap_or(exponent);
    let is_number = is_digits(whole) && is_digits(fraction) && is_digits(exponent);
    is_number.then(|| text.parse().ok())?
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// A word that stands for a constant; the inner `None` is `null`.
pub(super) fn word(word: &str) -> Option<Option<Value>> {
    let is = |keyword: &str| word.eq_ignore_ascii_case(keyword);
    match word {
        "NaN" => Some(Some(Value::Double(f64::NAN))),
        "Infinity" => Some(Some(Value::Double(f64::INFINITY))),
        _ if is("true") => Some(Some(Value::Boolean(true))),
        _ if is("false") => Some(Some(Value::Boolean(false))),
        _ if is("null") => Some(None),
        _ => None,
    }
}

/// What the word before a quote makes of it.
pub(super) fn kind(prefix: &str) -> Option<&'static str> {
    match prefix {
        "datetime" => Some("date and time"),
        "guid" => Some("GUID"),
        "X" | "x" | "binary" => Some("binary"),
        _ => None,
    }
}

pub(super) fn prefixed(prefix: &str, text: &str) -> Option<Value> {
    match prefix {
        "datetime" => DateTime::parse(text).map(Value::DateTime),
        "guid" => Guid::parse(text).map(Value::Guid),
        _ => hex(text).map(Value::Binary),
    }
}

fn hex(text: &str) -> Option<Bytes> {
    let digits: Option<Vec<u8>> =
        text.chars().map(|digit| digit.to_digit(16).map(|value| value as u8)).collect();
    let digits = digits.filter(|digits| digits.len().is_multiple_of(2))?;
    Some(digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect())
}
