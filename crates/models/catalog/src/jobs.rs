//! Background jobs that a catalog change creates: one row per job, written in the transaction of the change.
//!
//! A job's value records its progress. An empty or initial value is written here; the model that runs the job
//! owns the rest of its format.

use crate::row::{self, Row};
use bytes::Bytes;
use orrery_kv::{Error, META, Order, Read, Txn};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobKind {
    /// Remove every row of a dropped container.
    Sweep = 1,
    /// Rebuild the expiry rows of all items, because the container's TTL changed.
    Expiry = 2,
    /// Build the indexes of a new policy for all items.
    Index = 3,
    /// Remove the users and client encryption keys of a dropped database; the number is the database's.
    Database = 4,
    /// Remove the permissions of a dropped user; the number is the user's.
    User = 5,
}

/// Outcome of one step of background work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    More,
    /// Nothing to do until some time has passed.
    Waits,
    Done,
}

/// The key of a job's row, in the space `meta`.
pub fn key(kind: JobKind, container: u32) -> Bytes {
    Row::Job { kind, container }.key()
}

/// All pending jobs.
pub fn jobs(state: &dyn Read) -> Result<Vec<(JobKind, u32)>, Error> {
    let rows = state.range(META, &row::jobs(), Order::Ascending);
    rows.map(|row| row::read_job(&row?.0).ok_or_else(|| Error::Corrupt("a job's key".into()))).collect()
}

/// Progress of a rebuild of the expiry rows: the pass, its earliest start second, and the last key done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpiryJob {
    pub pass: u8,
    pub not_before: u64,
    pub cursor: Vec<u8>,
}

impl ExpiryJob {
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let (head, cursor) = bytes.split_at_checked(9)?;
        let not_before = head[1..].iter().fold(0, |word, byte| (word << 8) | u64::from(*byte));
        Some(Self { pass: head[0], not_before, cursor: cursor.to_vec() })
    }

    pub fn write(&self) -> Vec<u8> {
        [&[self.pass], &self.not_before.to_be_bytes()[..], &self.cursor].concat()
    }
}

/// Progress of an index build: its generation, the items done, the items when it began, and the last key
/// done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexJob {
    pub generation: u8,
    pub done: u64,
    pub total: u64,
    pub cursor: Vec<u8>,
}

impl IndexJob {
    pub fn of(state: &dyn Read, container: u32) -> Result<Option<Self>, Error> {
        let stored = state.get(META, &key(JobKind::Index, container))?;
        let job = stored.map(|bytes| Self::read(&bytes).ok_or_else(|| Error::Corrupt("an index job".into())));
        job.transpose()
    }

    fn read(bytes: &[u8]) -> Option<Self> {
        let (generation, rest) = bytes.split_first()?;
        let (done, rest) = rest.split_first_chunk()?;
        let (total, cursor) = rest.split_first_chunk()?;
        let [done, total] = [done, total].map(|word| u64::from_be_bytes(*word));
        Some(Self { generation: *generation, done, total, cursor: cursor.to_vec() })
    }

    pub fn put(&self, txn: &mut Txn<'_>, container: u32) {
        let Self { generation, done, total, cursor } = self;
        let value = [&[*generation], &done.to_be_bytes()[..], &total.to_be_bytes(), cursor].concat();
        txn.put(META, key(JobKind::Index, container), value);
    }
}

/// Schedules the removal of a dropped container's rows.
pub fn schedule_sweep(txn: &mut Txn<'_>, container: u32) {
    txn.put(META, key(JobKind::Sweep, container), Bytes::new());
}

/// Schedules new expiry rows for every item of the container, because its TTL changed.
pub(crate) fn schedule_expiry(txn: &mut Txn<'_>, container: u32) {
    let job = ExpiryJob { pass: 1, not_before: 0, cursor: Vec::new() };
    txn.put(META, key(JobKind::Expiry, container), job.write());
}

/// Schedules the indexing of every item under the container's newest generation. The first step counts them.
pub(crate) fn schedule_index(txn: &mut Txn<'_>, container: u32, generation: u8) {
    IndexJob { generation, done: 0, total: 0, cursor: Vec::new() }.put(txn, container);
}

/// Deletes a job that is done, or whose container is gone.
pub fn forget(txn: &mut Txn<'_>, kind: JobKind, container: u32) {
    txn.delete(META, key(kind, container));
}
