//! What waits for the committer, in the order of LSNs.

use crate::error::CommitError;
use crate::limits;
use orrery_core::Lsn;
use orrery_kv::{Batch, StampedBatch};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::oneshot;

pub(crate) struct Queue {
    state: Mutex<State>,
    /// For the committer that has the turn: enough is waiting, or a lone writer gave the turn back.
    filled: Condvar,
    /// For the committer without it.
    turn_over: Condvar,
    epoch: AtomicU64,
}

struct State {
    waiting: Vec<Waiting>,
    bytes: usize,
    next_lsn: Lsn,
    closed: bool,
    /// The sizes of the last two groups.
    last_groups: [usize; 2],
    /// The number of waiting entries at which the committer is woken.
    wake_at: usize,
    turn: Turn,
}

/// Whose turn it is to commit: groups are committed one after another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Turn {
    Free,
    /// A committer waits for work.
    Waiting,
    /// A committer commits a group, or lets one grow.
    Committing,
    /// A writer commits its own batch; a committer waits for it to end.
    LentToWriter,
}

/// A transaction and its writer's channel. No work: the asker waits until everything before is durable.
pub(crate) struct Waiting {
    pub work: Option<Work>,
    pub answer: oneshot::Sender<Result<Lsn, CommitError>>,
}

pub(crate) struct Work {
    pub batch: StampedBatch,
    pub stripe: usize,
}

/// What one engine write and one sync make durable.
pub(crate) type Group = Vec<Waiting>;

/// How long the committer waits for writers that are on their way; about half the time of one sync.
const GATHER_MAX: Duration = Duration::from_micros(150);

pub(crate) type Answer = oneshot::Receiver<Result<Lsn, CommitError>>;

/// Where a batch went.
pub(crate) enum Pushed {
    /// A committer will commit it.
    Queued(Answer),
    /// Nobody else writes: the turn is lent to the writer, who must commit the group and give it back.
    Lone(Group, Answer),
}

impl Queue {
    pub fn new(newest: Lsn) -> Self {
        let state = State {
            waiting: Vec::new(),
            bytes: 0,
            next_lsn: Lsn(newest.0 + 1),
            closed: false,
            last_groups: [0; 2],
            wake_at: 1,
            turn: Turn::Free,
        };
        let (filled, turn_over) = (Condvar::new(), Condvar::new());
        Self { state: Mutex::new(state), filled, turn_over, epoch: AtomicU64::new(0) }
    }

    /// Counts the failures so far; what was pending when it changes never became durable.
    pub fn epoch(&self) -> u64 {
        self.epoch.load(Ordering::Acquire)
    }

    /// Gives the batch its LSN, `least` or above, and its place; `with` sees it before the committer can. A writer that
    /// `may_commit` gets the turn instead of a place if no one else has been writing lately.
    pub fn push(
        &self,
        batch: Batch,
        stripe: usize,
        epoch: u64,
        least: Lsn,
        may_commit: bool,
        with: impl FnOnce(&StampedBatch),
    ) -> Result<Pushed, CommitError> {
        orrery_core::tour_step!();
        let mut state = self.state();
        state.check(self.epoch() == epoch)?;
        state.next_lsn = state.next_lsn.max(least);
        let batch = batch.stamp(state.next_lsn);
        state.next_lsn.0 += 1;
        with(&batch);
        if may_commit && state.is_quiet() {
            state.turn = Turn::LentToWriter;
            let (answer, receiver) = oneshot::channel();
            let group = vec![Waiting { work: Some(Work { batch, stripe }), answer }];
            return Ok(Pushed::Lone(group, receiver));
        }
        state.bytes += batch.bytes();
        Ok(Pushed::Queued(self.enqueue(state, Some(Work { batch, stripe }))))
    }

    /// Ends the turn that [`push`](Self::push) lent to a writer.
    pub fn give_turn_back(&self) {
        let mut state = self.state();
        debug_assert_eq!(state.turn, Turn::LentToWriter);
        state.turn = Turn::Waiting;
        let is_wanted = !state.waiting.is_empty() || state.closed;
        drop(state);
        if is_wanted {
            self.filled.notify_one();
        }
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

    /// The next group; waits for the turn and for work. `None` when the queue is closed and empty. The turn is the
    /// caller's until [`end_turn`](Self::end_turn).
    pub fn take_group(&self) -> Option<Group> {
        let mut state = self.state();
        while state.turn != Turn::Free {
            state = self.turn_over.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.turn = Turn::Waiting;
        while state.waiting.is_empty() || state.turn == Turn::LentToWriter {
            if state.closed && state.turn == Turn::Waiting {
                drop(state);
                self.end_turn();
                return None;
            }
            state.wake_at = 1;
            state = self.filled.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.turn = Turn::Committing;
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

    /// Lets the next committer have the turn.
    pub fn end_turn(&self) {
        self.state().turn = Turn::Free;
        self.turn_over.notify_one();
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
        self.filled.notify_all();
        self.turn_over.notify_all();
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

    /// Whether a writer can commit without anyone waiting behind it: a committer is idle, and the last groups were of
    /// one transaction each.
    fn is_quiet(&self) -> bool {
        self.turn == Turn::Waiting
            && self.waiting.is_empty()
            && self.last_groups.iter().all(|&count| count <= 1)
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
