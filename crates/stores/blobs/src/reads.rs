//! Reads: a blob with its properties, its content, its blocks and pages.

use crate::error::Error;
use crate::store::{BlobStore, pending};
use bytes::Bytes;
use orrery_blobs::operations::{BlockLists, ByteRange, ListPages, PageList, RangeRequest};
use orrery_blobs::{Address, Blob, Conditions, Selector};

/// A blob whose content is being read. It stays as it was when the read began.
pub struct BlobReader {
    blob: Blob,
    range: ByteRange,
}

impl BlobStore {
    /// Get Blob Properties.
    pub fn blob(&self, _address: &Address, _selector: Selector, _conditions: &Conditions) -> Result<Blob, Error> {
        pending()
    }

    /// Get Blob. `InvalidRange` if the range begins behind the end.
    pub async fn open_blob(
        &self,
        _address: &Address,
        _selector: Selector,
        _range: Option<RangeRequest>,
        _conditions: &Conditions,
    ) -> Result<BlobReader, Error> {
        pending()
    }

    /// Get Block List: of a blob, or of blocks that wait to be committed.
    pub fn block_lists(
        &self,
        _address: &Address,
        _selector: Selector,
        _conditions: &Conditions,
    ) -> Result<BlockLists, Error> {
        pending()
    }

    /// Get Page Ranges.
    pub fn page_ranges(
        &self,
        _address: &Address,
        _selector: Selector,
        _request: &ListPages,
    ) -> Result<PageList, Error> {
        pending()
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
        Some(pending())
    }

    /// All bytes at once: for ranges whose hash goes before them.
    pub async fn read_all(self) -> Result<Bytes, Error> {
        pending()
    }
}
