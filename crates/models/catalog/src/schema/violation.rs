//! What is wrong with an item: where in it, and why.

use jsonschema::ValidationError;
use orrery_core::limits;
use serde_json::Value;
use std::fmt;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// A JSON pointer into the item; empty if it is about the item as a whole.
    pub pointer: String,
    pub reason: String,
}

/// The first violations of an item, and how many there are in all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Violations {
    pub first: Vec<Violation>,
    pub count: u64,
}

impl Violation {
    pub(super) fn new(pointer: impl Into<String>, reason: impl AsRef<str>) -> Self {
        let pointer = clipped(&pointer.into(), limits::VIOLATION_POINTER_CHARS_MAX);
        Self { pointer, reason: clipped(reason.as_ref(), limits::VIOLATION_REASON_CHARS_MAX) }
    }

    /// A short value is shown, a long one would hide what is said of it.
    pub(super) fn of(error: &ValidationError<'_>) -> Self {
        let reason = match &**error.instance() {
            Value::Array(_) | Value::Object(_) => error.masked_with("the value").to_string(),
            Value::String(text) if text.len() > limits::VIOLATION_VALUE_BYTES_MAX => {
                error.masked_with("the text").to_string()
            }
            _ => error.to_string(),
        };
        Self::new(error.instance_path().as_str(), reason)
    }
}

impl Violations {
    pub(super) fn one(violation: Violation) -> Self {
        Self { first: vec![violation], count: 1 }
    }

    pub fn is_empty(&self) -> bool {
        self.count == 0
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = if self.pointer.is_empty() { "the item" } else { &self.pointer };
        write!(f, "{place}: {}", self.reason)
    }
}

impl fmt::Display for Violations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, violation) in self.first.iter().enumerate() {
            let separator = if at == 0 { "" } else { "; " };
            write!(f, "{separator}{violation}")?;
        }
        match self.count - self.first.len() as u64 {
            0 => Ok(()),
            more => write!(f, "; and {more} more"),
        }
    }
}

fn clipped(text: &str, chars_max: usize) -> String {
    match text.char_indices().nth(chars_max) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn violations_are_one_sentence() {
        let one = Violations::one(Violation::new("/age", "-1 is less than the minimum of 0"));
        assert_eq!(one.to_string(), "/age: -1 is less than the minimum of 0");
        let first = vec![Violation::new("", "\"name\" is missing"), Violation::new("/a/0", "is odd")];
        let many = Violations { first, count: 7 };
        assert_eq!(many.to_string(), "the item: \"name\" is missing; /a/0: is odd; and 5 more");
    }

    #[test]
    fn long_texts_are_cut_between_characters() {
        let long = "é".repeat(10_000);
        let violation = Violation::new(&long, &long);
        assert_eq!(violation.pointer.chars().count(), limits::VIOLATION_POINTER_CHARS_MAX + 1);
        assert_eq!(violation.reason.chars().count(), limits::VIOLATION_REASON_CHARS_MAX + 1);
    }
}
