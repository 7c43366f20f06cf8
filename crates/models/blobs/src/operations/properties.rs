//! Changes beside the content: properties, metadata, tags, tiers, leases, protection.

use super::append::written;
use super::put::{check_page_blob_length, check_tier};
use super::write::{Place, Write, as_version};
use super::{PropertiesSet, SequenceAction, SetProperties, SetTier, Stamp, TierSet, Written};
use crate::address::Selector;
use crate::blob::{Blob, BlobKind, BlobState, Immutability, ImmutabilityMode};
use crate::conditions::Conditions;
use crate::content::{Content, share, truncate};
use crate::events::{EventApi, EventKind};
use crate::lease::{LeaseAction, LeaseId, Leased};
use crate::refusal::{BlobError, Refusal};
use crate::settings::BlobSettings;
use crate::tags::TagSet;
use crate::tier::{RehydratePriority, Rehydration, Tier, TierState};
use orrery_catalog::storage::Metadata;
use orrery_core::Ticks;
use orrery_kv::Txn;
use std::time::Duration;

/// Set Blob Properties. No new version is made.
pub fn set_properties(
    txn: &mut Txn<'_>,
    place: Place<'_>,
    set: &SetProperties,
    stamp: Stamp,
) -> Result<PropertiesSet, BlobError> {
    let mut write = Write::begin(txn, place, stamp);
    let old = write.existing()?;
    write.check_change(&old, &set.conditions)?;
    let mut blob = Blob {
        modified: write.moment_after(Some(&old)),
        headers: set.headers.clone().unwrap_or_else(|| old.blob.headers.clone()),
        lease: old.blob.lease.after_write(stamp.now),
        ..old.blob.clone()
    };
    let sequence = match &mut blob.kind {
        BlobKind::Page { sequence } => {
            *sequence = set.sequence.map_or(Ok(*sequence), |action| action.apply(*sequence))?;
            Some(*sequence)
        }
        _ if set.resize.is_some() || set.sequence.is_some() => return Err(Refusal::InvalidBlobType.into()),
        _ => None,
    };
    if let Some(length) = set.resize {
        check_page_blob_length(length)?;
        if length < old.blob.length() {
            truncate(write.txn, place.container, old.blob.content.ordinal, length, stamp.now)?;
        }
        blob.content = Content { length, ..old.blob.content };
    }
    write.put(Some(&old), &blob);
    write.event(EventKind::BlobPropertiesUpdated, EventApi::SetBlobProperties, &blob);
    Ok(PropertiesSet { written: written(&blob), sequence })
}

impl SequenceAction {
    fn apply(self, sequence: u64) -> Result<u64, Refusal> {
        match self {
            Self::Max(other) => Ok(sequence.max(other)),
            Self::Update(other) => Ok(other),
            Self::Increment => sequence
                .checked_add(1)
                .filter(|next| *next <= i64::MAX as u64)
                .ok_or(Refusal::SequenceNumberOverflow),
        }
    }
}

/// Set Blob Metadata. With versioning, what was there stays as a version.
pub fn set_metadata(
    txn: &mut Txn<'_>,
    place: Place<'_>,
    metadata: &Metadata,
    conditions: &Conditions,
    stamp: Stamp,
) -> Result<Written, BlobError> {
    let mut write = Write::begin(txn, place, stamp);
    let old = write.existing()?;
    write.check_overwrite(Some(&old), conditions)?;
    let lease = old.blob.lease.after_write(stamp.now);
    if !place.settings.versioning {
        let modified = write.moment_after(Some(&old));
        let blob = Blob { modified, metadata: metadata.clone(), lease, ..old.blob.clone() };
        write.put(Some(&old), &blob);
        write.event(EventKind::BlobPropertiesUpdated, EventApi::SetBlobMetadata, &blob);
        return Ok(written(&blob));
    }
    let modified = write.moment_of_state(Some(&old))?;
    let content = write.share_content(&old.blob)?;
    let blob = Blob {
        modified,
        created: modified,
        version: Some(modified),
        metadata: metadata.clone(),
        lease,
        content,
        // Protection is of the version that it was set on.
        immutability: None,
        legal_hold: false,
        ..old.blob.clone()
    };
    let at = write.version_of(&old)?;
    write.relocate(&old, as_version(&old.blob, at));
    write.put(None, &blob);
    write.event(EventKind::BlobPropertiesUpdated, EventApi::SetBlobMetadata, &blob);
    Ok(written(&blob))
}

impl Write<'_, '_, '_> {
    /// The content for another state with the same bytes. Content that changes in place is not shared but copied.
    pub fn share_content(&mut self, blob: &Blob) -> Result<Content, orrery_kv::Error> {
        if matches!(blob.kind, BlobKind::Page { .. }) {
            return crate::content::copy_pieces(self.txn, blob.content, self.stamp.ordinal);
        }
        share(self.txn, blob.content)?;
        Ok(blob.content)
    }
}

/// Set Blob Tags. Neither ETag nor Last-Modified change.
pub fn set_tags(
    txn: &mut Txn<'_>,
    place: Place<'_>,
    selector: Selector,
    tags: &TagSet,
    conditions: &Conditions,
    stamp: Stamp,
) -> Result<(), BlobError> {
    let mut write = Write::begin(txn, place, stamp);
    let old = write.selected(selector)?;
    conditions.check(old.blob.target())?;
    old.blob.lease.check_read(conditions.lease, stamp.now)?;
    write.put(Some(&old), &Blob { tags: tags.clone(), ..old.blob.clone() });
    Ok(())
}

/// How long blobs are on their way out of the archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RehydrationTimes {
    pub standard: Duration,
    pub high: Duration,
}

impl RehydrationTimes {
    pub(super) fn of(self, priority: RehydratePriority) -> Duration {
        match priority {
            RehydratePriority::Standard => self.standard,
            RehydratePriority::High => self.high,
        }
    }
}

/// Set Blob Tier. Out of the archive it takes its time.
pub fn set_tier(
    txn: &mut Txn<'_>,
    place: Place<'_>,
    set: &SetTier,
    times: RehydrationTimes,
    stamp: Stamp,
) -> Result<TierSet, BlobError> {
    let mut write = Write::begin(txn, place, stamp);
    let old = write.selected(set.selector)?;
    set.conditions.check(old.blob.target())?;
    old.blob.lease.check_read(set.conditions.lease, stamp.now)?;
    write.check_not_pending(&old)?;
    check_tier(old.blob.kind, set.tier)?;
    let now = old.blob.tier;
    let pending = now.pending(stamp.now);
    if let Some(pending) = pending {
        if pending.to != set.tier {
            return Err(Refusal::BlobBeingRehydrated.into());
        }
        if set.priority != Some(RehydratePriority::High) || pending.priority == RehydratePriority::High {
            return Ok(TierSet::Pending);
        }
    }
    let (tier, outcome) = if now.is_archived(stamp.now) && set.tier != Tier::Archive {
        let priority = set.priority.unwrap_or_default();
        let due = stamp.now.plus(times.of(priority));
        let rehydration = Rehydration { to: set.tier, priority, due };
        (TierState { rehydration: Some(rehydration), ..now }, TierSet::Pending)
    } else {
        let changed = Some(Ticks::at(stamp.now).count());
        (TierState { set: Some(set.tier), changed, rehydration: None }, TierSet::Done)
    };
    let blob = Blob { tier, ..old.blob.clone() };
    write.put(Some(&old), &blob);
    let kind = match outcome {
        TierSet::Done => EventKind::BlobTierChanged,
        TierSet::Pending => EventKind::BlobAsyncOperationInitiated,
    };
    write.event(kind, EventApi::SetBlobTier, &blob);
    Ok(outcome)
}

/// Lease Blob.
pub fn lease(
    txn: &mut Txn<'_>,
    place: Place<'_>,
    action: LeaseAction,
    conditions: &Conditions,
    stamp: Stamp,
) -> Result<(Leased, Ticks), BlobError> {
    let mut write = Write::begin(txn, place, stamp);
    let old = write.existing()?;
    conditions.check(old.blob.target())?;
    let leased = old.blob.lease.act(action, LeaseId::new(stamp.random), stamp.now)?;
    write.put_unlogged(Some(&old), &Blob { lease: leased.lease, ..old.blob.clone() });
    Ok((leased, old.blob.modified))
}

/// Set Blob Immutability Policy.
pub fn set_immutability(
    txn: &mut Txn<'_>,
    place: Place<'_>,
    selector: Selector,
    policy: Immutability,
    conditions: &Conditions,
    stamp: Stamp,
) -> Result<Immutability, BlobError> {
    let mut write = Write::begin(txn, place, stamp);
    let old = write.selected(selector)?;
    conditions.check(old.blob.target())?;
    if policy.until <= stamp.now {
        return Err(Refusal::InvalidInput("x-ms-immutability-policy-until-date").into());
    }
    if !policy.may_follow(old.blob.immutability, stamp.now) {
        return Err(Refusal::ImmutableDueToPolicy.into());
    }
    write.put(Some(&old), &Blob { immutability: Some(policy), ..old.blob.clone() });
    Ok(policy)
}

/// Delete Blob Immutability Policy, unless it is locked.
pub fn delete_immutability(
    txn: &mut Txn<'_>,
    place: Place<'_>,
    selector: Selector,
    stamp: Stamp,
) -> Result<(), BlobError> {
    let mut write = Write::begin(txn, place, stamp);
    let old = write.selected(selector)?;
    match old.blob.immutability {
        None => return Ok(()),
        Some(policy) if policy.mode == ImmutabilityMode::Locked && policy.until > stamp.now => {
            return Err(Refusal::ImmutableDueToPolicy.into());
        }
        Some(_) => {}
    }
    write.put(Some(&old), &Blob { immutability: None, ..old.blob.clone() });
    Ok(())
}

/// Set Blob Legal Hold.
pub fn set_legal_hold(
    txn: &mut Txn<'_>,
    place: Place<'_>,
    selector: Selector,
    hold: bool,
    stamp: Stamp,
) -> Result<bool, BlobError> {
    let mut write = Write::begin(txn, place, stamp);
    let old = write.selected(selector)?;
    write.put(Some(&old), &Blob { legal_hold: hold, ..old.blob.clone() });
    Ok(hold)
}

/// Whether a read now would be recorded as the last access: at most once a day.
pub fn records_access(settings: &BlobSettings, blob: &Blob, now: orrery_core::Timestamp) -> bool {
    let day = Duration::from_secs(24 * 60 * 60);
    settings.last_access_tracking
        && blob.state == BlobState::Current
        && blob.last_access.is_none_or(|last| last.plus(day) <= now)
}

/// Records that the blob was read, if it is the one that was read.
pub fn note_access(
    txn: &mut Txn<'_>,
    place: Place<'_>,
    modified: Ticks,
    stamp: Stamp,
) -> Result<(), BlobError> {
    let mut write = Write::begin(txn, place, stamp);
    if let Some(old) = write.current()?.filter(|old| old.blob.modified == modified) {
        write.put_unlogged(Some(&old), &Blob { last_access: Some(stamp.now), ..old.blob.clone() });
    }
    Ok(())
}
