//! What a function may know beside its arguments.

use super::regex::{CompileError, Meter, Regex, Stop};
use crate::error::QueryError;
use crate::execute::Host;
use crate::limits;
use orrery_value::Value;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

/// The world of one execution of a query.
pub struct Context<'a> {
    /// Milliseconds since 1970; the same for the whole execution.
    now_ms: u64,
    host: &'a dyn Host,
    patterns: RefCell<HashMap<String, Result<Rc<Regex>, CompileError>>>,
    /// Steps that regular expressions took so far.
    regex_steps: Cell<u64>,
    failure: RefCell<Option<QueryError>>,
}

impl<'a> Context<'a> {
    pub fn new(host: &'a dyn Host) -> Self {
        Self {
            now_ms: host.now_ms(),
            host,
            patterns: RefCell::default(),
            regex_steps: Cell::new(0),
            failure: RefCell::new(None),
        }
    }

    /// For one call whose answer is in its arguments.
    pub fn still() -> Context<'static> {
        Context::new(&Still)
    }

    pub fn now_ms(&self) -> u64 {
        self.now_ms
    }

    pub fn random(&self) -> f64 {
        self.host.random()
    }

    /// What one call may cost.
    pub(super) fn meter(&self) -> Meter<'_> {
        Meter::new(&self.regex_steps, self.host)
    }

    /// The pattern, compiled once; `None` if it is none. One that is too large fails the query.
    pub(super) fn regex(&self, pattern: &str) -> Option<Rc<Regex>> {
        let known = self.patterns.borrow().get(pattern).cloned();
        let compiled = known.unwrap_or_else(|| self.compile(pattern));
        if let Err(CompileError::TooLarge) = compiled {
            self.fail(too_large());
        }
        compiled.ok()
    }

    fn compile(&self, pattern: &str) -> Result<Rc<Regex>, CompileError> {
        // Compiling takes as long as many steps, and a query may find a pattern in every document.
        self.given_up(self.meter().step(limits::REGEX_STEPS_MAX / 100));
        let compiled = Regex::compile(pattern).map(Rc::new);
        let mut patterns = self.patterns.borrow_mut();
        if patterns.len() >= limits::REGEX_CACHED_MAX {
            patterns.clear();
        }
        patterns.insert(pattern.to_owned(), compiled.clone());
        compiled
    }

    /// The value of a match, unless it was given up: then the query fails.
    pub(super) fn given_up<T>(&self, outcome: Result<T, Stop>) -> Option<T> {
        outcome.map_err(|stop| self.fail(sentence(stop))).ok()
    }

    fn fail(&self, error: QueryError) {
        self.failure.borrow_mut().get_or_insert(error);
    }

    /// Why a call since the last time fails the query.
    pub fn take_failure(&self) -> Option<QueryError> {
        self.failure.borrow_mut().take()
    }
}

/// A world in which nothing happens.
struct Still;

impl Host for Still {
    fn now_ms(&self) -> u64 {
        0
    }

    fn random(&self) -> f64 {
        0.0
    }

    fn elapsed_ms(&self) -> u64 {
        0
    }

    fn udf(&self, _name: &str, _args: &[Value]) -> Result<Value, QueryError> {
        Ok(Value::Undefined)
    }
}

/// Refuses a pattern that is larger than any may be.
pub(crate) fn check_pattern(pattern: &str, modifiers: &str) -> Result<(), QueryError> {
    let translated = super::pattern::with_modifiers(pattern, modifiers);
    match translated.map(|pattern| Regex::compile(&pattern)) {
        Some(Err(CompileError::TooLarge)) => Err(too_large()),
        _ => Ok(()),
    }
}

fn too_large() -> QueryError {
    QueryError::Refused(format!(
        "The regular expression is too large: its text may have {} KB and 64 levels, what it is compiled to {} MB, and one that looks around or refers back {} classes of characters.",
        limits::REGEX_PATTERN_BYTES_MAX / 1024,
        limits::REGEX_BYTES_MAX / 1024 / 1024,
        limits::REGEX_CLASSES_MAX
    ))
}

fn sentence(stop: Stop) -> QueryError {
    match stop {
        Stop::TooManySteps => QueryError::Refused(format!(
            "The regular expression takes more than {} million steps on one string; it backtracks too much. Repeat less inside repetitions, or do without back-references and look-around.",
            limits::REGEX_STEPS_MAX / 1_000_000
        )),
        Stop::TooMuchMemory => QueryError::Refused(format!(
            "The regular expression needs more than {} MB on one string; repeat something simpler than a group, or match a shorter string.",
            limits::REGEX_STACK_BYTES_MAX / 1024 / 1024
        )),
        Stop::TooMuchWork => QueryError::Refused(
            "The regular expression is too large for a string of this length; shorten its repetitions, or match a part of the string.".to_owned(),
        ),
        Stop::PageSpent => QueryError::TooLong(
            "The regular expression takes too many steps on all items together; narrow the query with another filter.".to_owned(),
        ),
        Stop::TooLong => QueryError::too_long(),
    }
}
