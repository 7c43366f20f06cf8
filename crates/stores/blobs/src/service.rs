//! The settings of an account's blob service.

use crate::error::Error;
use crate::store::{BlobStore, pending};
use orrery_blobs::settings::BlobSettings;
use orrery_catalog::storage::{AccountName, ServiceProperties};
use std::sync::Arc;

/// What the service properties of storage services have in common, and what is of blobs alone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BlobService {
    pub properties: ServiceProperties,
    pub settings: BlobSettings,
}

impl BlobStore {
    pub fn service(&self, _account: &AccountName) -> Result<Arc<BlobService>, Error> {
        pending()
    }

    /// Replaces both. The caller has checked them.
    pub async fn set_service(&self, _account: &AccountName, _service: BlobService) -> Result<(), Error> {
        pending()
    }
}
