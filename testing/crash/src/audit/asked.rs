//! Answers that were given while items changed: what must be in them, and what must not.
//!
//! At the moment of a question an item may have had any version that no certain one had replaced before the
//! question was sent, and that was sent before the answer came. If each of these matches, the item must be there; where
//! the answer came on several pages, sorted, each must also have the same place in it.

use super::{Event, Leaves, Violation};
use crate::history::{Asked, Key, Seq};
use std::collections::BTreeMap;

/// A question and its answer, ready to be looked at for many items.
pub(super) struct Looked<'a> {
    asked: &'a Asked,
    rows: BTreeMap<&'a Key, Seq>,
}

impl<'a> Looked<'a> {
    pub(super) fn new(asked: &'a Asked) -> Self {
        Self { asked, rows: asked.rows.iter().map(|(key, seq)| (key, *seq)).collect() }
    }

    pub(super) fn audit(&self, key: &Key, events: &[Event<'_>]) -> Option<Violation> {
        let question = &self.asked.question;
        match self.rows.get(key) {
            Some(seq) if question.matches(key, *seq) => None,
            Some(seq) => Some(Violation::Misfit { key: key.clone(), seq: *seq, question: question.text() }),
            None => {
                let seq = self.certain_match(key, events)?;
                Some(Violation::Missed { key: key.clone(), seq, question: question.text() })
            }
        }
    }

    /// The last version that the item had, if whatever it had at that moment matches.
    fn certain_match(&self, key: &Key, events: &[Event<'_>]) -> Option<Seq> {
        let question = &self.asked.question;
        let mut seqs = Vec::new();
        for event in events.iter().filter(|event| self.is_possible(event, events)) {
            if event.leaves == Leaves::Nothing || !question.matches(key, event.seq) {
                return None;
            }
            seqs.push(event.seq);
        }
        let is_one_moment = self.asked.pages == 1;
        seqs.last().copied().filter(|_| is_one_moment || question.stays_in_place(&seqs))
    }

    fn is_possible(&self, event: &Event<'_>, events: &[Event<'_>]) -> bool {
        let replaced =
            |later: &Event<'_>| later.certain && later.began > event.ended && later.ended < self.asked.began;
        event.began < self.asked.ended && !events.iter().any(replaced)
    }
}
