//! Chunks, and where they are.

use crate::{format, limits};
use std::fmt;

/// The number of a chunk file. Never used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileId(pub u64);

/// A chunk's name for as long as it exists: the file it was written to, and its number there. Stays when the chunk is moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ChunkId(pub u64);

/// A chunk of somebody's content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chunk {
    pub id: ChunkId,
    /// Bytes of content, 1 to [`CHUNK_BYTES_MAX`](limits::CHUNK_BYTES_MAX).
    pub length: u32,
}

/// Where a chunk is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Location {
    pub chunk: ChunkId,
    pub file: FileId,
    pub offset: u64,
    pub length: u32,
}

impl ChunkId {
    pub(crate) fn new(file: FileId, number: u32) -> Self {
        assert!(number < limits::FILE_CHUNKS_MAX, "a file has a limited number of chunks");
        Self(file.0 * u64::from(limits::FILE_CHUNKS_MAX) + u64::from(number))
    }

    /// The file that the chunk was written to.
    pub(crate) fn first_file(self) -> FileId {
        FileId(self.0 / u64::from(limits::FILE_CHUNKS_MAX))
    }
}

impl Location {
    /// Whether the chunk is where it was first written.
    pub(crate) fn is_first(&self) -> bool {
        self.chunk.first_file() == self.file
    }

    /// Bytes that the chunk takes in its file, with its checksums.
    pub(crate) fn stored_bytes(&self) -> u64 {
        format::stored_bytes(self.length)
    }
}

impl fmt::Display for FileId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:010x}", self.0)
    }
}

impl fmt::Display for ChunkId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:x}", self.0)
    }
}
