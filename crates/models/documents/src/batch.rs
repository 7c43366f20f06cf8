//! Batches: several operations on items of one partition, in one transaction.
//!
//! `atomic`: all of them or none, each seeing what those before it did. `independent`: each for itself, in order; one
//! that is refused is undone and the others stand. What a step may do is what a request of its own may do, because
//! it is the same functions that do it.

use crate::charge::Charge;
use crate::item::{self, Change, Effect, ItemError, ItemRow, Preconditions, PreparedItem, Target, Verdict};
use crate::limits;
use orrery_catalog::{Container, Stamp};
use orrery_kv::{Error, Txn};
use orrery_query::execute::Host;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The dependencies of a step besides the transaction.
#[derive(Clone, Copy)]
pub struct Deps<'a> {
    pub container: &'a Container,
    /// Gives the number of a new item.
    pub ordinal: &'a dyn Fn() -> u64,
    pub host: &'a dyn Host,
    pub budget: &'a Budget,
}

// One operation of a batch, and doing it.

/// An operation on the item at `target`.
#[derive(Clone, Debug)]
pub struct Step {
    pub target: Target,
    pub action: Action,
    pub conditions: Preconditions,
    /// Each has a stamp of its own, so each version has a tag of its own.
    pub stamp: Stamp,
}

#[derive(Clone, Debug)]
pub enum Action {
    Create(PreparedItem),
    Upsert(PreparedItem),
    Read,
    Replace(PreparedItem),
    Delete,
    Patch(Box<Change>),
}

/// The outcome of a step.
#[derive(Clone, Debug)]
pub enum StepOutcome {
    Read(ItemRow),
    /// A read of the version that the client has.
    NotModified(ItemRow),
    Written(Effect),
    Deleted(Effect),
}

#[derive(Debug, thiserror::Error)]
pub enum StepError {
    #[error(transparent)]
    Item(#[from] ItemError),
    #[error("The items of the batch are too large together; split it into several.")]
    TooMuch,
}

impl StepOutcome {
    pub fn charge(&self) -> Charge {
        match self {
            Self::Read(item) => Charge::point_read(item.text_length()),
            Self::NotModified(_) => Charge::not_modified(),
            Self::Written(effect) | Self::Deleted(effect) => effect.charge,
        }
    }

    /// The text of items that was read, written and replaced.
    pub(super) fn bytes(&self) -> usize {
        match self {
            Self::Read(item) | Self::NotModified(item) => item.text_length(),
            Self::Written(effect) => effect.item.text_length() + effect.replaced_bytes,
            Self::Deleted(effect) => effect.replaced_bytes,
        }
    }
}

impl Step {
    pub(super) fn run(&self, txn: &mut Txn<'_>, deps: Deps<'_>) -> Result<StepOutcome, StepError> {
        let done = self.done(txn, deps)?;
        if deps.budget.take(done.bytes()) { Ok(done) } else { Err(StepError::TooMuch) }
    }

    fn done(&self, txn: &mut Txn<'_>, deps: Deps<'_>) -> Result<StepOutcome, ItemError> {
        let Deps { container, ordinal, host, .. } = deps;
        let Self { target, action, conditions, stamp } = self;
        let (conditions, stamp) = (*conditions, *stamp);
        Ok(match action {
            Action::Create(new) => StepOutcome::Written(item::create(txn, container, new, stamp, ordinal)?),
            Action::Upsert(new) => {
                StepOutcome::Written(item::upsert(txn, container, new, conditions, stamp, ordinal)?)
            }
            Action::Read => self.read(txn, deps)?,
            Action::Replace(new) => {
                StepOutcome::Written(item::replace(txn, container, target, new, conditions, stamp)?)
            }
            Action::Delete => StepOutcome::Deleted(item::delete(txn, container, target, conditions, stamp)?),
            Action::Patch(change) => {
                StepOutcome::Written(item::patch(txn, container, target, change, conditions, stamp, host)?)
            }
        })
    }

    fn read(&self, txn: &Txn<'_>, deps: Deps<'_>) -> Result<StepOutcome, ItemError> {
        let found = item::read(txn, deps.container, &self.target, self.stamp.now)?;
        let found = found.ok_or(ItemError::Missing)?;
        match self.conditions.check(found.etag()) {
            Verdict::Holds => Ok(StepOutcome::Read(found)),
            Verdict::Same => Ok(StepOutcome::NotModified(found)),
            Verdict::Changed => Err(ItemError::Changed),
        }
    }
}

// All steps or none.

/// The step that failed, counted from 0, and why. The transaction must not be committed.
#[derive(Debug)]
pub struct FailedStep {
    pub index: usize,
    pub error: StepError,
}

pub fn atomic(txn: &mut Txn<'_>, steps: &[Step], deps: Deps<'_>) -> Result<Vec<StepOutcome>, FailedStep> {
    let mut done = Vec::with_capacity(steps.len());
    for (index, step) in steps.iter().enumerate() {
        done.push(step.run(txn, deps).map_err(|error| FailedStep { index, error })?);
    }
    Ok(done)
}

// Each step for itself.

/// What happens to the steps behind one that was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnRefusal {
    GoOn,
    Stop,
}

/// What the first steps came to, at least one of them: there may be fewer than steps because one was refused, or
/// because the transaction has become large enough.
pub fn independent(
    txn: &mut Txn<'_>,
    steps: &[Step],
    on_refusal: OnRefusal,
    deps: Deps<'_>,
) -> Result<Vec<Result<StepOutcome, StepError>>, Error> {
    let (mut outcomes, mut bytes) = (Vec::with_capacity(steps.len()), 0);
    for step in steps {
        let before = txn.mark();
        let outcome = step.run(txn, deps);
        let is_refused = match &outcome {
            Ok(done) => {
                bytes += done.bytes();
                false
            }
            Err(StepError::Item(ItemError::Store(error))) => return Err(error.clone()),
            Err(_) => {
                txn.undo(before);
                true
            }
        };
        outcomes.push(outcome);
        let stops = is_refused && on_refusal == OnRefusal::Stop;
        if stops || bytes > limits::BULK_TRANSACTION_BYTES_MAX {
            break;
        }
    }
    Ok(outcomes)
}

// How much text of items a batch may still touch.
//
// A small request can name large items, so its size does not bound what it costs; this does.

#[derive(Debug)]
pub struct Budget(AtomicUsize);

impl Default for Budget {
    fn default() -> Self {
        Self::of(limits::BATCH_WORK_BYTES_MAX)
    }
}

impl Budget {
    pub fn of(bytes: usize) -> Self {
        Self(AtomicUsize::new(bytes))
    }

    /// Takes so many bytes, if there are as many left.
    pub(super) fn take(&self, bytes: usize) -> bool {
        let less = |left: usize| left.checked_sub(bytes);
        self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less).is_ok()
    }
}

#[cfg(test)]
mod budget_tests {
    use super::*;

    #[test]
    fn what_is_taken_is_gone_and_what_is_not_there_is_not_taken() {
        let budget = Budget::of(10);
        assert!(budget.take(4) && !budget.take(7) && budget.take(6) && !budget.take(1) && budget.take(0));
    }
}
