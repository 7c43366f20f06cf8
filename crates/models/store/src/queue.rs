//! What waits for the committer, in the order of LSNs.

use crate::store::CommitError;
use orrery_core::{Lsn, limits};
use orrery_kv::{Batch, StampedBatch};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
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
    /// The sizes of the last two groups.
    last_groups: [usize; 2],
    /// How many must wait before the committer, which is waiting for them, is woken.
    wake_at: usize,
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

/// How long the committer waits for writers that are on their way; about half the time of one sync.
const GATHER_MAX: Duration = Duration::from_micros(150);

pub(crate) type Answer = oneshot::Receiver<Result<Lsn, CommitError>>;

impl Queue {
    pub fn new(newest: Lsn) -> Self {
        let state = State {
            waiting: Vec::new(),
            bytes: 0,
            next_lsn: Lsn(newest.0 + 1),
            closed: false,
            last_groups: [0; 2],
            wake_at: 1,
        };
        Self { state: Mutex::new(state), filled: Condvar::new(), epoch: AtomicU64::new(0) }
    }

    /// Counts the failures so far; what was pending when it changes never became durable.
    pub fn epoch(&self) -> u64 {
        self.epoch.load(Ordering::Acquire)
    }

    /// Gives the batch its LSN, `least` or above, and its place; `with` sees it before the committer can.
    pub fn push(
        &self,
        batch: Batch,
        stripe: usize,
        epoch: u64,
        least: Lsn,
        with: impl FnOnce(&StampedBatch),
    ) -> Result<Answer, CommitError> {
        let mut state = self.state();
        state.check(self.epoch() == epoch)?;
        state.next_lsn = state.next_lsn.max(least);
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
        state.waiting.push(Waiting { work, answer });
        let is_wanted = state.waiting.len() == state.wake_at;
        drop(state);
        if is_wanted {
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
            state.wake_at = 1;
            state = self.filled.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state = self.gather(state);
        let (count, bytes) = group_size(&state.waiting);
        state.bytes -= bytes;
        state.last_groups = [count, state.last_groups[0]];
        if count == state.waiting.len() {
            return Some(std::mem::take(&mut state.waiting));
        }
        let rest = state.waiting.split_off(count);
        Some(std::mem::replace(&mut state.waiting, rest))
    }

    /// Lets a group grow while writers are on their way. Many who were answered a moment ago come back at once;
    /// taking the first few of them alone would spend a sync on each handful. A lone writer is never kept waiting.
    fn gather<'a>(&self, mut state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        let expected = (state.last_groups[0] + state.last_groups[1]) * 2 / 5;
        if state.waiting.len() >= expected || state.closed {
            return state;
        }
        state.wake_at = expected;
        let too_few = |state: &mut State| state.waiting.len() < expected && !state.closed;
        let gathered = self.filled.wait_timeout_while(state, GATHER_MAX, too_few);
        gathered.unwrap_or_else(PoisonError::into_inner).0
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
        let full = self.waiting.len() >= limits::COMMIT_QUEUE_TRANSACTIONS_MAX
            || self.bytes >= limits::COMMIT_QUEUE_BYTES_MAX;
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
