//! What was asked of the server and what it answered: the auditor's input.

use crate::batches::BatchAttempt;
use crate::question::Question;
use std::collections::BTreeMap;

/// Names one attempt to write; it is stored in the item, so an item tells which attempt made it.
pub type Seq = u64;

/// A moment in the harness's own order of events. Larger is later; two are never equal.
pub type Tick = u64;

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key {
    pub partition: String,
    pub id: String,
}

/// One version of an item, as it was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    pub seq: Seq,
    pub etag: String,
}

/// All items there are at one moment.
pub type Items = BTreeMap<Key, Found>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    Write,
    Delete,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Answered as done; a write was answered with its tag.
    Acknowledged { etag: String, ended: Tick },
    /// Answered as not done.
    Refused,
    /// Never answered: it happened or it did not.
    Unknown,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operation {
    pub key: Key,
    pub seq: Seq,
    pub effect: Effect,
    /// The tag that a conditional write was built on.
    pub if_match: Option<String>,
    pub began: Tick,
    pub outcome: Outcome,
}

/// An attempt to give the container another indexing policy. One is over before the next is made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyChange {
    pub seq: Seq,
    pub outcome: Outcome,
}

/// A version that a reader was shown while the writers ran.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sighting {
    pub key: Key,
    pub seq: Seq,
    pub began: Tick,
    pub ended: Tick,
}

/// A question that was asked while the writers ran, and the rows of its answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    pub question: Question,
    pub rows: Vec<(Key, Seq)>,
    /// Each page is of a moment of its own.
    pub pages: usize,
    pub began: Tick,
    pub ended: Tick,
}

/// The highest LSN seen of each partition key range.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lsns(BTreeMap<String, u64>);

impl Lsns {
    pub fn raise(&mut self, range: &str, lsn: u64) {
        match self.0.get_mut(range) {
            Some(highest) => *highest = lsn.max(*highest),
            None => {
                self.0.insert(range.to_owned(), lsn);
            }
        }
    }

    pub fn merge(&mut self, other: &Self) {
        for (range, lsn) in &other.0 {
            self.raise(range, *lsn);
        }
    }

    pub fn get(&self, range: &str) -> Option<u64> {
        self.0.get(range).copied()
    }
}

/// What one task saw and did.
#[derive(Debug, Default)]
pub struct Record {
    pub operations: Vec<Operation>,
    pub sightings: Vec<Sighting>,
    pub asked: Vec<Asked>,
    /// In the order they were made.
    pub policies: Vec<PolicyChange>,
    pub batches: Vec<BatchAttempt>,
    pub lsns: Lsns,
    /// Replies that are wrong whatever else happened.
    pub trouble: Vec<String>,
}

impl Record {
    pub fn merge(&mut self, other: Self) {
        self.operations.extend(other.operations);
        self.sightings.extend(other.sightings);
        self.asked.extend(other.asked);
        self.policies.extend(other.policies);
        self.batches.extend(other.batches);
        self.lsns.merge(&other.lsns);
        self.trouble.extend(other.trouble);
    }
}
