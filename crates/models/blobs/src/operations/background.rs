//! What happens to the blobs of a container when its time has come: soft-deleted states go, blocks that were not committed go, blobs
//! come out of the archive, and copies that nobody goes on with fail.

use super::write::{Place, Write, load};
use super::{Stamp, blocks, copy, delete};
use crate::address::BlobName;
use crate::blob::{Blob, BlobState, CopyId};
use crate::events::{EventApi, EventKind};
use crate::limits;
use crate::refusal::BlobError;
use crate::row::{self, Due, Row};
use crate::settings::BlobSettings;
use crate::spaces::BLOBS;
use crate::tier::TierState;
use bytes::Bytes;
use orrery_core::{Ticks, Timestamp};
use orrery_kv::{Error, Expect, META, Order, Read, Txn};

/// Something that is due.
#[derive(Clone, Debug)]
pub struct DueWork {
    key: Bytes,
    at: Timestamp,
    what: Due,
    pub name: BlobName,
    state: BlobState,
}

/// What is due in a container by now, the earliest first; at most [`limits::DUE_ROWS_MAX`].
pub fn due(state: &dyn Read, container: u32, now: Timestamp) -> Result<Vec<DueWork>, Error> {
    let rows = state.range(BLOBS, &row::due_by(container, now), Order::Ascending).take(limits::DUE_ROWS_MAX);
    rows.map(|row| {
        let key = row?.0;
        let (at, what, name, state) = row::read_due(&key)?;
        let name = BlobName::parse(&name).map_err(|error| Error::Corrupt(format!("what is due: {error}")))?;
        Ok(DueWork { key, at, what, name, state })
    })
    .collect()
}

/// Does what is due, in the scope of its name. A pending copy goes on if somebody brings its content.
pub fn run(
    txn: &mut Txn<'_>,
    container: u32,
    settings: &BlobSettings,
    work: &DueWork,
    is_copied: impl Fn(CopyId) -> bool,
    stamp: Stamp,
) -> Result<(), Error> {
    // What a dropped container had is the sweep's.
    txn.require(META, Row::Alive { container }.key(), Expect::Present);
    let place = Place { container, settings, name: &work.name };
    match work.what {
        Due::Deletion => delete::expire_deleted(txn, place, work.state, stamp)?,
        Due::Staging => blocks::expire_staging(txn, place, work.at, stamp)?,
        Due::Rehydration => rehydrate(txn, place, work.state, stamp)?,
        Due::Copy => return fail_lost_copy(txn, place, is_copied, stamp),
    }
    txn.delete(BLOBS, work.key.clone());
    Ok(())
}

fn rehydrate(txn: &mut Txn<'_>, place: Place<'_>, state: BlobState, stamp: Stamp) -> Result<(), Error> {
    let mut write = Write { txn, place, stamp };
    let Some(old) = load(write.txn, place.container, place.name.as_str(), state)? else { return Ok(()) };
    let Some(rehydration) = old.blob.tier.rehydration.filter(|rehydration| rehydration.due <= stamp.now)
    else {
        return Ok(());
    };
    let tier = TierState {
        set: Some(rehydration.to),
        changed: Some(Ticks::at(rehydration.due).count()),
        rehydration: None,
    };
    let blob = Blob { tier, ..old.blob.clone() };
    write.put(Some(&old), &blob);
    write.event(EventKind::BlobTierChanged, EventApi::SetBlobTier, &blob);
    Ok(())
}

/// A copy whose content was brought by a process that is gone.
fn fail_lost_copy(
    txn: &mut Txn<'_>,
    place: Place<'_>,
    is_copied: impl Fn(CopyId) -> bool,
    stamp: Stamp,
) -> Result<(), Error> {
    let current = load(txn, place.container, place.name.as_str(), BlobState::Current)?;
    let copy = current.and_then(|current| current.blob.copy).filter(|copy| !is_copied(copy.id));
    let Some(copy) = copy else { return Ok(()) };
    match copy::fail_copy(txn, place, copy.id, "The server was stopped before the copy ended.", stamp) {
        Ok(()) | Err(BlobError::Refused(_)) => Ok(()),
        Err(BlobError::Store(error)) => Err(error),
    }
}
