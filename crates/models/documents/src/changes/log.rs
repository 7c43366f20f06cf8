//! Log entries and the commits they form: what happened to an item, when, and the row it replaced
//! (`docs/formats/log.md`). An out-of-line text of that row stays until the entry is removed.

use crate::item::{ItemHead, ItemRow, LSN_AT};
use crate::row::{self, Row};
use crate::spaces::{INDEX, LOG};
use orrery_catalog::Container;
use orrery_catalog::change_log;
use orrery_core::{Lsn, Timestamp};
use orrery_kv::{Error, LogRecord, Order, Read, Rows, Txn};
use std::collections::HashMap;

pub use orrery_catalog::change_log::{Change, Entry};

/// Appends an entry, and notes beside the version that ends here which commit ended it.
pub(crate) fn log(
    txn: &mut Txn<'_>,
    container: &Container,
    change: Change,
    key: &[u8],
    now: Timestamp,
    old: Option<&ItemRow>,
) {
    let image = old.map_or(&[][..], |old| old.bytes());
    let (entry, image_at) = change_log::payload(change, now, key, image);
    let stream = change_log::stream(container.number());
    match old {
        // What this very transaction wrote gets its LSN with the commit, in the image too.
        Some(old) if old.lsn() == Lsn(0) => txn.log_stamped(LOG, stream, entry, image_at + LSN_AT),
        _ => txn.log(LOG, stream, entry),
    }
    // A version of this same commit has no LSN yet, and its end stands beside its beginning.
    if let Some(since) = old.map(|old| old.lsn()).filter(|lsn| *lsn > Lsn(0)) {
        let item = row::without_container(key);
        let successor = Row::Successor { container: container.number(), lsn: since, item };
        txn.put_stamped(INDEX, successor.key(), vec![0; 8], 0);
    }
}

/// The item that an entry's change replaced or removed.
pub(crate) fn replaced(entry: &Entry) -> Result<Option<ItemHead>, Error> {
    entry.image().map(ItemHead::read).transpose()
}

// The log of a container, commit by commit.

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
    let range = LogRecord::range(change_log::stream(container), Lsn(after.0.saturating_add(1)));
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
    let rows = state.range(LOG, &LogRecord::of_commit(change_log::stream(container), lsn), Order::Ascending);
    rows.map(|row| Entry::read(LogRecord::read(&row?)?)).collect()
}
