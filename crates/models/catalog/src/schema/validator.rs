//! One compiled schema, and the violations of one item.
//!
//! Whether an item matches is decided first, which is quick and, under recursive schemas too, takes time in proportion to
//! the item: the crate remembers what it has decided. What is wrong is found out by another way through the schema that
//! remembers nothing. It is taken as far as its work is bounded, and else less is said.

use super::bounds::{self, Bounds};
use super::definition::{SchemaError, refused};
use super::violation::{Violation, Violations};
use jsonschema::error::ValidationErrorKind;
use jsonschema::{Draft, PatternOptions, ValidationError, draft202012};
use orrery_core::limits;
use serde_json::Value;

pub(super) struct Validator {
    compiled: jsonschema::Validator,
    bounds: Bounds,
}

impl Validator {
    /// `at` says where the schema is in what was given.
    pub fn compile(schema: &Value, at: &str) -> Result<Self, SchemaError> {
        let bounds = bounds::check(schema, at)?;
        // An engine without backtracking: a pattern takes time in proportion to the text, whatever it says.
        let patterns = PatternOptions::regex()
            .size_limit(limits::SCHEMA_PATTERN_BYTES_MAX)
            .dfa_size_limit(limits::SCHEMA_PATTERN_BYTES_MAX);
        let options = jsonschema::options()
            .with_draft(Draft::Draft202012)
            .offline()
            .should_validate_formats(false)
            .with_pattern_options(patterns);
        // What is wrong by the draft's own schema is an instance of that; what does not compile is a part of ours.
        draft202012::meta::validate(schema).map_err(|error| {
            refused(&format!("{at}{}", error.instance_path()), Violation::of(&error).reason)
        })?;
        let compiled = options
            .build(schema)
            .map_err(|error| refused(&format!("{at}{}", error.schema_path()), unfit(&error)))?;
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

/// The first of these. A part that several ways lead to says the same several times, which is told once.
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

/// Why a part of a schema cannot be compiled.
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

/// How much an item is to go through.
struct Weight {
    /// Values, each as often as it may be held against a recursion.
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
