//! The key of an entity: its PartitionKey and RowKey. Empty texts are keys too.

use super::name::{PARTITION_KEY, ROW_KEY};
use crate::{limits, utf16};
use std::fmt;

/// A PartitionKey or RowKey that an entity may have.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct KeyText(String);

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct EntityKey {
    pub partition_key: KeyText,
    pub row_key: KeyText,
}

/// Which of the two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyProperty {
    Partition,
    Row,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidKey {
    /// `PropertiesNeedValue`
    #[error("The values are not specified for all properties in the entity: {0} is missing.")]
    Missing(KeyProperty),
    /// `KeyValueTooLarge`
    #[error("The key value is too large: {0} has more than {max} UTF-16 code units.", max = limits::KEY_UTF16_UNITS_MAX)]
    TooLarge(KeyProperty),
    /// `OutOfRangeInput`
    #[error("The '{0}' parameter is out of range: it contains a control character, '/', '\\', '#' or '?'.")]
    Characters(KeyProperty),
}

impl fmt::Display for KeyProperty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Partition => PARTITION_KEY,
            Self::Row => ROW_KEY,
        })
    }
}

impl KeyText {
    pub fn parse(property: KeyProperty, text: &str) -> Result<Self, InvalidKey> {
        Self::from_string(property, text.to_owned())
    }

    pub fn from_string(property: KeyProperty, text: String) -> Result<Self, InvalidKey> {
        // A text has no more code units than bytes.
        if text.len() > limits::KEY_UTF16_UNITS_MAX && utf16::units(&text) > limits::KEY_UTF16_UNITS_MAX {
            return Err(InvalidKey::TooLarge(property));
        }
        if text.chars().any(is_forbidden) {
            return Err(InvalidKey::Characters(property));
        }
        Ok(Self(text))
    }

    /// Of a stored row; it was checked when that was written.
    pub(super) fn stored(text: String) -> Self {
        Self(text)
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

fn is_forbidden(character: char) -> bool {
    matches!(character, '/' | '\\' | '#' | '?' | '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}')
}

impl EntityKey {
    pub fn parse(partition_key: &str, row_key: &str) -> Result<Self, InvalidKey> {
        Self::from_parts(Some(partition_key), Some(row_key))
    }

    /// Of what a body says.
    pub fn from_parts(partition_key: Option<&str>, row_key: Option<&str>) -> Result<Self, InvalidKey> {
        let part = |property: KeyProperty, text: Option<&str>| {
            KeyText::parse(property, text.ok_or(InvalidKey::Missing(property))?)
        };
        Ok(Self {
            partition_key: part(KeyProperty::Partition, partition_key)?,
            row_key: part(KeyProperty::Row, row_key)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use InvalidKey::{Characters, Missing, TooLarge};
    use KeyProperty::{Partition, Row};

    #[test]
    fn a_key_has_no_control_characters_and_none_that_divide_urls() {
        let check = |text: &str, expected: Option<InvalidKey>| {
            assert_eq!(KeyText::parse(Row, text).err(), expected, "{text:?}");
        };
        for good in ["", " ", "a'b", "é\u{a0}", "a,b=(c)", "%2F", "\u{10ffff}"] {
            check(good, None);
        }
        for bad in ["a/b", "a\\b", "a#", "?", "\0", "\t", "\u{1f}", "\u{7f}", "\u{85}", "\u{9f}"] {
            check(bad, Some(Characters(Row)));
        }
    }

    #[test]
    fn a_key_has_a_kibibyte_of_utf_16() {
        let check = |text: String, expected: Option<InvalidKey>| {
            assert_eq!(KeyText::parse(Partition, &text).err(), expected);
        };
        check("x".repeat(512), None);
        check("x".repeat(513), Some(TooLarge(Partition)));
        check("€".repeat(512), None);
        check("𝄞".repeat(256), None);
        check("𝄞".repeat(257), Some(TooLarge(Partition)));
    }

    #[test]
    fn both_keys_are_there() {
        assert_eq!(EntityKey::from_parts(None, Some("r")), Err(Missing(Partition)));
        assert_eq!(EntityKey::from_parts(Some(""), None), Err(Missing(Row)));
        assert!(EntityKey::from_parts(Some(""), Some("")).is_ok());
    }
}
