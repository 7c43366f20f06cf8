//! Reads: one lookup, or two, of a snapshot of the store.

use super::write::{Place, Stored, check_creation, load, select};
use super::{Block, BlockLists};
use crate::address::Selector;
use crate::blob::{Blob, BlobState};
use crate::conditions::Conditions;
use crate::content::read_block_list;
use crate::refusal::{BlobError, Refusal};
use crate::staging::{Staging, staged};
use orrery_core::Timestamp;
use orrery_kv::{Error, Read};

/// The current state of a name, without any conditions.
pub fn find(state: &dyn Read, place: Place<'_>) -> Result<Option<Blob>, Error> {
    Ok(load(state, place.container, place.name.as_str(), BlobState::Current)?.map(|stored| stored.blob))
}

/// A state that is there and that the conditions are true of.
pub fn read(
    state: &dyn Read,
    place: Place<'_>,
    selector: Selector,
    conditions: &Conditions,
    now: Timestamp,
) -> Result<Blob, BlobError> {
    Ok(check_read(state, place, selector, conditions, now)?.blob)
}

pub(super) fn check_read(
    state: &dyn Read,
    place: Place<'_>,
    selector: Selector,
    conditions: &Conditions,
    now: Timestamp,
) -> Result<Stored, BlobError> {
    let found = select(state, place.container, place.name.as_str(), selector)?;
    let found = found.filter(|found| found.blob.deleted.is_none()).ok_or(Refusal::BlobNotFound)?;
    conditions.check(found.blob.target())?;
    found.blob.lease.check_read(conditions.lease, now)?;
    Ok(found)
}

/// Whether a write of a whole blob would be refused now.
pub fn check_write(
    state: &dyn Read,
    place: Place<'_>,
    conditions: &Conditions,
    now: Timestamp,
) -> Result<(), BlobError> {
    match load(state, place.container, place.name.as_str(), BlobState::Current)? {
        None => check_creation(conditions),
        Some(old) => {
            conditions.check(old.blob.target())?;
            old.blob.lease.check_write(conditions.lease, now)?;
            Ok(())
        }
    }
}

/// Get Block List. A snapshot has no blocks that wait.
pub fn block_lists(
    state: &dyn Read,
    place: Place<'_>,
    selector: Selector,
    conditions: &Conditions,
    now: Timestamp,
) -> Result<BlockLists, BlobError> {
    let (container, name) = (place.container, place.name.as_str());
    let mut uncommitted = Vec::new();
    let is_staged = selector == Selector::Current && Staging::load(state, container, name)?.is_some();
    if is_staged {
        let blocks = staged(state, container, name)?;
        uncommitted.extend(blocks.into_iter().map(|(id, block)| Block { length: block.length(), id }));
    }
    let blob = match check_read(state, place, selector, conditions, now) {
        Ok(found) => Some(found.blob),
        Err(BlobError::Refused(Refusal::BlobNotFound)) if is_staged => None,
        Err(error) => return Err(error),
    };
    let committed = match &blob {
        Some(blob) if blob.kind != crate::blob::BlobKind::Block => {
            return Err(Refusal::InvalidBlobType.into());
        }
        Some(blob) => read_block_list(state, blob.content.ordinal)?,
        None => Vec::new(),
    };
    Ok(BlockLists { blob, committed, uncommitted })
}
