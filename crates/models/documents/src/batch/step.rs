//! One operation of a batch, and doing it.

use super::Deps;
use crate::charge::Charge;
use crate::item::{self, Change, Effect, ItemError, ItemRow, Preconditions, Prepared, Target, Verdict};
use orrery_catalog::Stamp;
use orrery_kv::Txn;

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
    Create(Prepared),
    Upsert(Prepared),
    Read,
    Replace(Prepared),
    Delete,
    Patch(Box<Change>),
}

/// What a step came to.
#[derive(Clone, Debug)]
pub enum Done {
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

impl Done {
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
    pub(super) fn run(&self, txn: &mut Txn<'_>, deps: Deps<'_>) -> Result<Done, StepError> {
        let done = self.done(txn, deps)?;
        if deps.budget.take(done.bytes()) { Ok(done) } else { Err(StepError::TooMuch) }
    }

    fn done(&self, txn: &mut Txn<'_>, deps: Deps<'_>) -> Result<Done, ItemError> {
        let Deps { container, ordinal, host, .. } = deps;
        let Self { target, action, conditions, stamp } = self;
        let (conditions, stamp) = (*conditions, *stamp);
        Ok(match action {
            Action::Create(new) => Done::Written(item::create(txn, container, new, stamp, ordinal)?),
            Action::Upsert(new) => {
                Done::Written(item::upsert(txn, container, new, conditions, stamp, ordinal)?)
            }
            Action::Read => self.read(txn, deps)?,
            Action::Replace(new) => {
                Done::Written(item::replace(txn, container, target, new, conditions, stamp)?)
            }
            Action::Delete => Done::Deleted(item::delete(txn, container, target, conditions, stamp)?),
            Action::Patch(change) => {
                Done::Written(item::patch(txn, container, target, change, conditions, stamp, host)?)
            }
        })
    }

    fn read(&self, txn: &Txn<'_>, deps: Deps<'_>) -> Result<Done, ItemError> {
        let found = item::read(txn, deps.container, &self.target, self.stamp.now)?;
        let found = found.ok_or(ItemError::Missing)?;
        match self.conditions.check(found.etag()) {
            Verdict::Holds => Ok(Done::Read(found)),
            Verdict::Same => Ok(Done::NotModified(found)),
            Verdict::Changed => Err(ItemError::Changed),
        }
    }
}
