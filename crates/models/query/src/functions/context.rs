//! The context of a function call: clock, randomness, and the budget of regular expressions.

use super::regex::{CompileError, Meter, Regex, Stop};
use crate::error::QueryError;
use crate::execute::Host;
use crate::limits;
use orrery_value::Value;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

/// The context of one execution of a query.
pub struct Context<'a> {
    /// Milliseconds since 1970; constant during an execution.
    now_ms: u64,
    host: &'a dyn Host,
    patterns: RefCell<HashMap<String, Result<Rc<Regex>, CompileError>>>,
    /// Steps taken by regular expressions so far.
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

    /// For a single call whose result depends only on its arguments.
    pub fn frozen() -> Context<'static> {
        Context::new(&FrozenHost)
    }

    pub fn now_ms(&self) -> u64 {
        self.now_ms
    }

    pub fn random(&self) -> f64 {
        self.host.random()
    }

    /// The meter of one call.
    pub(super) fn meter(&self) -> Meter<'_> {
        Meter::new(&self.regex_steps, self.host)
    }

    /// The compiled pattern, cached; `None` if it is malformed. A pattern that is too large fails the
    /// query.
    pub(super) fn regex(&self, pattern: &str) -> Option<Rc<Regex>> {
        let known = self.patterns.borrow().get(pattern).cloned();
        let compiled = known.unwrap_or_else(|| self.compile(pattern));
        if let Err(CompileError::TooLarge) = compiled {
            self.fail(too_large());
        }
        compiled.ok()
    }

    fn compile(&self, pattern: &str) -> Result<Rc<Regex>, CompileError> {
        // Compiling takes as long as many matching steps, and every document may bring its own pattern.
        self.match_result(self.meter().step(limits::REGEX_STEPS_MAX / 100));
        let compiled = Regex::compile(pattern).map(Rc::new);
        let mut patterns = self.patterns.borrow_mut();
        if patterns.len() >= limits::REGEX_CACHED_MAX {
            patterns.clear();
        }
        patterns.insert(pattern.to_owned(), compiled.clone());
        compiled
    }

    /// The result of a match; if matching stopped early, the query fails.
    pub(super) fn match_result<T>(&self, outcome: Result<T, Stop>) -> Option<T> {
        outcome.map_err(|stop| self.fail(sentence(stop))).ok()
    }

    fn fail(&self, error: QueryError) {
        self.failure.borrow_mut().get_or_insert(error);
    }

    /// Returns and clears the reason why a call failed the query.
    pub fn take_failure(&self) -> Option<QueryError> {
        self.failure.borrow_mut().take()
    }
}

/// A host whose clock and randomness are frozen.
struct FrozenHost;

impl Host for FrozenHost {
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

/// Refuses a pattern beyond the size limit.
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
