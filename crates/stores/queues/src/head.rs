//! The head hint: a position of a queue before which there are no messages, so that a get does not walk over the
//! tombstones of all that were removed there.
//!
//! ```text
//! |..removed..|head  …  visible  …  now|  …  invisible  …
//!             └ a get begins here, and moves the head behind what it took
//! ```
//!
//! Invariant: every visibility row of the queue, durable or pending, is at or behind the head, except while a
//! transaction has failed and its [`HeadScan`] is about to reset the head. Bodies of transactions of one queue run one
//! after another, and change the head only while they run: an insert lowers it, a get raises it. A get that raised it and
//! does not commit leaves its messages before the head; so its guard resets the head to the beginning, whatever
//! happened meanwhile. What others read from the head before the reset must not raise it afterwards: resets are counted.
//!
//! Messages that are removed while they are invisible leave tombstones behind the head. When their time comes, a job in the
//! background moves the head over them, unless a get does so before.
//!
//! It is not stored. After a restart it is at the beginning, and the first get walks once.

use orrery_core::Timestamp;
use orrery_queues::Position;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

#[derive(Debug, Default)]
pub(crate) struct Head(Mutex<State>);

#[derive(Clone, Copy, Debug, Default)]
struct State {
    position: Position,
    resets: u64,
    /// The last position that a message was removed from, before its time came.
    removed: Position,
}

/// The use of the head by one operation, whose transaction may run several times.
#[derive(Debug)]
pub(crate) struct HeadScan<'a> {
    head: &'a Head,
    has_raised: AtomicBool,
}

/// Where one run of a get begins.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ScanStart {
    pub from: Position,
    resets: u64,
}

impl Head {
    pub fn position(&self) -> Position {
        self.state().position
    }

    /// Whether removed messages would be visible by now: the next get walks over them.
    pub fn has_removed_before(&self, now: Timestamp) -> bool {
        let state = self.state();
        state.position < state.removed.min(Position::after(now))
    }

    fn reset(&self) {
        let mut state = self.state();
        *state = State { position: Position::default(), resets: state.resets + 1, ..*state };
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<'a> HeadScan<'a> {
    pub fn new(head: &'a Head) -> Self {
        Self { head, has_raised: AtomicBool::new(false) }
    }

    /// Begins a run. If an earlier run raised the head, it was not committed.
    pub fn begin(&self) -> ScanStart {
        self.reset_if_raised();
        let State { position, resets, .. } = *self.head.state();
        ScanStart { from: position, resets }
    }

    /// All messages before `to` are taken or removed by this run.
    pub fn raise(&self, start: ScanStart, to: Position) {
        let mut state = self.head.state();
        if state.resets == start.resets && state.position < to {
            state.position = to;
            self.has_raised.store(true, Ordering::Release);
        }
    }

    /// A message comes to stand here.
    pub fn lower(&self, to: Position) {
        let mut state = self.head.state();
        state.position = state.position.min(to);
    }

    /// A message no longer stands here.
    pub fn remove(&self, from: Position) {
        let mut state = self.head.state();
        state.removed = state.removed.max(from);
    }

    pub fn committed(self) {
        self.has_raised.store(false, Ordering::Release);
    }

    fn reset_if_raised(&self) {
        if self.has_raised.swap(false, Ordering::AcqRel) {
            self.head.reset();
        }
    }
}

impl Drop for HeadScan<'_> {
    fn drop(&mut self) {
        self.reset_if_raised();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Position {
        Position { visible_at: Timestamp::from_millis(millis), ordinal: 0 }
    }

    fn raise_to(head: &Head, to: Position) {
        let scan = HeadScan::new(head);
        scan.raise(scan.begin(), to);
        scan.committed();
    }

    #[test]
    fn an_insert_lowers_the_head_and_a_get_raises_it() {
        let head = Head::default();
        raise_to(&head, at(10));
        assert_eq!(head.position(), at(10));
        HeadScan::new(&head).lower(at(20));
        assert_eq!(head.position(), at(10));
        HeadScan::new(&head).lower(at(5));
        assert_eq!(head.position(), at(5));
        raise_to(&head, at(3));
        assert_eq!(head.position(), at(5), "a get whose clock is late does not lower it");
    }

    #[test]
    fn a_get_that_is_not_committed_resets_the_head() {
        let head = Head::default();
        raise_to(&head, at(10));
        let scan = HeadScan::new(&head);
        scan.raise(scan.begin(), at(20));
        drop(scan);
        assert_eq!(head.position(), Position::default());
    }

    #[test]
    fn a_second_run_begins_before_what_the_first_one_took() {
        let head = Head::default();
        let scan = HeadScan::new(&head);
        scan.raise(scan.begin(), at(20));
        let again = scan.begin();
        assert_eq!(again.from, Position::default());
        scan.raise(again, at(20));
        scan.committed();
        assert_eq!(head.position(), at(20));
    }

    #[test]
    fn what_was_read_before_a_reset_does_not_raise_the_head() {
        let head = Head::default();
        let failed = HeadScan::new(&head);
        failed.raise(failed.begin(), at(10));
        let follower = HeadScan::new(&head);
        let start = follower.begin();
        drop(failed);
        follower.raise(start, at(20));
        follower.committed();
        assert_eq!(head.position(), Position::default());
    }
}
