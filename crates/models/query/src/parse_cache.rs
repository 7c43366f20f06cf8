//! A cache of parsed query texts.

use crate::bind::{Parameters, Settings};
use crate::error::QueryError;
use crate::limits;
use crate::parse;
use crate::plan::Rules;
use crate::prepare::{Prepared, parse_shared, plan_parsed};
use std::collections::HashMap;
use std::mem;
use std::sync::{Arc, Mutex, PoisonError};

/// Syntax trees of recently prepared query texts.
#[derive(Default)]
pub struct ParseCache(TextCache<parse::Query>);

impl ParseCache {
    /// [`crate::prepare_for`], reusing a cached syntax tree.
    pub fn prepare_for(
        &self,
        text: &str,
        parameters: &Parameters,
        rules: Rules,
        settings: &Settings,
    ) -> Result<Prepared, QueryError> {
        let ast = self.0.get_or_make(text, || parse_shared(text))?;
        plan_parsed(text, ast, parameters, rules, settings)
    }
}

/// A bounded map from text to a value built from it. Clients repeat the same few texts with different
/// parameters.
///
/// It has two generations: when the young one is full it replaces the old one, which is dropped.
pub struct TextCache<T> {
    generations: Mutex<Generations<T>>,
    max: usize,
}

struct Generations<T> {
    young: HashMap<Box<str>, Arc<T>>,
    old: HashMap<Box<str>, Arc<T>>,
}

impl<T> Default for TextCache<T> {
    fn default() -> Self {
        Self::new(limits::PARSE_CACHE_ENTRIES_MAX)
    }
}

impl<T> TextCache<T> {
    /// A cache for at most `max` texts.
    pub fn new(max: usize) -> Self {
        Self { generations: Mutex::new(Generations { young: HashMap::new(), old: HashMap::new() }), max }
    }

    /// `make` runs without a lock; errors are not cached.
    pub fn get_or_make<E>(&self, text: &str, make: impl FnOnce() -> Result<Arc<T>, E>) -> Result<Arc<T>, E> {
        match self.find(text) {
            Some(known) => Ok(known),
            None => make().map(|made| self.insert(text, made)),
        }
    }

    pub fn find(&self, text: &str) -> Option<Arc<T>> {
        let known = self.generations.lock().unwrap_or_else(PoisonError::into_inner);
        known.young.get(text).cloned().or_else(|| {
            let old = known.old.get(text).cloned();
            drop(known);
            old.map(|old| self.insert(text, old))
        })
    }

    /// Caches the value of a text, unless the text is too long.
    pub fn insert(&self, text: &str, made: Arc<T>) -> Arc<T> {
        if text.len() <= limits::PARSE_CACHE_TEXT_BYTES_MAX {
            let mut known = self.generations.lock().unwrap_or_else(PoisonError::into_inner);
            if known.young.len() >= self.max / 2 {
                known.old = mem::take(&mut known.young);
            }
            known.young.insert(text.into(), made.clone());
        }
        made
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_in_use_is_parsed_once_and_evicted_after_many_others() {
        let texts = ParseCache::default();
        let tree = |text: &str| {
            let prepared = texts.prepare_for(text, &[], Rules::On, &Settings::default());
            prepared.map(|prepared| prepared.ast)
        };
        let first = tree("SELECT VALUE 1").unwrap();
        assert_eq!(*first, parse::parse("SELECT VALUE 1").unwrap());
        let ask_others = |of: &str, count: usize| {
            (0..count).for_each(|at| drop(tree(&format!("SELECT VALUE '{of} {at}'")).unwrap()));
        };
        // Inserted young, then old; a lookup makes it young again.
        for of in ["a", "b", "c"] {
            ask_others(of, limits::PARSE_CACHE_ENTRIES_MAX / 2);
            assert!(Arc::ptr_eq(&first, &tree("SELECT VALUE 1").unwrap()), "{of}");
        }
        ask_others("d", limits::PARSE_CACHE_ENTRIES_MAX);
        assert!(!Arc::ptr_eq(&first, &tree("SELECT VALUE 1").unwrap()), "it is forgotten");
        let known = texts.0.generations.lock().unwrap();
        assert!(known.young.len() + known.old.len() <= limits::PARSE_CACHE_ENTRIES_MAX);
    }

    #[test]
    fn long_and_malformed_texts_are_not_cached() {
        let texts = ParseCache::default();
        let long = format!("SELECT VALUE '{}'", "x".repeat(limits::PARSE_CACHE_TEXT_BYTES_MAX));
        for text in [long.as_str(), "SELECT"] {
            let _ = texts.prepare_for(text, &[], Rules::On, &Settings::default());
        }
        assert!(texts.0.generations.lock().unwrap().young.is_empty());
    }

    /// A cached tree gives the same spans in binding errors as a new one.
    #[test]
    fn a_cached_text_gives_the_same_errors() {
        let texts = ParseCache::default();
        let ask = || texts.prepare_for("SELECT VALUE '🚀é' || x", &[], Rules::On, &Settings::default());
        assert_eq!(format!("{:?}", ask().unwrap_err()), format!("{:?}", ask().unwrap_err()));
    }
}
