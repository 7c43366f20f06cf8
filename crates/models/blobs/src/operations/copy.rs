//! Copy Blob: within the store at once, the content shared chunk by chunk; from elsewhere while the blob is pending.

use super::properties::RehydrationTimes;
use super::put::check_tier;
use super::write::{Place, Stored, Write, select};
use super::{Copied, CopyOptions, CopyTags, PendingCopy, PutOptions, Stamp, Written};
use crate::address::Selector;
use crate::blob::{Blob, BlobKind, BlobState, Copy, CopyId, CopyStatus};
use crate::conditions::{Conditions, Unmet};
use crate::content::{Content, Upload, copy_pieces, put_block_list, put_pieces, read_block_list};
use crate::events::{EventApi, EventKind};
use crate::lease::LeaseId;
use crate::refusal::{BlobError, Refusal};
use crate::tier::{Rehydration, Tier, TierState};
use orrery_core::Timestamp;
use orrery_kv::{Read, Txn};

/// A state of a blob that is copied, maybe of another container.
#[derive(Clone, Copy, Debug)]
pub struct CopySource<'a> {
    pub place: Place<'a>,
    pub selector: Selector,
}

/// The state that is copied, if it may be.
pub fn source(
    state: &dyn Read,
    from: CopySource<'_>,
    conditions: &Conditions,
    now: Timestamp,
) -> Result<Blob, BlobError> {
    Ok(checked_source(state, from, conditions, now)?.blob)
}

fn checked_source(
    state: &dyn Read,
    from: CopySource<'_>,
    conditions: &Conditions,
    now: Timestamp,
) -> Result<Stored, BlobError> {
    let refused = |refusal| BlobError::Refused(Refusal::CopySource(Box::new(refusal)));
    let found = select(state, from.place.container, from.place.name.as_str(), from.selector)?;
    let found =
        found.filter(|found| found.blob.deleted.is_none()).ok_or_else(|| refused(Refusal::BlobNotFound))?;
    conditions.check(found.blob.target()).map_err(|_: Unmet| Refusal::SourceConditionNotMet)?;
    found.blob.lease.check_read(conditions.lease, now).map_err(|conflict| refused(conflict.into()))?;
    if found.blob.copy.as_ref().is_some_and(Copy::is_pending) {
        return Err(refused(Refusal::PendingCopy));
    }
    Ok(found)
}

/// Copies a blob of the store. In the scope of the destination; of the source, only chunks are needed, and they are there or the
/// transaction is refused and runs again.
pub fn copy_blob(
    txn: &mut Txn<'_>,
    from: CopySource<'_>,
    to: Place<'_>,
    options: &CopyOptions,
    times: RehydrationTimes,
    stamp: Stamp,
) -> Result<Copied, BlobError> {
    let found = checked_source(txn, from, &options.source_conditions, stamp.now)?.blob;
    let mut write = Write::begin(txn, to, stamp);
    let old = write.current()?;
    write.check_overwrite(old.as_ref(), &options.conditions)?;
    let tier = tier_of_copy(&found, options, times, stamp)?;
    let content = copy_pieces(write.txn, found.content, stamp.ordinal)?;
    let blocks = read_block_list(write.txn, found.content.ordinal)?;
    put_block_list(write.txn, stamp.ordinal, &blocks);
    let copy = options.records_copy.then(|| Copy {
        id: CopyId::new(stamp.random),
        source: options.source_url.clone(),
        status: CopyStatus::Success,
        bytes_copied: content.length,
        bytes_total: Some(content.length),
        completed: Some(stamp.now),
        description: None,
    });
    let put = PutOptions {
        headers: options.headers.clone().unwrap_or_else(|| found.headers.clone()),
        metadata: options.metadata.clone().unwrap_or_else(|| found.metadata.clone()),
        tags: match &options.tags {
            CopyTags::None => Default::default(),
            CopyTags::FromSource => found.tags.clone(),
            CopyTags::Replace(tags) => tags.clone(),
        },
        tier: None,
        immutability: options.immutability,
        legal_hold: options.legal_hold,
        copy: copy.clone(),
        conditions: Conditions::default(),
    };
    let kind = match found.kind {
        BlobKind::Append { blocks, is_sealed } => {
            BlobKind::Append { blocks, is_sealed: options.is_sealed.unwrap_or(is_sealed) }
        }
        kind => kind,
    };
    let written = write.replace_with_tier(old, kind, content, &put, tier, EventApi::CopyBlob)?;
    Ok(Copied { written, copy })
}

/// The source's tier, unless another is given. Out of the archive, the copy takes the time that the blob itself would.
fn tier_of_copy(
    found: &Blob,
    options: &CopyOptions,
    times: RehydrationTimes,
    stamp: Stamp,
) -> Result<TierState, BlobError> {
    if let Some(tier) = options.tier {
        check_tier(found.kind, tier)?;
    }
    let archived = || Refusal::CopySource(Box::new(Refusal::BlobArchived));
    match (found.tier.is_archived(stamp.now), options.tier) {
        (false, None) => Ok(TierState { rehydration: None, ..found.tier }),
        (false, tier) => Ok(TierState::set(tier)),
        (true, None | Some(Tier::Archive)) => Err(archived().into()),
        (true, Some(to)) => {
            let priority = options.priority.unwrap_or_default();
            let due = stamp.now.plus(times.of(priority));
            let rehydration = Some(Rehydration { to, priority, due });
            Ok(TierState { set: Some(Tier::Archive), changed: None, rehydration })
        }
    }
}

/// Begins a copy from elsewhere.
pub fn begin_copy(
    txn: &mut Txn<'_>,
    place: Place<'_>,
    source_url: &str,
    options: &PutOptions,
    stamp: Stamp,
) -> Result<PendingCopy, BlobError> {
    let mut write = Write::begin(txn, place, stamp);
    let old = write.current()?;
    write.check_overwrite(old.as_ref(), &options.conditions)?;
    let id = CopyId::new(stamp.random);
    let copy = Copy {
        id,
        source: source_url.to_owned(),
        status: CopyStatus::Pending,
        bytes_copied: 0,
        bytes_total: None,
        completed: None,
        description: None,
    };
    let options = PutOptions { copy: Some(copy), ..options.clone() };
    let written = write.replace_pending(old, Content { ordinal: stamp.ordinal, length: 0 }, &options)?;
    Ok(PendingCopy { id, written })
}

/// The blob whose copy is pending.
fn pending(write: &Write<'_, '_, '_>, id: CopyId) -> Result<(Stored, Copy), BlobError> {
    let old = write.existing()?;
    match old.blob.copy.clone() {
        Some(copy) if !copy.is_pending() => Err(Refusal::NoPendingCopy.into()),
        Some(copy) if copy.id == id => Ok((old, copy)),
        Some(_) => Err(Refusal::CopyIdMismatch.into()),
        None => Err(Refusal::NoPendingCopy.into()),
    }
}

pub fn note_copy_progress(
    txn: &mut Txn<'_>,
    place: Place<'_>,
    id: CopyId,
    copied: u64,
    total: Option<u64>,
    stamp: Stamp,
) -> Result<(), BlobError> {
    let mut write = Write::begin(txn, place, stamp);
    let (old, copy) = pending(&write, id)?;
    let copy = Copy { bytes_copied: copied, bytes_total: total, ..copy };
    write.put_unlogged(Some(&old), &Blob { copy: Some(copy), ..old.blob.clone() });
    Ok(())
}

/// The content of a pending copy is there.
pub fn finish_copy(
    txn: &mut Txn<'_>,
    place: Place<'_>,
    id: CopyId,
    upload: Upload<'_>,
    options: &PutOptions,
    stamp: Stamp,
) -> Result<Written, BlobError> {
    let mut write = Write::begin(txn, place, stamp);
    let (old, copy) = pending(&write, id)?;
    let pieces = upload.pieces(write.txn);
    let length = put_pieces(write.txn, stamp.ordinal, 0, pieces);
    write.drop_content(old.blob.content)?;
    let blob = Blob {
        modified: write.moment_after(Some(&old)),
        content: Content { ordinal: stamp.ordinal, length },
        headers: options.headers.clone(),
        metadata: options.metadata.clone(),
        tags: options.tags.clone(),
        tier: TierState::set(options.tier),
        copy: Some(Copy {
            status: CopyStatus::Success,
            bytes_copied: length,
            bytes_total: Some(length),
            completed: Some(stamp.now),
            ..copy
        }),
        ..old.blob.clone()
    };
    write.put(Some(&old), &blob);
    write.event(EventKind::BlobCreated, EventApi::CopyBlob, &blob);
    Ok(super::append::written(&blob))
}

/// The source could not be read: an empty blob stays.
pub fn fail_copy(
    txn: &mut Txn<'_>,
    place: Place<'_>,
    id: CopyId,
    why: &str,
    stamp: Stamp,
) -> Result<(), BlobError> {
    let mut write = Write::begin(txn, place, stamp);
    let (old, copy) = pending(&write, id)?;
    let copy = Copy {
        status: CopyStatus::Failed,
        completed: Some(stamp.now),
        description: Some(why.to_owned()),
        ..copy
    };
    let modified = write.moment_after(Some(&old));
    write.put(Some(&old), &Blob { copy: Some(copy), modified, ..old.blob.clone() });
    Ok(())
}

/// Abort Copy Blob: an empty blob stays.
pub fn abort_copy(
    txn: &mut Txn<'_>,
    place: Place<'_>,
    id: CopyId,
    lease: Option<LeaseId>,
    stamp: Stamp,
) -> Result<(), BlobError> {
    let mut write = Write::begin(txn, place, stamp);
    let (old, copy) = pending(&write, id)?;
    old.blob.lease.check_write(lease, stamp.now)?;
    let copy = Copy { status: CopyStatus::Aborted, completed: Some(stamp.now), ..copy };
    let modified = write.moment_after(Some(&old));
    write
        .put(Some(&old), &Blob { copy: Some(copy), modified, state: BlobState::Current, ..old.blob.clone() });
    Ok(())
}
