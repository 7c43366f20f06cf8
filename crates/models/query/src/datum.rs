//! A value during execution: borrowed from a document's text or from the plan where possible.
//!
//! Scalars are parsed on access; arrays and objects stay text until something inside is needed. So a filter
//! on one member costs that member, and `SELECT VALUE c.big` copies bytes. Values that a query builds are
//! [`Value`]s.
//!
//! `'a` is the lifetime of the document and of the plan.

use orrery_value::{Number, Value, raw};
use std::borrow::Cow;
use std::cmp::Ordering;

/// The input of a query: one JSON object, accessed by member.
pub trait Document {
    /// A top-level member; undefined if absent.
    fn member(&self, name: &str) -> Datum<'_>;
    /// Appends the whole object as JSON.
    fn write_json(&self, out: &mut Vec<u8>);
}

#[derive(Clone)]
pub enum Datum<'a> {
    Undefined,
    Null,
    Bool(bool),
    Number(Number),
    String(Cow<'a, str>),
    /// An array or object as validated text.
    Text(&'a str),
    /// An array or object that is already a value; never a scalar.
    Built(Cow<'a, Value>),
    /// A whole document.
    Document(&'a dyn Document),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    Undefined,
    Null,
    Bool,
    Number,
    String,
    Array,
    Object,
}

impl<'a> Datum<'a> {
    /// Parses validated JSON text: a scalar is decoded, anything else stays text.
    pub fn read(text: &'a str) -> Self {
        let text = text.trim_ascii_start();
        match text.as_bytes().first() {
            Some(b'"') => {
                let inside = text.trim_ascii_end().strip_prefix('"').and_then(|t| t.strip_suffix('"'));
                Self::String(raw::unescape(inside.unwrap_or_default()))
            }
            Some(b'{' | b'[') => Self::Text(text),
            Some(b't') => Self::Bool(true),
            Some(b'f') => Self::Bool(false),
            Some(b'n') => Self::Null,
            Some(_) => Number::parse(text.trim_ascii_end()).map_or(Self::Undefined, Self::Number),
            None => Self::Undefined,
        }
    }

    pub fn of(value: &'a Value) -> Self {
        match value {
            Value::Undefined => Self::Undefined,
            Value::Null => Self::Null,
            Value::Bool(it) => Self::Bool(*it),
            Value::Number(it) => Self::Number(*it),
            Value::String(it) => Self::String(Cow::Borrowed(it)),
            Value::Array(_) | Value::Object(_) => Self::Built(Cow::Borrowed(value)),
        }
    }

    pub fn owned(value: Value) -> Self {
        match value {
            Value::Undefined => Self::Undefined,
            Value::Null => Self::Null,
            Value::Bool(it) => Self::Bool(it),
            Value::Number(it) => Self::Number(it),
            Value::String(it) => Self::String(Cow::Owned(it)),
            Value::Array(_) | Value::Object(_) => Self::Built(Cow::Owned(value)),
        }
    }

    pub fn kind(&self) -> Kind {
        match self {
            Self::Undefined => Kind::Undefined,
            Self::Null => Kind::Null,
            Self::Bool(_) => Kind::Bool,
            Self::Number(_) => Kind::Number,
            Self::String(_) => Kind::String,
            Self::Text(text) if text.starts_with('[') => Kind::Array,
            Self::Built(value) if matches!(**value, Value::Array(_)) => Kind::Array,
            Self::Text(_) | Self::Built(_) | Self::Document(_) => Kind::Object,
        }
    }

    pub fn is_undefined(&self) -> bool {
        matches!(self, Self::Undefined)
    }

    pub fn is_true(&self) -> bool {
        matches!(self, Self::Bool(true))
    }

    pub fn as_bool(&self) -> Option<bool> {
        if let Self::Bool(it) = self { Some(*it) } else { None }
    }

    pub fn as_number(&self) -> Option<Number> {
        if let Self::Number(it) = self { Some(*it) } else { None }
    }

    pub fn as_f64(&self) -> Option<f64> {
        self.as_number().map(Number::as_f64)
    }

    pub fn as_i64(&self) -> Option<i64> {
        self.as_number().and_then(Number::as_i64)
    }

    pub fn as_str(&self) -> Option<&str> {
        if let Self::String(it) = self { Some(it) } else { None }
    }

    /// The value of a member; undefined if absent or if this is not an object.
    pub fn member(&self, name: &str) -> Self {
        match self {
            Self::Document(document) => document.member(name),
            Self::Text(text) => raw::member(text, name).map_or(Self::Undefined, Self::read),
            Self::Built(Cow::Borrowed(value)) => Self::of(value.member(name)),
            Self::Built(Cow::Owned(value)) => Self::owned(value.member(name).clone()),
            _ => Self::Undefined,
        }
    }

    /// The element at an index; undefined if absent or if this is not an array.
    pub fn element(&self, index: usize) -> Self {
        match self {
            Self::Text(text) => raw::elements(text).nth(index).map_or(Self::Undefined, Self::read),
            Self::Built(value) => match value {
                Cow::Borrowed(Value::Array(items)) => items.get(index).map_or(Self::Undefined, Self::of),
                Cow::Owned(Value::Array(items)) => {
                    items.get(index).cloned().map_or(Self::Undefined, Self::owned)
                }
                _ => Self::Undefined,
            },
            _ => Self::Undefined,
        }
    }

    /// The elements of an array.
    pub fn elements(&self) -> Option<Vec<Self>> {
        match self {
            Self::Text(text) if text.starts_with('[') => Some(raw::elements(text).map(Self::read).collect()),
            Self::Built(Cow::Borrowed(Value::Array(items))) => Some(items.iter().map(Self::of).collect()),
            Self::Built(Cow::Owned(Value::Array(items))) => {
                Some(items.iter().cloned().map(Self::owned).collect())
            }
            _ => None,
        }
    }

    /// The members of an object, in order.
    pub fn members(&self) -> Option<Vec<(String, Self)>> {
        match self {
            Self::Text(text) if text.starts_with('{') => Some(
                raw::members(text)
                    .map(|(name, value)| (raw::unescape(name).into_owned(), Self::read(value)))
                    .collect(),
            ),
            Self::Built(Cow::Borrowed(Value::Object(members))) => {
                Some(members.iter().map(|(name, value)| (name.clone(), Self::of(value))).collect())
            }
            Self::Built(Cow::Owned(_)) | Self::Document(_) => match self.to_value() {
                Value::Object(members) => {
                    Some(members.into_iter().map(|(name, value)| (name, Self::owned(value))).collect())
                }
                _ => None,
            },
            _ => None,
        }
    }

    pub fn to_value(&self) -> Value {
        match self {
            Self::Undefined => Value::Undefined,
            Self::Null => Value::Null,
            Self::Bool(it) => Value::Bool(*it),
            Self::Number(it) => Value::Number(*it),
            Self::String(it) => Value::String(it.clone().into_owned()),
            Self::Text(text) => Value::read(text),
            Self::Built(value) => value.clone().into_owned(),
            Self::Document(document) => {
                let mut text = Vec::new();
                document.write_json(&mut text);
                Value::read(std::str::from_utf8(&text).unwrap_or("{}"))
            }
        }
    }

    /// The value, without a copy if it is one already.
    fn as_value(&self) -> Cow<'_, Value> {
        match self {
            Self::Built(value) => Cow::Borrowed(value),
            other => Cow::Owned(other.to_value()),
        }
    }

    pub fn into_value(self) -> Value {
        match self {
            Self::String(it) => Value::String(it.into_owned()),
            Self::Built(value) => value.into_owned(),
            other => other.to_value(),
        }
    }

    /// Appends the value as JSON; undefined writes nothing.
    pub fn write_json(&self, out: &mut Vec<u8>) {
        match self {
            Self::Undefined => {}
            Self::Null => out.extend_from_slice(b"null"),
            Self::Bool(true) => out.extend_from_slice(b"true"),
            Self::Bool(false) => out.extend_from_slice(b"false"),
            Self::Number(it) => it.write_json(out),
            Self::String(it) => raw::escape_into(it, out),
            Self::Text(text) => out.extend_from_slice(text.as_bytes()),
            Self::Built(value) => value.write_json(out),
            Self::Document(document) => document.write_json(out),
        }
    }

    /// Deep equality of two defined values, as `=` has it; values of different types are not equal.
    pub fn same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::String(a), Self::String(b)) => a == b,
            (Self::Number(a), Self::Number(b)) => a == b,
            (Self::Bool(a), Self::Bool(b)) => a == b,
            (Self::Null, Self::Null) => true,
            _ if self.kind() != other.kind() || self.kind() < Kind::Array => false,
            _ => *self.as_value() == *other.as_value(),
        }
    }

    /// The total order of all values (ORDER BY, MIN, MAX, DISTINCT).
    pub fn cmp_total(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::String(a), Self::String(b)) => a.as_bytes().cmp(b.as_bytes()),
            (Self::Number(a), Self::Number(b)) => a.cmp_total(*b),
            _ => self.as_value().cmp_total(&other.as_value()),
        }
    }
}

impl std::fmt::Debug for Datum<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Undefined => write!(f, "undefined"),
            defined => {
                let mut out = Vec::new();
                defined.write_json(&mut out);
                write!(f, "{}", String::from_utf8_lossy(&out))
            }
        }
    }
}

macro_rules! from {
    ($($type:ty, $pattern:pat => $datum:expr;)*) => {
        $(impl From<$type> for Datum<'_> {
            fn from($pattern: $type) -> Self {
                $datum
            }
        })*
    };
}

from! {
    bool, it => Self::Bool(it);
    i64, it => Self::Number(Number::Int(it));
    // Numbers that JSON cannot express are undefined in queries.
    f64, it => if it.is_finite() { Self::Number(Number::Float(it)) } else { Self::Undefined };
    String, it => Self::String(Cow::Owned(it));
    Value, it => Self::owned(it);
    Vec<Value>, it => Self::Built(Cow::Owned(Value::Array(it)));
}
