//! The auditor of queues: what was done to each message beside what was found of it. Touches nothing.
//!
//! As in the audit of items, of two operations whose spans do not overlap the later one came later, and nothing else is known of
//! the server's own order. After a restart the harness empties the queue into its hands, by gets that are part of the history;
//! so a message that no such get showed is not there.

use super::history::{Act, MessageOperation, OpenGet, Outcome};
use crate::history::{Seq, Tick};
use std::collections::BTreeMap;
use std::fmt;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wrong {
    /// It was put and never deleted, and it is not there.
    Lost,
    /// It was deleted, and something was done to it afterwards.
    Back,
    /// Nobody put it, or its put was refused.
    Invented,
    /// A receipt was taken although a later one had been given.
    StaleAccepted { shown: String },
    /// A receipt was refused although nothing can have replaced it.
    Forgotten { shown: String },
    /// It has a text that was replaced, or that nobody wrote.
    Text { found: Seq },
    /// The count of gets does not fit the gets there were.
    Count { count: u32, least: u32, most: u32 },
    /// Two gets were the same delivery.
    SameDelivery { count: u32 },
}

/// A message with what is wrong about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    pub message: Seq,
    pub wrong: Wrong,
}

/// Everything that is wrong. `looked`: when the harness began to empty the queue.
pub fn audit_messages(history: &[MessageOperation], open_gets: &[OpenGet], looked: Tick) -> Vec<Finding> {
    let mut stories: BTreeMap<Seq, Story<'_>> = BTreeMap::new();
    for operation in history {
        let story = stories.entry(operation.message).or_insert(Story { operations: Vec::new(), open_gets });
        story.operations.push(operation);
    }
    let wrong = |(message, story): (&Seq, &Story<'_>)| {
        let message = *message;
        story.audit(looked).into_iter().map(move |wrong| Finding { message, wrong })
    };
    stories.iter().flat_map(wrong).collect()
}

/// What happened to one message.
struct Story<'a> {
    operations: Vec<&'a MessageOperation>,
    open_gets: &'a [OpenGet],
}

impl<'a> Story<'a> {
    fn audit(&self, looked: Tick) -> Vec<Wrong> {
        let mut wrong = Vec::new();
        if !self.of(Act::Put).any(MessageOperation::is_possible) && !self.is_shortened() {
            wrong.push(Wrong::Invented);
        }
        if self.is_lost(looked) {
            wrong.push(Wrong::Lost);
        }
        if self.is_back() {
            wrong.push(Wrong::Back);
        }
        for operation in &self.operations {
            wrong.extend(self.judge_receipt(operation));
        }
        wrong.extend(self.judge_gets());
        wrong
    }

    /// Of messages that are gone, only the deletes are kept.
    fn is_shortened(&self) -> bool {
        !self.of(Act::Put).any(|_| true) && self.deletes().any(|delete| delete.is_done())
    }

    fn of(&self, act: Act) -> impl Iterator<Item = &'a MessageOperation> {
        self.operations.iter().copied().filter(move |operation| operation.act == act)
    }

    fn deletes(&self) -> impl Iterator<Item = &'a MessageOperation> {
        self.of(Act::Delete)
    }

    /// The gets that were answered with it.
    fn gets(&self) -> impl Iterator<Item = (&'a MessageOperation, u32)> {
        self.operations.iter().filter_map(|operation| match operation.act {
            Act::Get { count } => Some((*operation, count)),
            Act::Put | Act::Update | Act::Delete => None,
        })
    }

    /// A message that was got was put, whatever became of the put's answer.
    fn is_lost(&self, looked: Tick) -> bool {
        let is_certain = self.operations.iter().any(|operation| operation.is_done());
        let may_be_deleted = self.deletes().any(MessageOperation::is_possible);
        let is_there = self.gets().any(|(get, _)| get.began > looked);
        is_certain && !may_be_deleted && !is_there
    }

    fn is_back(&self) -> bool {
        let deleted = self.deletes().filter(|delete| delete.is_done()).map(|delete| delete.ended).min();
        let is_after =
            |operation: &&MessageOperation| deleted.is_some_and(|deleted| operation.began > deleted);
        self.operations.iter().any(|operation| operation.is_done() && is_after(operation))
    }

    /// An update or a delete: whether its receipt was judged as it must be.
    fn judge_receipt(&self, tried: &MessageOperation) -> Option<Wrong> {
        let shown = tried.shown.as_ref()?;
        let mut given = self.operations.iter().copied();
        let giver = given.find(|operation| operation.given.as_ref() == Some(shown))?;
        match tried.outcome {
            Outcome::Unknown => None,
            Outcome::Done => {
                let replaced = self
                    .replacers(giver)
                    .any(|later| later.is_done() && later.began > giver.ended && later.ended < tried.began);
                replaced.then(|| Wrong::StaleAccepted { shown: shown.clone() })
            }
            Outcome::Mismatch => {
                let may_be = self.replacers(giver).any(|other| is_possibly_between(giver, other, tried))
                    || self.may_be_taken(giver, tried);
                (!may_be && !self.may_be_deleted_before(tried))
                    .then(|| Wrong::Forgotten { shown: shown.clone() })
            }
            Outcome::Missing => (!self.may_be_deleted_before(tried)).then_some(Wrong::Lost),
        }
    }

    /// What gives the message another receipt than this one did.
    fn replacers(&self, giver: &'a MessageOperation) -> impl Iterator<Item = &'a MessageOperation> {
        let replaces = |operation: &&MessageOperation| {
            matches!(operation.act, Act::Get { .. } | Act::Update) && operation.given != giver.given
        };
        self.operations.iter().copied().filter(replaces)
    }

    /// Whether a get that was never answered can have taken it.
    fn may_be_taken(&self, giver: &MessageOperation, tried: &MessageOperation) -> bool {
        let takes = |get: &OpenGet| get.began < tried.ended && get.ended_ms >= giver.hidden_until_ms;
        self.open_gets.iter().any(takes)
    }

    fn may_be_deleted_before(&self, tried: &MessageOperation) -> bool {
        let mut others = self.deletes().filter(|delete| !std::ptr::eq(*delete, tried));
        others.any(|delete| delete.is_possible() && delete.began < tried.ended)
    }

    fn judge_gets(&self) -> Vec<Wrong> {
        if self.is_shortened() {
            return Vec::new();
        }
        let mut wrong: Vec<Wrong> = self.gets().filter_map(|(get, _)| self.judge_text(get)).collect();
        for (get, count) in self.gets() {
            let others = || self.gets().filter(|(other, _)| !std::ptr::eq(*other, get));
            let before = others().filter(|(other, _)| other.ended < get.began).count();
            let around = others().filter(|(other, _)| other.began < get.ended).count();
            let open = self.open_gets.iter().filter(|open| open.began < get.ended).count();
            let (least, most) = (1 + before as u32, (1 + around + open) as u32);
            if !(least..=most).contains(&count) {
                wrong.push(Wrong::Count { count, least, most });
            }
            if others().any(|(_, other)| other == count) {
                wrong.push(Wrong::SameDelivery { count });
            }
        }
        wrong
    }

    /// A get shows a text that nothing certain had replaced before it began.
    fn judge_text(&self, get: &MessageOperation) -> Option<Wrong> {
        let found = get.text?;
        let writes = || {
            self.operations.iter().filter(|operation| {
                matches!(operation.act, Act::Put | Act::Update)
                    && operation.text.is_some()
                    && operation.is_possible()
            })
        };
        let Some(written) = writes().find(|write| write.text == Some(found)) else {
            return Some(Wrong::Text { found });
        };
        // A text that a get found was written by then, whatever became of the answer.
        let seen = |write: &MessageOperation| {
            let gets = self.gets().filter(|(get, _)| get.text == write.text).map(|(get, _)| get.ended);
            gets.min().unwrap_or(Tick::MAX).min(write.ended)
        };
        let replaced = writes().any(|later| later.began > seen(written) && seen(later) < get.began);
        replaced.then_some(Wrong::Text { found })
    }
}

/// Whether `other` may have come after `giver` and before `tried`.
fn is_possibly_between(giver: &MessageOperation, other: &MessageOperation, tried: &MessageOperation) -> bool {
    !std::ptr::eq(other, tried)
        && other.is_possible()
        && other.ended > giver.began
        && other.began < tried.ended
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { message, wrong } = self;
        write!(f, "message {message}: ")?;
        match wrong {
            Wrong::Lost => write!(f, "it was put and never deleted, and it is not there"),
            Wrong::Back => write!(f, "it was deleted, and came back"),
            Wrong::Invented => write!(f, "nobody put it"),
            Wrong::StaleAccepted { shown } => {
                write!(f, "receipt {shown} was taken although a later one was given")
            }
            Wrong::Forgotten { shown } => write!(f, "receipt {shown} was refused although it is the newest"),
            Wrong::Text { found } => {
                write!(f, "it has the text of attempt {found}, which is not its text any more")
            }
            Wrong::Count { count, least, most } => {
                write!(f, "it was got {count} times by its own count, and from {least} to {most} by ours")
            }
            Wrong::SameDelivery { count } => write!(f, "two gets were given its delivery {count}"),
        }
    }
}

#[cfg(test)]
#[path = "audit_tests.rs"]
mod tests;
