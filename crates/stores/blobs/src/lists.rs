//! Lists of blobs, and finding them by tags.

use crate::error::Error;
use crate::store::{BlobStore, pending};
use orrery_blobs::ContainerId;
use orrery_blobs::operations::{BlobPage, FindBlobs, FoundPage, ListBlobs};
use orrery_catalog::storage::AccountName;

impl BlobStore {
    pub fn list_blobs(&self, _container: &ContainerId, _request: &ListBlobs) -> Result<BlobPage, Error> {
        pending()
    }

    /// Of all containers of an account, or of one.
    pub fn find_blobs(&self, _account: &AccountName, _request: &FindBlobs) -> Result<FoundPage, Error> {
        pending()
    }
}
