//! Changes of a blob beside its content: properties, metadata, tags, leases, tiers, snapshots, deletes, protection.

use crate::error::Error;
use crate::store::{BlobStore, pending};
use orrery_blobs::blob::Immutability;
use orrery_blobs::lease::{LeaseAction, Leased};
use orrery_blobs::operations::{
    DeleteBlob, Deleted, PropertiesSet, SetProperties, SetTier, SnapshotMade, TierSet, Written,
};
use orrery_blobs::tags::TagSet;
use orrery_blobs::{Address, Conditions, Selector};
use orrery_catalog::storage::Metadata;
use orrery_core::Ticks;

impl BlobStore {
    pub async fn set_properties(&self, _address: &Address, _set: SetProperties) -> Result<PropertiesSet, Error> {
        pending()
    }

    /// Replaces all metadata.
    pub async fn set_metadata(
        &self,
        _address: &Address,
        _metadata: Metadata,
        _conditions: Conditions,
    ) -> Result<Written, Error> {
        pending()
    }

    pub fn tags(&self, _address: &Address, _selector: Selector, _conditions: &Conditions) -> Result<TagSet, Error> {
        pending()
    }

    /// Replaces all tags.
    pub async fn set_tags(
        &self,
        _address: &Address,
        _selector: Selector,
        _tags: TagSet,
        _conditions: Conditions,
    ) -> Result<(), Error> {
        pending()
    }

    /// The lease, and the ETag and Last-Modified of the blob, which do not change.
    pub async fn lease_blob(
        &self,
        _address: &Address,
        _action: LeaseAction,
        _conditions: Conditions,
    ) -> Result<(Leased, Ticks), Error> {
        pending()
    }

    /// With metadata, the snapshot has these instead of the blob's.
    pub async fn snapshot_blob(
        &self,
        _address: &Address,
        _metadata: Option<Metadata>,
        _conditions: Conditions,
    ) -> Result<SnapshotMade, Error> {
        pending()
    }

    pub async fn delete_blob(&self, _address: &Address, _delete: DeleteBlob) -> Result<Deleted, Error> {
        pending()
    }

    /// Brings back what was soft-deleted: the blob, its snapshots and versions.
    pub async fn undelete_blob(&self, _address: &Address) -> Result<(), Error> {
        pending()
    }

    pub async fn set_tier(&self, _address: &Address, _set: SetTier) -> Result<TierSet, Error> {
        pending()
    }

    pub async fn set_immutability(
        &self,
        _address: &Address,
        _selector: Selector,
        _policy: Immutability,
        _conditions: Conditions,
    ) -> Result<Immutability, Error> {
        pending()
    }

    pub async fn delete_immutability(&self, _address: &Address, _selector: Selector) -> Result<(), Error> {
        pending()
    }

    /// Returns whether there is one now.
    pub async fn set_legal_hold(&self, _address: &Address, _selector: Selector, _hold: bool) -> Result<bool, Error> {
        pending()
    }
}
