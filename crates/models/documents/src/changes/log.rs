//! Log entries and the commits they form: what happened to an item, when, and the row it replaced
//! (`docs/formats/log.md`). An out-of-line text of that row stays until the entry is removed.

use crate::item::{ItemHead, ItemRow, LSN_AT};
use crate::row::{self, Row};
use crate::spaces::{INDEX, LOG};
use bytes::Bytes;
use orrery_catalog::Container;
use orrery_core::{Lsn, Timestamp};
use orrery_kv::{Batch, Error, LogRecord, Order, Read, Rows, Txn};
use std::collections::HashMap;

/// What an entry begins with, after its version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    Create = 1,
    Replace = 2,
    Delete = 3,
    /// A delete because its time to live had passed.
    Expire = 4,
}

const VERSION: u8 = 1;
const HEAD_BYTES: usize = 14;

/// An entry as it is stored. The key and the image are read in place.
#[derive(Clone, Debug)]
pub struct Entry {
    record: LogRecord,
    change: Change,
    at: Timestamp,
    key_end: usize,
}

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
    let mut entry = Batch::log_payload(HEAD_BYTES + key.len() + image.len());
    entry.extend_from_slice(&[VERSION, change as u8]);
    entry.extend_from_slice(&now.millis().to_be_bytes());
    entry.extend_from_slice(&(key.len() as u32).to_be_bytes());
    entry.extend_from_slice(key);
    let image_at = entry.len();
    entry.extend_from_slice(image);
    let stream = row::stream(container.number());
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

impl Entry {
    pub fn read(record: LogRecord) -> Result<Self, Error> {
        let damaged = |what: &str| Error::Corrupt(format!("the log entry of commit {} {what}", record.lsn));
        let payload = &record.payload;
        let Some((head, rest)) = payload.split_first_chunk::<HEAD_BYTES>() else {
            return Err(damaged("is shorter than its head"));
        };
        if head[0] != VERSION {
            return Err(damaged(&format!("has version {}", head[0])));
        }
        let change = match head[1] {
            1 => Change::Create,
            2 => Change::Replace,
            3 => Change::Delete,
            4 => Change::Expire,
            other => return Err(damaged(&format!("tells of a change {other}"))),
        };
        let number = |bytes: &[u8]| bytes.iter().fold(0u64, |word, byte| (word << 8) | u64::from(*byte));
        let key_bytes = number(&head[10..]) as usize;
        if key_bytes > rest.len() {
            return Err(damaged("does not hold its key"));
        }
        let at = Timestamp::from_millis(number(&head[2..10]));
        Ok(Self { change, at, key_end: HEAD_BYTES + key_bytes, record })
    }

    pub fn change(&self) -> Change {
        self.change
    }

    pub fn lsn(&self) -> Lsn {
        self.record.lsn
    }

    pub fn at(&self) -> Timestamp {
        self.at
    }

    /// The item's key.
    pub fn key(&self) -> &[u8] {
        &self.record.payload[HEAD_BYTES..self.key_end]
    }

    /// The row that was replaced or removed. A create has none, and an old replace may have lost it.
    pub fn image(&self) -> Result<Option<ItemHead>, Error> {
        let image = self.record.payload.slice(self.key_end..);
        if image.is_empty() { Ok(None) } else { ItemHead::read(image).map(Some) }
    }

    pub(super) fn bytes(&self) -> usize {
        self.record.payload.len()
    }

    pub(super) fn log_key(&self) -> Bytes {
        self.record.key()
    }

    /// What to store in its place when the image goes.
    pub(super) fn without_image(&self) -> Bytes {
        self.record.with_payload(&self.record.payload[..self.key_end])
    }
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
