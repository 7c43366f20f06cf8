//! Content on its way in: bytes as they arrive, hashed, and kept in memory only until they are a chunk.

use crate::error::Error;
use crate::store::{BlobStore, pending};
use bytes::Bytes;

/// Takes the bytes of one put, block, append or write of pages, in order. Dropped before it is finished, nothing stays.
pub struct ContentWriter {
    length: u64,
}

/// What the caller says the content hashes to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ExpectedHashes {
    pub md5: Option<[u8; 16]>,
    pub crc64: Option<u64>,
}

/// Content that is stored and belongs to nothing yet. Dropped before a write has taken it, nothing stays.
pub struct Uploaded {
    length: u64,
    md5: [u8; 16],
    crc64: u64,
}

impl BlobStore {
    /// A writer of at most so many bytes.
    pub fn upload(&self, _bytes_max: u64) -> ContentWriter {
        ContentWriter { length: 0 }
    }
}

impl ContentWriter {
    /// Takes more bytes; waits when the disk is behind. Fails with `BodyTooLarge` as soon as there are too many.
    pub async fn write(&mut self, bytes: Bytes) -> Result<(), Error> {
        self.length += bytes.len() as u64;
        pending()
    }

    /// Bytes so far.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// All bytes are there, and on the disk.
    pub async fn finish(self, _expected: ExpectedHashes) -> Result<Uploaded, Error> {
        pending()
    }
}

impl Uploaded {
    pub fn length(&self) -> u64 {
        self.length
    }

    pub fn md5(&self) -> [u8; 16] {
        self.md5
    }

    pub fn crc64(&self) -> u64 {
        self.crc64
    }
}
