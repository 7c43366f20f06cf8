//! Reads: a blob with its properties, its content, its blocks and pages.

use crate::content_parts::ContentParts;
use crate::error::Error;
use crate::store::BlobStore;
use bytes::{Bytes, BytesMut};
use orrery_blobs::operations::{self, BlockLists, ByteRange, ListPages, PageList, RangeRequest};
use orrery_blobs::{Address, Blob, Conditions, Refusal, Selector};

/// A blob whose content is being read. It stays as it was when the read began.
pub struct BlobReader {
    blob: Blob,
    range: ByteRange,
    parts: ContentParts,
}

impl BlobStore {
    /// Get Blob Properties.
    pub fn blob(
        &self,
        address: &Address,
        selector: Selector,
        conditions: &Conditions,
    ) -> Result<Blob, Error> {
        let now = self.env().now();
        self.read(address, |state, place| operations::read(state, place, selector, conditions, now))
    }

    /// Get Blob. `InvalidRange` if the range begins behind the end.
    pub async fn open_blob(
        &self,
        address: &Address,
        selector: Selector,
        range: Option<RangeRequest>,
        conditions: &Conditions,
    ) -> Result<BlobReader, Error> {
        let now = self.env().now();
        let pin = self.chunks().pin();
        let snapshot = self.snapshot();
        let blob = self.read_at(&snapshot, address, |state, place| {
            operations::read(state, place, selector, conditions, now)
        })?;
        if blob.tier.is_archived(now) {
            return Err(Refusal::BlobArchived.into());
        }
        let length = blob.length();
        let range = match range {
            None => ByteRange { start: 0, end: length },
            Some(range) => range.within(length).ok_or(Refusal::InvalidRange { length })?,
        };
        let parts = ContentParts::open(snapshot, pin, blob.content, range)?;
        self.note_access(address, &blob).await;
        Ok(BlobReader { blob, range, parts })
    }

    /// A read goes on if it cannot be recorded.
    async fn note_access(&self, address: &Address, blob: &Blob) {
        let Ok(service) = self.service(&address.container.account) else { return };
        if operations::records_access(&service.settings, blob, self.env().now()) {
            let noted = self.write(address, |txn, place, stamp| {
                operations::note_access(txn, place, blob.modified, stamp)
            });
            drop(noted.await);
        }
    }

    /// Get Block List: of a blob, or of blocks that wait to be committed.
    pub fn block_lists(
        &self,
        address: &Address,
        selector: Selector,
        conditions: &Conditions,
    ) -> Result<BlockLists, Error> {
        let now = self.env().now();
        self.read(address, |state, place| operations::block_lists(state, place, selector, conditions, now))
    }

    /// Get Page Ranges.
    pub fn page_ranges(
        &self,
        address: &Address,
        selector: Selector,
        request: &ListPages,
    ) -> Result<PageList, Error> {
        let now = self.env().now();
        self.read(address, |state, place| operations::page_ranges(state, place, selector, request, now))
    }
}

impl BlobReader {
    pub fn blob(&self) -> &Blob {
        &self.blob
    }

    /// The bytes that it reads.
    pub fn range(&self) -> ByteRange {
        self.range
    }

    /// The next bytes; `None` when all were read. Damage is an error, and no wrong byte is given.
    pub async fn next(&mut self) -> Option<Result<Bytes, Error>> {
        self.parts.next().await
    }

    /// All bytes at once: for ranges whose hash goes before them.
    pub async fn read_all(mut self) -> Result<Bytes, Error> {
        let mut all = BytesMut::new();
        while let Some(bytes) = self.next().await {
            let bytes = bytes?;
            if all.is_empty() && bytes.len() as u64 == self.range.length() {
                return Ok(bytes);
            }
            all.extend_from_slice(&bytes);
        }
        Ok(all.freeze())
    }
}
