//! One value of a property: from its JSON and the type that its annotation names, if it has one.
//!
//! Without an annotation a string is a String, a number without a point or an exponent an Int32, any other a Double. With
//! one, a value may be written as a string wherever JSON cannot say it exactly.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use orrery_tables::{DateTimeRef, EdmType, Guid, ValueRef};
use orrery_value::raw::unescape;
use std::borrow::Cow;

/// A value that was read. It owns what had to be decoded.
#[derive(Clone, Debug, PartialEq)]
pub enum Scalar<'a> {
    /// Of any type: there is no such property.
    Null,
    Text(Cow<'a, str>),
    DateTime(Cow<'a, str>),
    Binary(Vec<u8>),
    Other(ValueRef<'static>),
}

/// It has not the form of its type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotOfType(pub EdmType);

/// Reads a JSON token that was scanned before.
pub fn read<'a>(token: &'a str, annotated: Option<EdmType>) -> Result<Scalar<'a>, NotOfType> {
    let edm_type = annotated.unwrap_or_else(|| implied(token));
    let wrong = || NotOfType(edm_type);
    if token == "null" {
        return Ok(Scalar::Null);
    }
    let text = text_of(token);
    // What may stand without quotes or in them.
    let word = || text.as_deref().unwrap_or(token);
    let other = match edm_type {
        EdmType::String => return text.map(Scalar::Text).ok_or_else(wrong),
        EdmType::DateTime => {
            let text = text.filter(|text| DateTimeRef::parse(text).is_some());
            return text.map(Scalar::DateTime).ok_or_else(wrong);
        }
        EdmType::Binary => {
            let bytes = text.and_then(|text| STANDARD.decode(text.as_bytes()).ok());
            return bytes.map(Scalar::Binary).ok_or_else(wrong);
        }
        EdmType::Guid => text.as_deref().and_then(Guid::parse).map(ValueRef::Guid),
        EdmType::Boolean => word().parse().ok().map(ValueRef::Boolean),
        EdmType::Int32 => integer(word()).and_then(|value| value.try_into().ok()).map(ValueRef::Int32),
        EdmType::Int64 => integer(word()).map(ValueRef::Int64),
        EdmType::Double => double(word()).map(ValueRef::Double),
    };
    other.map(Scalar::Other).ok_or_else(wrong)
}

impl Scalar<'_> {
    pub fn value(&self) -> Option<ValueRef<'_>> {
        match self {
            Self::Null => None,
            Self::Text(text) => Some(ValueRef::String(text)),
            Self::DateTime(text) => DateTimeRef::parse(text).map(ValueRef::DateTime),
            Self::Binary(bytes) => Some(ValueRef::Binary(bytes)),
            Self::Other(value) => Some(*value),
        }
    }
}

/// The string that a token is, if it is one.
pub fn text_of(token: &str) -> Option<Cow<'_, str>> {
    token.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).map(unescape)
}

/// The type of a value that has no annotation. Arrays and objects are of none, and are no strings either.
fn implied(token: &str) -> EdmType {
    match token.as_bytes() {
        [b't' | b'f', ..] => EdmType::Boolean,
        [b'-' | b'0'..=b'9', ..] if token.contains(['.', 'e', 'E']) => EdmType::Double,
        [b'-' | b'0'..=b'9', ..] => EdmType::Int32,
        _ => EdmType::String,
    }
}

fn integer(word: &str) -> Option<i64> {
    let is_number = !word.starts_with('+');
    word.parse().ok().filter(|_| is_number)
}

fn double(word: &str) -> Option<f64> {
    match word {
        "NaN" => Some(f64::NAN),
        "Infinity" | "INF" => Some(f64::INFINITY),
        "-Infinity" | "-INF" => Some(f64::NEG_INFINITY),
        _ if word.bytes().all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(&byte)) => {
            word.parse().ok().filter(|value: &f64| value.is_finite())
        }
        _ => None,
    }
}
