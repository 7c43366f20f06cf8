//! What was done to messages and what was answered: the input of the audit of queues.

use crate::history::{Seq, Tick};
use std::collections::BTreeMap;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    Put,
    /// A delivery, and how often the message had been got by then.
    Get {
        count: u32,
    },
    Update,
    Delete,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    Done,
    /// The receipt does not fit.
    Mismatch,
    /// There is no such message.
    Missing,
    /// Never answered: it happened or it did not.
    Unknown,
}

/// One attempt to do something to one message. Gets that were never answered are [`OpenGet`]s.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessageOperation {
    /// The attempt that put the message; it is in the message's text.
    pub message: Seq,
    pub act: Act,
    /// The receipt that an update or a delete showed.
    pub shown: Option<String>,
    /// The receipt that was answered.
    pub given: Option<String>,
    /// Which attempt's text the message has: what a put or an update wrote, or a get found.
    pub text: Option<Seq>,
    /// Until when nobody else is given the message, by the clock, if this is done; no later than it really is.
    pub hidden_until_ms: u64,
    pub began: Tick,
    /// `Tick::MAX` if it was never answered.
    pub ended: Tick,
    pub outcome: Outcome,
}

impl MessageOperation {
    pub fn is_done(&self) -> bool {
        self.outcome == Outcome::Done
    }

    /// Whether it may have happened.
    pub fn is_possible(&self) -> bool {
        matches!(self.outcome, Outcome::Done | Outcome::Unknown)
    }
}

/// A get without an answer: it may have taken any message that was visible before its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenGet {
    pub began: Tick,
    /// By the clock.
    pub ended_ms: u64,
}

/// What one task did to messages.
#[derive(Debug, Default)]
pub struct MessageRecord {
    pub operations: Vec<MessageOperation>,
    pub open_gets: Vec<OpenGet>,
    /// The id that the queue gave each message.
    pub ids: BTreeMap<Seq, String>,
    /// Replies that are wrong whatever else happened.
    pub trouble: Vec<String>,
}

impl MessageRecord {
    /// A message that has two ids is two messages.
    pub fn note(&mut self, message: Seq, id: &str) {
        let known = self.ids.entry(message).or_insert_with(|| id.to_owned());
        if known != id {
            self.trouble.push(format!("message {message} is there twice, as {known} and as {id}"));
        }
    }

    pub fn merge(&mut self, other: Self) {
        other.ids.iter().for_each(|(message, id)| self.note(*message, id));
        self.operations.extend(other.operations);
        self.open_gets.extend(other.open_gets);
        self.trouble.extend(other.trouble);
    }
}
