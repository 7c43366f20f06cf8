//! Values of properties, in the types of the Entity Data Model.
//!
//! A stored entity gives a [`ValueRef`] into its record. [`Value`] owns what it holds: literals of a filter, and values of
//! callers in this process.

mod date_time;
mod guid;

pub use date_time::{DateTime, DateTimeRef};
pub use guid::Guid;
pub use orrery_core::Ticks;

use bytes::Bytes;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EdmType {
    String,
    Boolean,
    Int32,
    Int64,
    Double,
    DateTime,
    Guid,
    Binary,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    String(String),
    Boolean(bool),
    Int32(i32),
    Int64(i64),
    Double(f64),
    DateTime(DateTime),
    Guid(Guid),
    Binary(Bytes),
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ValueRef<'a> {
    String(&'a str),
    Boolean(bool),
    Int32(i32),
    Int64(i64),
    Double(f64),
    DateTime(DateTimeRef<'a>),
    Guid(Guid),
    Binary(&'a [u8]),
}

impl EdmType {
    pub const ALL: [Self; 8] = [
        Self::String,
        Self::Boolean,
        Self::Int32,
        Self::Int64,
        Self::Double,
        Self::DateTime,
        Self::Guid,
        Self::Binary,
    ];

    /// As annotations write it.
    pub fn name(self) -> &'static str {
        match self {
            Self::String => "Edm.String",
            Self::Boolean => "Edm.Boolean",
            Self::Int32 => "Edm.Int32",
            Self::Int64 => "Edm.Int64",
            Self::Double => "Edm.Double",
            Self::DateTime => "Edm.DateTime",
            Self::Guid => "Edm.Guid",
            Self::Binary => "Edm.Binary",
        }
    }

    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|known| known.name() == name)
    }
}

impl Value {
    pub fn as_ref(&self) -> ValueRef<'_> {
        match self {
            Self::String(text) => ValueRef::String(text),
            Self::Boolean(value) => ValueRef::Boolean(*value),
            Self::Int32(value) => ValueRef::Int32(*value),
            Self::Int64(value) => ValueRef::Int64(*value),
            Self::Double(value) => ValueRef::Double(*value),
            Self::DateTime(value) => ValueRef::DateTime(value.as_ref()),
            Self::Guid(value) => ValueRef::Guid(*value),
            Self::Binary(bytes) => ValueRef::Binary(bytes),
        }
    }

    pub fn edm_type(&self) -> EdmType {
        self.as_ref().edm_type()
    }
}

impl ValueRef<'_> {
    pub fn edm_type(self) -> EdmType {
        match self {
            Self::String(_) => EdmType::String,
            Self::Boolean(_) => EdmType::Boolean,
            Self::Int32(_) => EdmType::Int32,
            Self::Int64(_) => EdmType::Int64,
            Self::Double(_) => EdmType::Double,
            Self::DateTime(_) => EdmType::DateTime,
            Self::Guid(_) => EdmType::Guid,
            Self::Binary(_) => EdmType::Binary,
        }
    }

    pub fn to_value(self) -> Value {
        match self {
            Self::String(text) => Value::String(text.to_owned()),
            Self::Boolean(value) => Value::Boolean(value),
            Self::Int32(value) => Value::Int32(value),
            Self::Int64(value) => Value::Int64(value),
            Self::Double(value) => Value::Double(value),
            Self::DateTime(value) => Value::DateTime(value.to_owned()),
            Self::Guid(value) => Value::Guid(value),
            Self::Binary(bytes) => Value::Binary(Bytes::copy_from_slice(bytes)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_type_is_known_by_its_name() {
        for known in EdmType::ALL {
            assert_eq!(EdmType::parse(known.name()), Some(known));
        }
        assert_eq!(EdmType::parse("Edm.Single"), None);
        assert_eq!(EdmType::parse("edm.string"), None);
    }
}
