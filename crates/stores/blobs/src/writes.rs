//! Writes of content: whole blobs, blocks, appended blocks, pages.

use crate::error::Error;
use crate::limits;
use crate::store::BlobStore;
use crate::upload::Uploaded;
use orrery_blobs::blob::BlockId;
use orrery_blobs::lease::LeaseId;
use orrery_blobs::operations::{
    self, AppendConditions, Appended, BlockRef, ByteRange, NewBlob, NewPageBlob, PageConditions,
    PagesWritten, PutOptions, Written,
};
use orrery_blobs::{Address, Conditions};

impl BlobStore {
    /// Whether a write with these conditions would be refused now: asked before a body is read.
    pub fn check_write(&self, address: &Address, conditions: &Conditions) -> Result<(), Error> {
        let now = self.env().now();
        self.read(address, |state, place| operations::check_write(state, place, conditions, now))
    }

    /// Put Blob, of a block blob. Without a Content-MD5 of its own, the blob gets that of its content.
    pub async fn put_blob(
        &self,
        address: &Address,
        uploaded: Uploaded,
        mut options: PutOptions,
    ) -> Result<Written, Error> {
        options.headers.content_md5.get_or_insert(uploaded.md5());
        self.write(address, |txn, place, stamp| {
            operations::put(txn, place, NewBlob::Block(uploaded.content()), &options, stamp)
        })
        .await
    }

    /// Put Blob, of an append blob, which is empty.
    pub async fn put_append_blob(&self, address: &Address, options: PutOptions) -> Result<Written, Error> {
        self.write(address, |txn, place, stamp| operations::put(txn, place, NewBlob::Append, &options, stamp))
            .await
    }

    /// Put Blob, of a page blob.
    pub async fn put_page_blob(
        &self,
        address: &Address,
        new: NewPageBlob,
        options: PutOptions,
    ) -> Result<Written, Error> {
        self.write(address, |txn, place, stamp| {
            operations::put(txn, place, NewBlob::Page(new), &options, stamp)
        })
        .await
    }

    /// Put Block.
    pub async fn stage_block(
        &self,
        address: &Address,
        id: BlockId,
        uploaded: Uploaded,
        lease: Option<LeaseId>,
    ) -> Result<(), Error> {
        let uploaded = uploaded.in_chunks_above(limits::INLINE_BLOCK_BYTES_MAX, self.chunks()).await?;
        self.write(address, |txn, place, stamp| {
            operations::stage_block(txn, place, &id, uploaded.content(), lease, stamp)
        })
        .await
    }

    /// Put Block List.
    pub async fn commit_block_list(
        &self,
        address: &Address,
        blocks: Vec<BlockRef>,
        options: PutOptions,
    ) -> Result<Written, Error> {
        self.write(address, |txn, place, stamp| {
            operations::commit_block_list(txn, place, &blocks, &options, stamp)
        })
        .await
    }

    pub async fn append_block(
        &self,
        address: &Address,
        uploaded: Uploaded,
        conditions: AppendConditions,
    ) -> Result<Appended, Error> {
        self.write(address, |txn, place, stamp| {
            operations::append(txn, place, uploaded.content(), &conditions, stamp)
        })
        .await
    }

    /// Seal: the append blob takes nothing more.
    pub async fn seal(&self, address: &Address, conditions: AppendConditions) -> Result<Written, Error> {
        self.write(address, |txn, place, stamp| operations::seal(txn, place, &conditions, stamp)).await
    }

    /// Writes pages from this offset on, as many as were uploaded.
    pub async fn put_pages(
        &self,
        address: &Address,
        offset: u64,
        uploaded: Uploaded,
        conditions: PageConditions,
    ) -> Result<PagesWritten, Error> {
        self.write(address, |txn, place, stamp| {
            operations::put_pages(txn, place, offset, uploaded.content(), &conditions, stamp)
        })
        .await
    }

    pub async fn clear_pages(
        &self,
        address: &Address,
        range: ByteRange,
        conditions: PageConditions,
    ) -> Result<PagesWritten, Error> {
        self.write(address, |txn, place, stamp| {
            operations::clear_pages(txn, place, range, &conditions, stamp)
        })
        .await
    }
}
