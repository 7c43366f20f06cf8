//! What waits for the committer, in the order of LSNs.

use crate::store::CommitError;
use orrery_core::{Lsn, limits};
use orrery_kv::{Batch, StampedBatch};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use tokio::sync::oneshot;

pub(crate) struct Queue {
    state: Mutex<State>,
    filled: Condvar,
    epoch: AtomicU64,
}

struct State {
    waiting: Vec<Waiting>,
    bytes: usize,
    next_lsn: Lsn,
    closed: bool,
}

/// A transaction and whom to tell. No work: somebody who waits until everything before is durable.
pub(crate) struct Waiting {
    pub work: Option<Work>,
    pub answer: oneshot::Sender<Result<Lsn, CommitError>>,
}

pub(crate) struct Work {
    pub batch: StampedBatch,
    pub stripe: usize,
}

pub(crate) type Answer = oneshot::Receiver<Result<Lsn, CommitError>>;

impl Queue {
    pub fn new(newest: Lsn) -> Self {
        let state = State { waiting: Vec::new(), bytes: 0, next_lsn: Lsn(newest.0 + 1), closed: false };
        Self { state: Mutex::new(state), filled: Condvar::new(), epoch: AtomicU64::new(0) }
    }

    /// Counts the failures so far; what was pending when it changes never became durable.
    pub fn epoch(&self) -> u64 {
        self.epoch.load(Ordering::Acquire)
    }

    /// Gives the batch its LSN and its place; `with` sees it before the committer can.
    pub fn push(
        &self,
        batch: Batch,
        stripe: usize,
        epoch: u64,
        with: impl FnOnce(&StampedBatch),
    ) -> Result<Answer, CommitError> {
        let mut state = self.state();
        state.check(self.epoch() == epoch)?;
        let batch = batch.stamp(state.next_lsn);
        state.next_lsn.0 += 1;
        state.bytes += batch.bytes();
        with(&batch);
        Ok(self.enqueue(state, Some(Work { batch, stripe })))
    }

    /// An answer that comes when everything pushed before is durable.
    pub fn barrier(&self, epoch: u64) -> Result<Answer, CommitError> {
        let state = self.state();
        state.check(self.epoch() == epoch)?;
        Ok(self.enqueue(state, None))
    }

    fn enqueue(&self, mut state: MutexGuard<'_, State>, work: Option<Work>) -> Answer {
        let (answer, receiver) = oneshot::channel();
        let was_empty = state.waiting.is_empty();
        state.waiting.push(Waiting { work, answer });
        drop(state);
        if was_empty {
            self.filled.notify_one();
        }
        receiver
    }

    /// The next group; waits for one. `None` when the queue is closed and empty.
    pub fn take_group(&self) -> Option<Vec<Waiting>> {
        let mut state = self.state();
        while state.waiting.is_empty() {
            if state.closed {
                return None;
            }
            state = self.filled.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        let (count, bytes) = group_size(&state.waiting);
        state.bytes -= bytes;
        if count == state.waiting.len() {
            return Some(std::mem::take(&mut state.waiting));
        }
        let rest = state.waiting.split_off(count);
        Some(std::mem::replace(&mut state.waiting, rest))
    }

    /// Begins a new epoch: everything that waits must be run again, because it may rest on what failed.
    pub fn abort_all(&self) -> Vec<Waiting> {
        let mut state = self.state();
        self.epoch.fetch_add(1, Ordering::AcqRel);
        state.bytes = 0;
        std::mem::take(&mut state.waiting)
    }

    /// Takes no more; what waits is still committed.
    pub fn close(&self) {
        self.state().closed = true;
        self.filled.notify_one();
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn check(&self, same_epoch: bool) -> Result<(), CommitError> {
        if self.closed {
            return Err(CommitError::Closed);
        }
        if !same_epoch {
            return Err(CommitError::Aborted);
        }
        let full = self.waiting.len() >= limits::COMMIT_QUEUE_TRANSACTIONS_MAX || self.bytes >= limits::COMMIT_QUEUE_BYTES_MAX;
        if full { Err(CommitError::Busy) } else { Ok(()) }
    }
}

fn group_size(waiting: &[Waiting]) -> (usize, usize) {
    let mut bytes = 0;
    for (count, next) in waiting.iter().enumerate() {
        let size = next.work.as_ref().map_or(0, |work| work.batch.bytes());
        let full = count == limits::GROUP_TRANSACTIONS_MAX || bytes + size > limits::GROUP_BYTES_MAX;
        if full && count > 0 {
            return (count, bytes);
        }
        bytes += size;
    }
    (waiting.len(), bytes)
}
