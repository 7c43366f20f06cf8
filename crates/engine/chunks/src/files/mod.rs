//! Where chunk files are: a folder of the disk, or a disk for tests that forgets and fails.

mod folder;
mod memory;

pub use folder::FolderFiles;
pub use memory::{Fault, MemoryFiles};

use crate::FileId;
use std::io;
use std::sync::Arc;

/// A place with chunk files.
pub trait Files: Send + Sync {
    /// The files that are there, with their lengths.
    fn list(&self) -> io::Result<Vec<(FileId, u64)>>;

    /// Makes an empty file. After a crash it may be missing until [`sync`](Self::sync).
    fn create(&self, id: FileId) -> io::Result<Arc<dyn ChunkFile>>;

    fn open(&self, id: FileId) -> io::Result<Arc<dyn ChunkFile>>;

    /// Removes a file. Whoever has it open reads on. After a crash it may be there again.
    fn remove(&self, id: FileId) -> io::Result<()>;

    /// The files that were made are there after a crash.
    fn sync(&self) -> io::Result<()>;

    /// Free space of the disk.
    fn free_bytes(&self) -> io::Result<u64>;
}

pub trait ChunkFile: Send + Sync {
    /// After an error, any part of the bytes may have been written.
    fn write_all_at(&self, bytes: &[u8], offset: u64) -> io::Result<()>;

    /// Appends the bytes from `offset` on to `buffer`, `length` of them, or fewer at the end of the file.
    fn read_at(&self, buffer: &mut Vec<u8>, length: usize, offset: u64) -> io::Result<()>;

    /// What was written so far survives a power cut. After an error that is unknown, and a repeated sync would not tell.
    fn sync(&self) -> io::Result<()>;
}
