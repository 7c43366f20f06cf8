//! Delete Blob and Undelete Blob.
//!
//! ```text
//! versioning   retention    the blob becomes       a snapshot or version becomes
//! on           any          an earlier version     soft-deleted, or goes without retention
//! off          on           soft-deleted           soft-deleted
//! off          off          gone                   gone
//! ```

use super::write::{Place, Stored, Write, as_deleted, as_version, load};
use super::{DeleteBlob, DeleteSnapshots, Deleted, Stamp};
use crate::address::Selector;
use crate::blob::{Blob, BlobState};
use crate::events::{EventApi, EventKind};
use crate::refusal::{BlobError, Refusal};
use orrery_kv::Txn;

pub fn delete(
    txn: &mut Txn<'_>,
    place: Place<'_>,
    delete: &DeleteBlob,
    stamp: Stamp,
) -> Result<Deleted, BlobError> {
    txn.frees();
    let mut write = Write::begin(txn, place, stamp);
    match delete.selector {
        Selector::Current => write.delete_blob(delete),
        selector => write.delete_state(selector, delete),
    }
}

impl Write<'_, '_, '_> {
    fn delete_blob(&mut self, delete: &DeleteBlob) -> Result<Deleted, BlobError> {
        let old = self.existing()?;
        self.check(&old, &delete.conditions)?;
        self.check_not_pending(&old)?;
        let history = self.history()?;
        let is_live_snapshot = |stored: &&Stored| {
            matches!(stored.blob.state, BlobState::Snapshot(_)) && stored.blob.deleted.is_none()
        };
        let snapshots: Vec<&Stored> = history.iter().filter(is_live_snapshot).collect();
        match delete.snapshots {
            DeleteSnapshots::Refuse if !snapshots.is_empty() => return Err(Refusal::SnapshotsPresent.into()),
            DeleteSnapshots::Refuse => {}
            DeleteSnapshots::Include | DeleteSnapshots::Only => {
                for snapshot in &snapshots {
                    self.check_not_protected(snapshot)?;
                }
                for snapshot in snapshots {
                    self.delete_stored(snapshot)?;
                }
            }
        }
        if delete.snapshots != DeleteSnapshots::Only {
            self.delete_current(old)?;
        }
        Ok(Deleted { is_permanent: self.soft_deletion().is_none() })
    }

    fn delete_current(&mut self, old: Stored) -> Result<(), BlobError> {
        self.drop_staging()?;
        self.event(EventKind::BlobDeleted, EventApi::DeleteBlob, &old.blob);
        if self.place.settings.versioning {
            let at = self.version_of(&old)?;
            self.relocate(&old, as_version(&old.blob, at));
            return Ok(());
        }
        self.check_not_protected(&old)?;
        match self.soft_deletion() {
            Some(deleted) => self.relocate(&old, as_deleted(&old.blob, BlobState::DeletedBlob, deleted)),
            None => self.purge(&old)?,
        }
        Ok(())
    }

    fn delete_state(&mut self, selector: Selector, delete: &DeleteBlob) -> Result<Deleted, BlobError> {
        let found = super::write::select(self.txn, self.place.container, self.name(), selector)?;
        let old = found.ok_or(Refusal::BlobNotFound)?;
        if old.blob.state == BlobState::Current {
            return Err(Refusal::RootBlob.into());
        }
        delete.conditions.check(old.blob.target())?;
        self.check_not_protected(&old)?;
        match (old.blob.deleted, delete.is_permanent) {
            (Some(_), true) if self.allows_permanent() => self.purge(&old)?,
            (_, true) => return Err(Refusal::PermanentDeleteRefused.into()),
            (Some(_), false) => return Err(Refusal::BlobNotFound.into()),
            (None, false) => self.delete_stored(&old)?,
        }
        Ok(Deleted { is_permanent: delete.is_permanent || self.soft_deletion().is_none() })
    }

    /// Of a snapshot or version that is there.
    fn delete_stored(&mut self, old: &Stored) -> Result<(), BlobError> {
        self.event(EventKind::BlobDeleted, EventApi::DeleteBlob, &old.blob);
        match self.soft_deletion() {
            Some(deleted) => self.put(Some(old), &as_deleted(&old.blob, old.blob.state, deleted)),
            None => self.purge(old)?,
        }
        Ok(())
    }

    fn check_not_protected(&self, old: &Stored) -> Result<(), Refusal> {
        if old.blob.is_protected(self.now()) { Err(Refusal::ImmutableDueToPolicy) } else { Ok(()) }
    }

    fn allows_permanent(&self) -> bool {
        self.place.settings.delete_retention.is_some_and(|retention| retention.allow_permanent_delete)
    }
}

/// Undelete Blob: everything of the name that was soft-deleted is there again. With versioning, none of it becomes current.
pub fn undelete(txn: &mut Txn<'_>, place: Place<'_>, stamp: Stamp) -> Result<(), BlobError> {
    let mut write = Write::begin(txn, place, stamp);
    let has_current = write.current()?.is_some();
    let history = write.history()?;
    if !has_current && history.is_empty() {
        return Err(Refusal::BlobNotFound.into());
    }
    for old in history.iter().filter(|old| old.blob.deleted.is_some()) {
        let restored = Blob { deleted: None, ..old.blob.clone() };
        match old.blob.state {
            BlobState::DeletedBlob => {
                let blob = Blob { state: BlobState::Current, ..restored };
                write.relocate(old, blob.clone());
                write.event(EventKind::BlobCreated, EventApi::UndeleteBlob, &blob);
            }
            _ => write.put(Some(old), &restored),
        }
    }
    Ok(())
}

/// What was soft-deleted goes when its retention is over, unless it was restored or is protected.
pub(super) fn expire_deleted(
    txn: &mut Txn<'_>,
    place: Place<'_>,
    state: BlobState,
    stamp: Stamp,
) -> Result<(), orrery_kv::Error> {
    txn.frees();
    let mut write = Write { txn, place, stamp };
    let stored = load(write.txn, place.container, place.name.as_str(), state)?;
    match stored.filter(|stored| stored.blob.deleted.is_some_and(|deleted| deleted.until <= stamp.now)) {
        Some(stored) => write.purge(&stored),
        None => Ok(()),
    }
}
