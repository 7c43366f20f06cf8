//! What a function may know beside its arguments.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

/// The world of one execution of a query.
pub struct Context<'a> {
    /// Milliseconds since 1970; the same for the whole execution.
    now_ms: u64,
    /// A number in `[0, 1)`, another one each time.
    random: &'a dyn Fn() -> f64,
    patterns: RefCell<HashMap<String, Option<Rc<fancy_regex::Regex>>>>,
}

/// Compiled patterns kept for one execution; a query whose patterns come from documents may have many.
const PATTERNS_MAX: usize = 64;
/// Steps a pattern with look-around or back-references may take on one string.
const PATTERN_STEPS_MAX: usize = 100_000;

impl<'a> Context<'a> {
    pub fn new(now_ms: u64, random: &'a dyn Fn() -> f64) -> Self {
        Self { now_ms, random, patterns: RefCell::default() }
    }

    pub fn now_ms(&self) -> u64 {
        self.now_ms
    }

    pub fn random(&self) -> f64 {
        (self.random)()
    }

    /// The pattern, compiled once; `None` if it is none.
    pub fn regex(&self, pattern: &str) -> Option<Rc<fancy_regex::Regex>> {
        let mut patterns = self.patterns.borrow_mut();
        if let Some(known) = patterns.get(pattern) {
            return known.clone();
        }
        if patterns.len() >= PATTERNS_MAX {
            patterns.clear();
        }
        let compiled = fancy_regex::RegexBuilder::new(pattern).backtrack_limit(PATTERN_STEPS_MAX).build();
        let compiled = compiled.ok().map(Rc::new);
        patterns.insert(pattern.to_owned(), compiled.clone());
        compiled
    }
}
