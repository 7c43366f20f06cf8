//! Snapshot Blob: the blob as it is now, to be read later.

use super::write::{Place, Write};
use super::{SnapshotMade, SnapshotOf, Stamp};
use crate::blob::{Blob, BlobState};
use crate::conditions::Conditions;
use crate::events::{EventApi, EventKind};
use crate::refusal::{BlobError, Refusal};
use orrery_catalog::storage::Metadata;
use orrery_kv::Txn;

pub fn snapshot(
    txn: &mut Txn<'_>,
    place: Place<'_>,
    metadata: Option<&Metadata>,
    conditions: &Conditions,
    stamp: Stamp,
) -> Result<SnapshotMade, BlobError> {
    let mut write = Write::begin(txn, place, stamp);
    let old = write.existing()?;
    conditions.check(old.blob.target())?;
    old.blob.lease.check_read(conditions.lease, stamp.now)?;
    write.check_not_pending(&old)?;
    if old.blob.tier.is_archived(stamp.now) {
        return Err(Refusal::BlobArchived.into());
    }
    let at = write.moment_of_state(Some(&old))?;
    let content = write.share_content(&old.blob)?;
    let blob = Blob {
        state: BlobState::Snapshot(at),
        content,
        metadata: metadata.cloned().unwrap_or_else(|| old.blob.metadata.clone()),
        lease: Default::default(),
        immutability: None,
        legal_hold: false,
        ..old.blob.clone()
    };
    write.put(None, &blob);
    write.event(EventKind::BlobSnapshotCreated, EventApi::SnapshotBlob, &blob);
    let written = SnapshotOf { modified: old.blob.modified, version: old.blob.version };
    Ok(SnapshotMade { snapshot: at, written })
}
