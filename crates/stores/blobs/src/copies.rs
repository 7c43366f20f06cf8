//! Copies: within the store without moving a byte, and from elsewhere with content that the caller brings.

use crate::error::Error;
use crate::store::{BlobStore, pending};
use crate::upload::Uploaded;
use orrery_blobs::blob::CopyId;
use orrery_blobs::lease::LeaseId;
use orrery_blobs::operations::{Copied, CopyOptions, PendingCopy, PutOptions, RangeRequest, Written};
use orrery_blobs::{Address, Conditions, Selector};

impl BlobStore {
    /// Copies a blob of this store, with its blocks and pages, at once. Both share their content.
    pub async fn copy_blob(
        &self,
        _from: &Address,
        _selector: Selector,
        _to: &Address,
        _options: CopyOptions,
    ) -> Result<Copied, Error> {
        pending()
    }

    /// A range of a blob of this store as if it had been uploaded, for blocks, appends and pages from an address.
    pub async fn upload_from(
        &self,
        _from: &Address,
        _selector: Selector,
        _range: Option<RangeRequest>,
        _conditions: &Conditions,
        _bytes_max: u64,
    ) -> Result<Uploaded, Error> {
        pending()
    }

    /// Begins a copy from elsewhere: the blob is there, empty, and its copy pending.
    pub async fn begin_copy(
        &self,
        _address: &Address,
        _source_url: String,
        _options: PutOptions,
    ) -> Result<PendingCopy, Error> {
        pending()
    }

    /// How far a pending copy has come. `NoPendingCopy` if it was aborted meanwhile.
    pub async fn note_copy_progress(
        &self,
        _address: &Address,
        _id: CopyId,
        _copied: u64,
        _total: Option<u64>,
    ) -> Result<(), Error> {
        pending()
    }

    /// The content is there; its headers, metadata and tags are those of `options`.
    pub async fn finish_copy(
        &self,
        _address: &Address,
        _id: CopyId,
        _uploaded: Uploaded,
        _options: PutOptions,
    ) -> Result<Written, Error> {
        pending()
    }

    /// The source could not be read.
    pub async fn fail_copy(&self, _address: &Address, _id: CopyId, _why: String) -> Result<(), Error> {
        pending()
    }

    /// Abort Copy Blob: an empty blob stays.
    pub async fn abort_copy(
        &self,
        _address: &Address,
        _id: CopyId,
        _lease: Option<LeaseId>,
    ) -> Result<(), Error> {
        pending()
    }
}
