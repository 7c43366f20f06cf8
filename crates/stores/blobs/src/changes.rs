//! Changes of a blob beside its content: properties, metadata, tags, leases, tiers, snapshots, deletes, protection.

use crate::error::Error;
use crate::store::BlobStore;
use orrery_blobs::blob::Immutability;
use orrery_blobs::lease::{LeaseAction, Leased};
use orrery_blobs::operations::{
    self, DeleteBlob, Deleted, PropertiesSet, SetProperties, SetTier, SnapshotMade, TierSet, Written,
};
use orrery_blobs::tags::TagSet;
use orrery_blobs::{Address, Conditions, Selector};
use orrery_catalog::storage::Metadata;
use orrery_core::Ticks;

impl BlobStore {
    pub async fn set_properties(
        &self,
        address: &Address,
        set: SetProperties,
    ) -> Result<PropertiesSet, Error> {
        self.write(address, |txn, place, stamp| operations::set_properties(txn, place, &set, stamp)).await
    }

    /// Replaces all metadata.
    pub async fn set_metadata(
        &self,
        address: &Address,
        metadata: Metadata,
        conditions: Conditions,
    ) -> Result<Written, Error> {
        self.write(address, |txn, place, stamp| {
            operations::set_metadata(txn, place, &metadata, &conditions, stamp)
        })
        .await
    }

    pub fn tags(
        &self,
        address: &Address,
        selector: Selector,
        conditions: &Conditions,
    ) -> Result<TagSet, Error> {
        Ok(self.blob(address, selector, conditions)?.tags)
    }

    /// Replaces all tags.
    pub async fn set_tags(
        &self,
        address: &Address,
        selector: Selector,
        tags: TagSet,
        conditions: Conditions,
    ) -> Result<(), Error> {
        self.write(address, |txn, place, stamp| {
            operations::set_tags(txn, place, selector, &tags, &conditions, stamp)
        })
        .await
    }

    /// The lease, and the ETag and Last-Modified of the blob, which do not change.
    pub async fn lease_blob(
        &self,
        address: &Address,
        action: LeaseAction,
        conditions: Conditions,
    ) -> Result<(Leased, Ticks), Error> {
        self.write(address, |txn, place, stamp| operations::lease(txn, place, action, &conditions, stamp))
            .await
    }

    /// With metadata, the snapshot has these instead of the blob's.
    pub async fn snapshot_blob(
        &self,
        address: &Address,
        metadata: Option<Metadata>,
        conditions: Conditions,
    ) -> Result<SnapshotMade, Error> {
        self.write(address, |txn, place, stamp| {
            operations::snapshot(txn, place, metadata.as_ref(), &conditions, stamp)
        })
        .await
    }

    pub async fn delete_blob(&self, address: &Address, delete: DeleteBlob) -> Result<Deleted, Error> {
        self.write(address, |txn, place, stamp| operations::delete(txn, place, &delete, stamp)).await
    }

    /// Brings back what was soft-deleted: the blob, its snapshots and versions.
    pub async fn undelete_blob(&self, address: &Address) -> Result<(), Error> {
        self.write(address, operations::undelete).await
    }

    pub async fn set_tier(&self, address: &Address, set: SetTier) -> Result<TierSet, Error> {
        let times = self.0.options.rehydration;
        self.write(address, |txn, place, stamp| operations::set_tier(txn, place, &set, times, stamp)).await
    }

    pub async fn set_immutability(
        &self,
        address: &Address,
        selector: Selector,
        policy: Immutability,
        conditions: Conditions,
    ) -> Result<Immutability, Error> {
        self.write(address, |txn, place, stamp| {
            operations::set_immutability(txn, place, selector, policy, &conditions, stamp)
        })
        .await
    }

    pub async fn delete_immutability(&self, address: &Address, selector: Selector) -> Result<(), Error> {
        self.write(address, |txn, place, stamp| operations::delete_immutability(txn, place, selector, stamp))
            .await
    }

    /// Returns whether there is one now.
    pub async fn set_legal_hold(
        &self,
        address: &Address,
        selector: Selector,
        hold: bool,
    ) -> Result<bool, Error> {
        self.write(address, |txn, place, stamp| operations::set_legal_hold(txn, place, selector, hold, stamp))
            .await
    }
}
