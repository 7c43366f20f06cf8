//! Reads a JSON object member by member, with errors that name the member.
//!
//! `null` counts as absent, because some clients send every member they know. Unknown members are left over
//! and go into the response unchanged.

use crate::limits;
use orrery_core::InvalidName;
use serde_json::{Map, Value};

/// An object of a definition; `owner` is its name in messages.
pub(super) struct Members {
    owner: &'static str,
    map: Map<String, Value>,
}

impl Members {
    pub fn of(owner: &'static str, raw: Value) -> Result<Self, DefinitionError> {
        match raw {
            Value::Object(map) => Ok(Self { owner, map }),
            _ => Err(wrong_input(format!("The {owner} must be a JSON object."))),
        }
    }

    pub fn take(&mut self, name: &str) -> Option<Value> {
        self.map.shift_remove(name).filter(|value| !value.is_null())
    }

    pub fn string(&mut self, name: &str) -> Result<Option<String>, DefinitionError> {
        match self.take(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(self.must_be(name, "a string")),
        }
    }

    pub fn required_string(&mut self, name: &str) -> Result<String, DefinitionError> {
        let owner = self.owner;
        self.string(name)?.ok_or_else(|| wrong_input(format!("The {owner} has no '{name}'.")))
    }

    pub fn boolean(&mut self, name: &str) -> Result<Option<bool>, DefinitionError> {
        match self.take(name) {
            None => Ok(None),
            Some(Value::Bool(value)) => Ok(Some(value)),
            Some(_) => Err(self.must_be(name, "true or false")),
        }
    }

    pub fn integer(&mut self, name: &str) -> Result<Option<i64>, DefinitionError> {
        match self.take(name) {
            None => Ok(None),
            Some(value) => integer(&value).map(Some).ok_or_else(|| self.must_be(name, "an integer")),
        }
    }

    /// An absent list is an empty one.
    pub fn list(&mut self, name: &str) -> Result<Vec<Value>, DefinitionError> {
        let entries_max = limits::DEFINITION_LIST_ENTRIES_MAX;
        match self.take(name) {
            None => Ok(Vec::new()),
            Some(Value::Array(entries)) if entries.len() <= entries_max => Ok(entries),
            Some(Value::Array(_)) => Err(self.must_be(name, &format!("at most {entries_max} entries long"))),
            Some(_) => Err(self.must_be(name, "an array")),
        }
    }

    /// The members in `shown`, then the unknown ones.
    pub fn followed_by_rest(self, mut shown: Map<String, Value>) -> Value {
        shown.extend(self.map);
        Value::Object(shown)
    }

    fn must_be(&self, name: &str, what: &str) -> DefinitionError {
        wrong_input(format!("The '{name}' of the {} must be {what}.", self.owner))
    }
}

/// Parses a whole body: each policy is taken out, parsed, and its JSON added to the response in that order.
pub(super) struct Sections {
    body: Map<String, Value>,
    shown: Map<String, Value>,
}

impl Sections {
    pub fn new(body: Map<String, Value>) -> Self {
        Self { body, shown: Map::new() }
    }

    pub fn required<T>(&mut self, name: &str, parse: fn(Value) -> Parsed<T>) -> Result<T, DefinitionError> {
        self.optional(name, parse)?.ok_or_else(|| {
            invalid(format!("The container has no '{name}'. Add the member '{name}' to the request body."))
        })
    }

    /// An absent policy means an empty object.
    pub fn defaulted<T>(&mut self, name: &str, parse: fn(Value) -> Parsed<T>) -> Result<T, DefinitionError> {
        let raw = self.take(name).unwrap_or_else(|| Value::Object(Map::new()));
        Ok(self.show(name, parse(raw)?))
    }

    pub fn optional<T>(
        &mut self,
        name: &str,
        parse: impl Fn(Value) -> Parsed<T>,
    ) -> Result<Option<T>, DefinitionError> {
        match self.take(name) {
            None => Ok(None),
            Some(raw) => Ok(Some(self.show(name, parse(raw)?))),
        }
    }

    pub fn finish(mut self) -> Map<String, Value> {
        self.shown.extend(self.body);
        self.shown
    }

    fn take(&mut self, name: &str) -> Option<Value> {
        self.body.shift_remove(name).filter(|value| !value.is_null())
    }

    fn show<T>(&mut self, name: &str, (typed, json): (T, Value)) -> T {
        self.shown.insert(name.to_owned(), json);
        typed
    }
}

/// `30` and `30.0`, but not `30.5`.
pub(super) fn integer(value: &Value) -> Option<i64> {
    let exact = |float: f64| (float.fract() == 0.0 && float.abs() < 9e15).then_some(float as i64);
    value.as_i64().or_else(|| value.as_f64().and_then(exact))
}

/// Finds the entry of `table` ignoring case, so that responses have one spelling.
pub(super) fn spelled<T: Copy>(text: &str, table: &[(&'static str, T)]) -> Option<(&'static str, T)> {
    table.iter().copied().find(|(name, _)| name.eq_ignore_ascii_case(text))
}

// Errors of definitions.

/// The variants distinguish what a caller can do; the text names the member.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DefinitionError {
    /// The container's id is not a valid name.
    #[error(transparent)]
    InvalidName(#[from] InvalidName),
    /// The body is invalid; send a different one.
    #[error("{0}")]
    Invalid(String),
    /// The body is well formed, but an existing container does not permit the change.
    #[error("{0}")]
    Forbidden(String),
}

/// A parsed part of a definition, and its JSON as shown.
pub(super) type Parsed<T> = Result<(T, Value), DefinitionError>;

pub(super) fn invalid(message: impl Into<String>) -> DefinitionError {
    DefinitionError::Invalid(message.into())
}

/// A missing member, or one of the wrong type; the service's message ends after the first half.
pub(super) fn wrong_input(message: impl AsRef<str>) -> DefinitionError {
    invalid(format!("One of the specified inputs is invalid: {}", message.as_ref()))
}
