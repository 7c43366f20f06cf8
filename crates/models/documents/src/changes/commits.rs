//! The log of a container, commit by commit.

use super::entry::Entry;
use crate::row;
use crate::spaces::LOG;
use orrery_core::Lsn;
use orrery_kv::{Error, LogRecord, Order, Read, Rows};
use std::collections::HashMap;

/// The changes of one transaction, in the order in which it made them.
#[derive(Debug)]
pub(super) struct Commit {
    pub lsn: Lsn,
    pub entries: Vec<Entry>,
    /// For each entry, the next one about the same item.
    next: Vec<Option<usize>>,
}

impl Commit {
    fn new(lsn: Lsn, entries: Vec<Entry>) -> Self {
        let mut next = vec![None; entries.len()];
        if entries.len() > 1 {
            let mut last = HashMap::new();
            for (index, entry) in entries.iter().enumerate().rev() {
                next[index] = last.insert(entry.key(), index);
            }
        }
        Self { lsn, entries, next }
    }

    pub fn bytes(&self) -> usize {
        self.entries.iter().map(Entry::bytes).sum()
    }

    /// Whether a later entry of this commit is about the same item.
    pub fn is_changed_again(&self, index: usize) -> bool {
        self.next[index].is_some()
    }

    /// The next entry of this commit about the same item.
    pub fn next_of(&self, index: usize) -> Option<&Entry> {
        self.next[index].map(|next| &self.entries[next])
    }
}

/// The commits after `after` that changed items of the container.
pub(super) fn after(state: &dyn Read, container: u32, after: Lsn) -> Commits<'_> {
    let range = LogRecord::range(row::stream(container), Lsn(after.0.saturating_add(1)));
    Commits { rows: state.range(LOG, &range, Order::Ascending), next: None }
}

pub(super) struct Commits<'a> {
    rows: Rows<'a>,
    /// The first entry of the next commit.
    next: Option<Entry>,
}

impl Commits<'_> {
    fn entry(&mut self) -> Result<Option<Entry>, Error> {
        match self.rows.next() {
            None => Ok(None),
            Some(row) => Entry::read(LogRecord::read(&row?)?).map(Some),
        }
    }

    fn commit(&mut self) -> Result<Option<Commit>, Error> {
        let first = match self.next.take() {
            Some(first) => first,
            None => match self.entry()? {
                Some(first) => first,
                None => return Ok(None),
            },
        };
        let (lsn, mut entries) = (first.lsn(), vec![first]);
        while let Some(entry) = self.entry()? {
            if entry.lsn() != lsn {
                self.next = Some(entry);
                break;
            }
            entries.push(entry);
        }
        Ok(Some(Commit::new(lsn, entries)))
    }
}

impl Iterator for Commits<'_> {
    type Item = Result<Commit, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        self.commit().transpose()
    }
}

/// The entries of one commit.
pub(super) fn one(state: &dyn Read, container: u32, lsn: Lsn) -> Result<Vec<Entry>, Error> {
    let rows = state.range(LOG, &LogRecord::of_commit(row::stream(container), lsn), Order::Ascending);
    rows.map(|row| Entry::read(LogRecord::read(&row?)?)).collect()
}
