//! Removing every item of a partition, some at a time.
//!
//! What goes is decided when it begins: the items that are there. They have lower numbers than any that is made
//! later, so an item made meanwhile stays, and one that is written meanwhile goes. A partition that does not fit into
//! one transaction gets a row that says how far the work has come; whoever waits for it, or a restart, goes on there.
//!
//! A pass goes along the items in key order. One that took several transactions is followed by another, because an
//! item may have been renamed to a place behind it; the last pass is a whole one, or found nothing.

use crate::expiry;
use crate::item::{self, ItemHead, ItemRow, Removal};
use crate::limits;
use crate::row::{self, Row};
use crate::spaces::DOCUMENTS;
use orrery_catalog::Container;
use orrery_catalog::jobs::Step;
use orrery_core::Timestamp;
use orrery_kv::{Error, KeyRange, META, Order, Read, Txn};

/// How far the work has come.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Job {
    /// Items with lower numbers go.
    bound: u64,
    /// Whether this pass has removed any.
    has_removed: bool,
    /// The last key that this pass looked at; empty at its beginning.
    cursor: Vec<u8>,
}

impl Job {
    fn new(bound: u64) -> Self {
        Self { bound, has_removed: false, cursor: Vec::new() }
    }

    fn of(state: &dyn Read, container: u32, epk: &[u8]) -> Result<Option<Self>, Error> {
        let stored = state.get(META, &Row::Purge { container, epk }.key())?;
        let read = |bytes: bytes::Bytes| {
            let (bound, rest) = bytes.split_first_chunk()?;
            let (has_removed, cursor) = rest.split_first()?;
            let bound = u64::from_be_bytes(*bound);
            Some(Self { bound, has_removed: *has_removed == 1, cursor: cursor.to_vec() })
        };
        let damaged = || Error::Corrupt("a purge's row".into());
        stored.map(|bytes| read(bytes).ok_or_else(damaged)).transpose()
    }

    fn put(&self, txn: &mut Txn<'_>, container: u32, epk: &[u8]) {
        let value = [&self.bound.to_be_bytes()[..], &[u8::from(self.has_removed)], &self.cursor].concat();
        txn.put(META, Row::Purge { container, epk }.key(), value);
    }
}

/// Begins to remove the partition's items, those with numbers below `bound`, which is above all that are there. A
/// small partition is empty at once.
pub fn begin(
    txn: &mut Txn<'_>,
    container: &Container,
    epk: &[u8],
    now: Timestamp,
    bound: u64,
) -> Result<Step, Error> {
    let known = Job::of(txn, container.number(), epk)?;
    let is_known = known.is_some();
    let bound = known.map_or(bound, |job| job.bound.max(bound));
    txn.frees();
    slice(txn, container, epk, now, Job::new(bound), is_known)
}

/// Goes on with what was begun; done when there is nothing left to do.
pub fn step(txn: &mut Txn<'_>, container: &Container, epk: &[u8], now: Timestamp) -> Result<Step, Error> {
    match Job::of(txn, container.number(), epk)? {
        None => Ok(Step::Done),
        Some(job) => {
            txn.frees();
            slice(txn, container, epk, now, job, true)
        }
    }
}

/// Partitions whose removal is not done: container and effective partition key.
pub fn jobs(state: &dyn Read) -> Result<Vec<(u32, Vec<u8>)>, Error> {
    let rows = state.range(META, &row::purges(), Order::Ascending).take(limits::PURGES_PER_ROUND_MAX);
    rows.map(|row| row::read_purge(&row?.0).ok_or_else(|| Error::Corrupt("a purge's key".into()))).collect()
}

/// Forgets a removal whose container is gone.
pub fn forget(txn: &mut Txn<'_>, container: u32, epk: &[u8]) {
    txn.delete(META, Row::Purge { container, epk }.key());
}

/// What one transaction removes.
struct Doomed {
    items: Vec<(String, ItemRow)>,
    /// Where it stopped looking; `None` at the end of the partition.
    last: Option<Vec<u8>>,
}

fn slice(
    txn: &mut Txn<'_>,
    container: &Container,
    epk: &[u8],
    now: Timestamp,
    job: Job,
    is_known: bool,
) -> Result<Step, Error> {
    let doomed = doomed(txn, container, epk, &job)?;
    for (id, found) in &doomed.items {
        let why = if expiry::is_expired(container, found, now) { Removal::Expired } else { Removal::Deleted };
        item::remove(txn, container, epk, id, found, now, why)?;
    }
    let has_removed = job.has_removed || !doomed.items.is_empty();
    let next = match doomed.last {
        Some(cursor) => Job { bound: job.bound, has_removed, cursor },
        None if job.cursor.is_empty() || !has_removed => return Ok(done(txn, container, epk, is_known)),
        None => Job::new(job.bound),
    };
    next.put(txn, container.number(), epk);
    item::require_container(txn, container);
    Ok(Step::More)
}

fn done(txn: &mut Txn<'_>, container: &Container, epk: &[u8], is_known: bool) -> Step {
    if is_known {
        forget(txn, container.number(), epk);
    }
    Step::Done
}

fn doomed(txn: &Txn<'_>, container: &Container, epk: &[u8], job: &Job) -> Result<Doomed, Error> {
    let mut range = row::items_of_partition(container.number(), epk);
    if !job.cursor.is_empty() {
        range = KeyRange { start: [&job.cursor[..], &[0]].concat(), end: range.end };
    }
    let (mut items, mut bytes) = (Vec::new(), 0);
    for (looked, row) in txn.range(DOCUMENTS, &range, Order::Ascending).enumerate() {
        let (key, value) = row?;
        let found = ItemHead::read(value)?;
        if found.ordinal() < job.bound {
            let (_, id) = row::read_item(&key).ok_or_else(|| Error::Corrupt("an item's key".into()))?;
            bytes += found.text_length();
            items.push((id, found.whole(txn)?));
        }
        let is_full = items.len() >= limits::PURGE_ITEMS_MAX || bytes > limits::PURGE_BYTES_MAX;
        if is_full || looked + 1 >= limits::PURGE_ROWS_MAX {
            return Ok(Doomed { items, last: Some(key.to_vec()) });
        }
    }
    Ok(Doomed { items, last: None })
}
