//! One atomic write: conditions, puts and log entries, first without and then with its LSN.

use crate::log::{self, LogEntry};
use crate::tally::Change;
use crate::{Error, Overlay, Read, Space, SpaceSet, overflow_key};
use bytes::Bytes;
use orrery_core::Lsn;

/// A value to store under a key; without a value, the removal of the key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Put {
    pub space: Space,
    pub key: Bytes,
    pub value: Option<Bytes>,
}

/// What must still hold when the batch commits.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Condition {
    pub space: Space,
    pub key: Bytes,
    pub expect: Expect,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Expect {
    Present,
    Absent,
    Is(Bytes),
}

impl Condition {
    /// Whether it holds on `state` under the puts in `newer`.
    pub fn holds(&self, state: &dyn Read, newer: &Overlay) -> Result<bool, Error> {
        let found = match newer.get(self.space, &self.key) {
            Some(value) => value.clone(),
            None => state.get(self.space, &self.key)?,
        };
        Ok(match &self.expect {
            Expect::Present => found.is_some(),
            Expect::Absent => found.is_none(),
            Expect::Is(value) => found.as_ref() == Some(value),
        })
    }
}

/// A batch without an LSN yet.
#[derive(Debug, Default)]
pub struct Batch {
    pub(crate) conditions: Vec<Condition>,
    pub(crate) puts: Vec<UnstampedPut>,
    blind: Vec<Put>,
    tallies: Vec<Change>,
    pub(crate) log: Vec<LogEntry>,
    /// Whether something was deleted for good.
    frees: bool,
}

/// A savepoint: the lengths of all lists of a batch.
#[derive(Clone, Copy, Debug)]
pub struct Mark {
    conditions: usize,
    pub(crate) puts: usize,
    blind: usize,
    tallies: usize,
    log: usize,
    frees: bool,
}

#[derive(Debug)]
pub(crate) struct UnstampedPut {
    pub space: Space,
    pub key: Bytes,
    pub value: Option<UnstampedValue>,
}

#[derive(Debug)]
pub(crate) enum UnstampedValue {
    Plain(Bytes),
    /// The LSN goes into the eight bytes at `at`, big-endian.
    Stamped {
        bytes: Vec<u8>,
        at: usize,
    },
    /// The LSN goes into the key.
    Overflow {
        bytes: Bytes,
        number: u32,
    },
}

impl UnstampedPut {
    /// The value as its own transaction reads it, with the stamp still zero.
    pub fn value(&self) -> Option<Bytes> {
        self.value.as_ref().map(|value| match value {
            UnstampedValue::Plain(bytes) | UnstampedValue::Overflow { bytes, .. } => bytes.clone(),
            UnstampedValue::Stamped { bytes, .. } => Bytes::copy_from_slice(bytes),
        })
    }
}

impl Batch {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn require(&mut self, condition: Condition) {
        self.conditions.push(condition);
    }

    pub fn put(&mut self, space: Space, key: Bytes, value: Bytes) {
        self.puts.push(UnstampedPut { space, key, value: Some(UnstampedValue::Plain(value)) });
    }

    /// Puts a value whose eight bytes at `at` become the LSN of the commit.
    pub fn put_stamped(&mut self, space: Space, key: Bytes, value: Vec<u8>, at: usize) {
        assert!(at + 8 <= value.len(), "the stamp lies inside the value");
        self.puts.push(UnstampedPut {
            space,
            key,
            value: Some(UnstampedValue::Stamped { bytes: value, at }),
        });
    }

    /// Puts an out-of-line value under the LSN of the commit and the returned number.
    pub fn put_overflow(&mut self, space: Space, value: Bytes) -> u32 {
        let number = self.puts.len() as u32;
        let (key, value) = (overflow_key(Lsn(0), number), UnstampedValue::Overflow { bytes: value, number });
        self.puts.push(UnstampedPut { space, key, value: Some(value) });
        number
    }

    pub fn delete(&mut self, space: Space, key: Bytes) {
        self.puts.push(UnstampedPut { space, key, value: None });
    }

    /// Marks the batch as one that deletes something for good: an item, a container, trimmed log
    /// entries.
    pub fn frees(&mut self) {
        self.frees = true;
    }

    /// Whether the batch leaves less data than before: it deletes something for good and stores none
    /// of its users' data.
    pub fn makes_room(&self, spaces: &SpaceSet) -> bool {
        let puts = self.puts.iter().filter(|put| put.value.is_some()).map(|put| put.space);
        let blind = self.blind.iter().filter(|put| put.value.is_some()).map(|put| put.space);
        self.frees && !puts.chain(blind).any(|space| spaces.is_user_data(space))
    }

    /// Puts or removes a row that no transaction reads, so it is not kept for the transactions that
    /// follow.
    pub fn put_blind(&mut self, space: Space, key: Bytes, value: Option<Bytes>) {
        self.blind.push(Put { space, key, value });
    }

    /// Adds to a count of a [`Tally`](crate::Tally); the commit writes the row.
    pub fn tally(&mut self, space: Space, key: Bytes, field: u64, by: i64) {
        self.tallies.push(Change { space, key, field, by });
    }

    /// Appends an entry to a stream of a log. `payload` is built by [`log_payload`](Self::log_payload).
    pub fn log(&mut self, space: Space, stream: u64, payload: Vec<u8>) {
        self.log.push(LogEntry::new(space, stream, payload));
    }

    /// Appends an entry whose eight bytes at `at` of its buffer become the LSN of the commit.
    pub fn log_stamped(&mut self, space: Space, stream: u64, payload: Vec<u8>, at: usize) {
        self.log.push(LogEntry::stamped(space, stream, payload, at));
    }

    /// A savepoint; [`truncate`](Self::truncate) returns to it.
    pub(crate) fn mark(&self) -> Mark {
        Mark {
            conditions: self.conditions.len(),
            puts: self.puts.len(),
            blind: self.blind.len(),
            tallies: self.tallies.len(),
            log: self.log.len(),
            frees: self.frees,
        }
    }

    pub(crate) fn truncate(&mut self, mark: Mark) {
        self.conditions.truncate(mark.conditions);
        self.puts.truncate(mark.puts);
        self.blind.truncate(mark.blind);
        self.tallies.truncate(mark.tallies);
        self.log.truncate(mark.log);
        self.frees = mark.frees;
    }

    /// An empty payload with room for `capacity` bytes; append to it and pass it to
    /// [`log`](Self::log).
    pub fn log_payload(capacity: usize) -> Vec<u8> {
        log::payload(capacity)
    }

    pub fn is_empty(&self) -> bool {
        self.puts.is_empty() && self.blind.is_empty() && self.log.is_empty()
    }

    /// Whether the conditions hold on this state; the commit checks them again.
    pub fn conditions_hold(&self, state: &dyn Read) -> Result<bool, Error> {
        for condition in &self.conditions {
            if !condition.holds(state, &Overlay::default())? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Assigns the LSN.
    pub fn stamp(self, lsn: Lsn) -> StampedBatch {
        let puts = self.puts.into_iter().map(|put| put.stamp(lsn));
        let mut batch = StampedBatch {
            lsn,
            conditions: self.conditions,
            puts: puts.collect(),
            blind: self.blind,
            tallies: self.tallies,
            log: self.log.into_iter().map(|line| line.stamp(lsn)).collect(),
            bytes: 0,
            frees: self.frees,
        };
        batch.bytes = batch.puts.iter().chain(&batch.blind).map(put_bytes).sum::<usize>()
            + batch.log.iter().map(LogEntry::bytes).sum::<usize>();
        batch
    }
}

fn put_bytes(put: &Put) -> usize {
    put.key.len() + put.value.as_ref().map_or(0, Bytes::len)
}

impl UnstampedPut {
    fn stamp(self, lsn: Lsn) -> Put {
        let Self { space, key, value } = self;
        let (key, value) = match value {
            None => (key, None),
            Some(UnstampedValue::Plain(bytes)) => (key, Some(bytes)),
            Some(UnstampedValue::Stamped { mut bytes, at }) => {
                bytes[at..at + 8].copy_from_slice(&lsn.0.to_be_bytes());
                (key, Some(Bytes::from(bytes)))
            }
            Some(UnstampedValue::Overflow { bytes, number }) => (overflow_key(lsn, number), Some(bytes)),
        };
        Put { space, key, value }
    }
}

/// A batch with its LSN; LSNs of batches given to [`Db::commit`](crate::Db::commit) ascend.
#[derive(Debug)]
pub struct StampedBatch {
    pub(crate) lsn: Lsn,
    pub(crate) conditions: Vec<Condition>,
    pub(crate) puts: Vec<Put>,
    pub(crate) blind: Vec<Put>,
    pub(crate) tallies: Vec<Change>,
    pub(crate) log: Vec<LogEntry>,
    bytes: usize,
    frees: bool,
}

impl StampedBatch {
    pub fn lsn(&self) -> Lsn {
        self.lsn
    }

    /// What later transactions may read.
    pub fn puts(&self) -> &[Put] {
        &self.puts
    }

    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Whether the batch leaves less data than before.
    pub fn makes_room(&self, spaces: &SpaceSet) -> bool {
        let stores = |put: &Put| put.value.is_some() && spaces.is_user_data(put.space);
        self.frees && !self.puts.iter().chain(&self.blind).any(stores)
    }

    pub fn is_empty(&self) -> bool {
        self.puts.is_empty() && self.blind.is_empty() && self.log.is_empty()
    }
}
