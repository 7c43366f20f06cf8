//! Writes of content: whole blobs, blocks, appended blocks, pages.

use crate::error::Error;
use crate::store::{BlobStore, pending};
use crate::upload::Uploaded;
use orrery_blobs::blob::BlockId;
use orrery_blobs::lease::LeaseId;
use orrery_blobs::operations::{
    AppendConditions, Appended, BlockRef, ByteRange, NewPageBlob, PageConditions, PagesWritten, PutOptions, Written,
};
use orrery_blobs::{Address, Conditions};

impl BlobStore {
    /// Whether a write with these conditions would be refused now: asked before a body is read.
    pub fn check_write(&self, _address: &Address, _conditions: &Conditions) -> Result<(), Error> {
        pending()
    }

    /// Put Blob, of a block blob.
    pub async fn put_blob(
        &self,
        _address: &Address,
        _uploaded: Uploaded,
        _options: PutOptions,
    ) -> Result<Written, Error> {
        pending()
    }

    /// Put Blob, of an append blob, which is empty.
    pub async fn put_append_blob(&self, _address: &Address, _options: PutOptions) -> Result<Written, Error> {
        pending()
    }

    /// Put Blob, of a page blob.
    pub async fn put_page_blob(
        &self,
        _address: &Address,
        _new: NewPageBlob,
        _options: PutOptions,
    ) -> Result<Written, Error> {
        pending()
    }

    /// Put Block.
    pub async fn stage_block(
        &self,
        _address: &Address,
        _id: BlockId,
        _uploaded: Uploaded,
        _lease: Option<LeaseId>,
    ) -> Result<(), Error> {
        pending()
    }

    /// Put Block List.
    pub async fn commit_block_list(
        &self,
        _address: &Address,
        _blocks: Vec<BlockRef>,
        _options: PutOptions,
    ) -> Result<Written, Error> {
        pending()
    }

    pub async fn append_block(
        &self,
        _address: &Address,
        _uploaded: Uploaded,
        _conditions: AppendConditions,
    ) -> Result<Appended, Error> {
        pending()
    }

    /// Seal: the append blob takes nothing more.
    pub async fn seal(&self, _address: &Address, _conditions: AppendConditions) -> Result<Written, Error> {
        pending()
    }

    /// Writes pages from this offset on, as many as were uploaded.
    pub async fn put_pages(
        &self,
        _address: &Address,
        _offset: u64,
        _uploaded: Uploaded,
        _conditions: PageConditions,
    ) -> Result<PagesWritten, Error> {
        pending()
    }

    pub async fn clear_pages(
        &self,
        _address: &Address,
        _range: ByteRange,
        _conditions: PageConditions,
    ) -> Result<PagesWritten, Error> {
        pending()
    }
}
