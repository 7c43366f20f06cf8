//! One compiled schema, and the violations of one item.
//!
//! A fast check decides whether an item matches. It takes time proportional to the item even for recursive
//! schemas, because the crate caches its decisions. The search for violations takes another path through the
//! schema without a cache. It runs only as far as its work is bounded; beyond that, less is reported.

use crate::InvalidSchema;
use crate::bounds::{self, Bounds};
use crate::limits;
use jsonschema::error::ValidationErrorKind;
use jsonschema::{Draft, PatternOptions, ValidationError, draft202012};
use serde_json::Value;
use std::fmt;

pub struct Validator {
    compiled: jsonschema::Validator,
    bounds: Bounds,
}

impl Validator {
    /// `at` is the schema's location in the request.
    pub fn compile(schema: &Value, at: &str) -> Result<Self, InvalidSchema> {
        let bounds = bounds::check(schema, at)?;
        // A linear-time regex engine, whatever the pattern.
        let patterns = PatternOptions::regex()
            .size_limit(limits::SCHEMA_PATTERN_BYTES_MAX)
            .dfa_size_limit(limits::SCHEMA_PATTERN_BYTES_MAX);
        let options = jsonschema::options()
            .with_draft(Draft::Draft202012)
            .offline()
            .should_validate_formats(false)
            .with_pattern_options(patterns);
        // Violations of the meta-schema are instance errors; a schema that does not compile is reported
        // as a part.
        draft202012::meta::validate(schema).map_err(|error| {
            InvalidSchema::new(&format!("{at}{}", error.instance_path()), Violation::of(&error).reason)
        })?;
        let compiled = options
            .build(schema)
            .map_err(|error| InvalidSchema::new(&format!("{at}{}", error.schema_path()), unfit(&error)))?;
        Ok(Self { compiled, bounds })
    }

    pub fn violations(&self, item: &Value) -> Violations {
        let weight = Weight::of(item, self.bounds.growth.max(1));
        if self.bounds.growth > 0 && weight.levels * self.bounds.levels > limits::SCHEMA_RECURSION_LEVELS_MAX
        {
            let why = "is nested too deep to be held against its recursive schema";
            return Violations::one(Violation::new("", why));
        }
        if self.compiled.is_valid(item) {
            return Violations::default();
        }
        self.explained(item, &weight)
    }

    fn explained(&self, item: &Value, weight: &Weight) -> Violations {
        let unsaid = || Violation::new("", "does not match its schema, and is too large to say where");
        if weight.steps <= limits::SCHEMA_EXPLAIN_STEPS_MAX {
            let said = told(self.compiled.iter_errors(item));
            if !said.is_empty() {
                return said;
            }
        } else if self.bounds.growth <= 1
            && let Err(error) = self.compiled.validate(item)
        {
            return Violations::one(Violation::of(&error));
        }
        Violations::one(unsaid())
    }
}

/// The first violations. A part reached in several ways reports the same violation several times; duplicates
/// are removed.
fn told<'a>(errors: impl Iterator<Item = ValidationError<'a>>) -> Violations {
    let mut said = Violations::default();
    for error in errors {
        if said.first.len() < limits::VIOLATIONS_SHOWN_MAX {
            let violation = Violation::of(&error);
            if said.first.contains(&violation) {
                continue;
            }
            said.first.push(violation);
        }
        said.count += 1;
    }
    said
}

/// Why a part of a schema does not compile.
fn unfit(error: &ValidationError<'_>) -> String {
    match error.kind() {
        ValidationErrorKind::Format { .. } => {
            format!(
                "{} is no regular expression, or needs look-around, back-references or too much memory",
                error.instance()
            )
        }
        _ => error.to_string(),
    }
}

/// The cost of checking an item.
struct Weight {
    /// Values, counted once per recursion that may visit them.
    steps: u64,
    levels: usize,
}

impl Weight {
    fn of(value: &Value, growth: u64) -> Self {
        let mut weight = Self { steps: 0, levels: 0 };
        weight.add(value, growth, 1, 1);
        weight
    }

    fn add(&mut self, value: &Value, growth: u64, times: u64, level: usize) {
        self.steps = self.steps.saturating_add(times);
        self.levels = self.levels.max(level);
        let times = times.saturating_mul(growth);
        match value {
            Value::Array(list) => list.iter().for_each(|inner| self.add(inner, growth, times, level + 1)),
            Value::Object(map) => map.values().for_each(|inner| self.add(inner, growth, times, level + 1)),
            _ => {}
        }
    }
}

// Violations of an item: where and why.

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// A JSON pointer into the item; empty for the item as a whole.
    pub pointer: String,
    pub reason: String,
}

/// The first violations of an item, and their total number.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Violations {
    pub first: Vec<Violation>,
    pub count: u64,
}

impl Violation {
    pub fn new(pointer: impl Into<String>, reason: impl AsRef<str>) -> Self {
        let pointer = clipped(&pointer.into(), limits::VIOLATION_POINTER_CHARS_MAX);
        Self { pointer, reason: clipped(reason.as_ref(), limits::VIOLATION_REASON_CHARS_MAX) }
    }

    /// Short values are shown; a long one would hide the message.
    pub fn of(error: &ValidationError<'_>) -> Self {
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
    pub fn one(violation: Violation) -> Self {
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
mod violation_tests {
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
