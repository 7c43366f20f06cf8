//! The policies that a container's items are indexed under: the newest, and older ones until every item has
//! been re-indexed.
//!
//! Each change of what is indexed starts a generation. An item's locator row records its generation, so its
//! index entries are always known exactly. A query may use an index that all generations have.

use super::rules::IndexRules;
use crate::definition::IndexingPolicy;
use crate::limits;
use serde_json::Value;
use std::sync::Arc;

#[derive(Clone, Debug)]
pub struct Generations {
    number: u8,
    rules: Arc<IndexRules>,
    /// Whether items without their own indexing directive are indexed.
    automatic: bool,
    older: Vec<Older>,
}

/// A generation that items may still be indexed under.
#[derive(Clone, Debug)]
pub struct Older {
    pub number: u8,
    /// The policy's JSON.
    pub policy: Value,
    rules: Arc<IndexRules>,
}

impl Older {
    pub fn new(number: u8, policy: Value) -> Option<Self> {
        let rules = Arc::new(IndexRules::new(&IndexingPolicy::read(policy.clone()).ok()?));
        Some(Self { number, policy, rules })
    }
}

impl Generations {
    pub fn new(number: u8, policy: &IndexingPolicy, older: Vec<Older>) -> Self {
        Self { number, rules: Arc::new(IndexRules::new(policy)), automatic: policy.automatic, older }
    }

    /// With another policy in place of the one whose JSON is `shown`; `None` if too many generations
    /// are pending.
    pub fn followed_by(&self, policy: &IndexingPolicy, shown: Value) -> Option<Self> {
        let mut next = Self::new(self.number, policy, self.older.clone());
        if *next.rules == *self.rules {
            return Some(next);
        }
        if next.older.len() + 1 >= limits::INDEX_GENERATIONS_MAX {
            return None;
        }
        next.older.push(Older { number: self.number, policy: shown, rules: self.rules.clone() });
        next.number = self.number.wrapping_add(1);
        Some(next)
    }

    /// Called when every item has been re-indexed.
    pub fn settled(&self) -> Self {
        Self { older: Vec::new(), ..self.clone() }
    }

    pub fn is_settled(&self) -> bool {
        self.older.is_empty()
    }

    pub fn number(&self) -> u8 {
        self.number
    }

    pub fn rules(&self) -> &IndexRules {
        &self.rules
    }

    pub fn older(&self) -> &[Older] {
        &self.older
    }

    pub fn is_automatic(&self) -> bool {
        self.automatic
    }

    /// The rules of a generation.
    pub fn of(&self, number: u8) -> Option<&IndexRules> {
        if number == self.number {
            return Some(&self.rules);
        }
        self.older.iter().find(|older| older.number == number).map(|older| &*older.rules)
    }

    /// Whether the predicate holds for the rules of every generation.
    pub fn all(&self, mut says: impl FnMut(&IndexRules) -> bool) -> bool {
        says(&self.rules) && self.older.iter().all(|older| says(&older.rules))
    }
}
