//! The checker: tries orders of the operations, as Wing and Gong did, and remembers where it has been.
//!
//! An operation may come next if no other one, still open, was answered before it was called. Two ways to the same
//! set of operations and the same state have the same future, so each is followed once.

use crate::history::{Answer, Event, Seen};
use crate::model::apply;
use std::collections::HashSet;

/// Operations of one history; a set of them is a word.
const EVENTS_MAX: usize = 64;

/// Whether some order of the operations, beginning without the item, explains every answer.
pub fn is_linearizable(history: &[Event]) -> bool {
    assert!(history.len() <= EVENTS_MAX, "a history has at most {EVENTS_MAX} operations");
    let certain = |event: &&(usize, &Event)| event.1.answer != Answer::Unknown;
    let events: Vec<(usize, &Event)> = history.iter().enumerate().collect();
    let all = events.iter().filter(certain).fold(0, |set, (index, _)| set | 1 << index);
    let mut search = Search { history, all, been: HashSet::new() };
    search.explains(0, None)
}

struct Search<'h> {
    history: &'h [Event],
    /// The operations that were answered; each must have its place.
    all: u64,
    been: HashSet<(u64, Option<Seen>)>,
}

impl Search<'_> {
    /// The depth is that of the history, which is short.
    fn explains(&mut self, done: u64, state: Option<Seen>) -> bool {
        if done & self.all == self.all {
            return true;
        }
        if !self.been.insert((done, state)) {
            return false;
        }
        let open = |index: &usize| done & (1 << index) == 0;
        let answers = (0..self.history.len()).filter(open).map(|index| self.ends(index));
        let first_answer = answers.min().unwrap_or(u64::MAX);
        for index in (0..self.history.len()).filter(open) {
            let event = self.history[index];
            if event.called < first_answer
                && let Some(next) = apply(state, event.call, event.answer)
                && self.explains(done | 1 << index, next)
            {
                return true;
            }
        }
        false
    }

    /// One that nobody answered may happen at any later time.
    fn ends(&self, index: usize) -> u64 {
        let event = self.history[index];
        if event.answer == Answer::Unknown { u64::MAX } else { event.answered }
    }
}
