//! Reading a part of a chunk: only the frames that have it, each against its checksum.

use crate::files::{ChunkFile, Files};
use crate::{Error, FileId, Location, Pin, format, limits};
use bytes::Bytes;
use std::collections::HashMap;
use std::io;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Bytes between content and its checksums that are read although nobody asked for them, to spare a second read.
const GAP_BYTES_MAX: u64 = 64 * 1024;

impl Pin {
    /// The bytes of a chunk's content in this range; it must lie within the chunk. Reads whole frames, so a long run of bytes is best
    /// read in pieces of some hundred KiB. Damage is an error, and so is a file that is gone.
    pub fn read(&self, location: &Location, range: Range<u32>) -> Result<Bytes, Error> {
        let file = self.chunks.readers.open(&*self.chunks.files, location.file)?;
        read(&*file, location, range)
    }
}

pub(crate) fn read(file: &dyn ChunkFile, location: &Location, range: Range<u32>) -> Result<Bytes, Error> {
    assert!(range.start <= range.end && range.end <= location.length, "a range lies within its chunk");
    if range.is_empty() {
        return Ok(Bytes::new());
    }
    let frames = format::frames_of(&range);
    let content = format::content_of(&frames, location.length);
    let stored = read_frames(file, location, &frames)?;
    let (from, to) = (range.start - content.start, range.end - content.start);
    Ok(Bytes::from(stored).slice(from as usize..to as usize))
}

/// The content of these frames, followed by anything.
fn read_frames(file: &dyn ChunkFile, location: &Location, frames: &Range<u32>) -> Result<Vec<u8>, Error> {
    let content = format::content_of(frames, location.length);
    let checksums = location.length + frames.start * format::CHECKSUM_BYTES
        ..location.length + frames.end * format::CHECKSUM_BYTES;
    let mut buffer = Vec::new();
    let mut read = |range: Range<u32>| {
        let (before, at) = (buffer.len(), location.offset + u64::from(range.start));
        file.read_at(&mut buffer, range.len(), at).map_err(|error| Error::unavailable(&error))?;
        let is_whole = buffer.len() - before == range.len();
        is_whole.then_some(()).ok_or(Error::Torn { file: location.file, offset: location.offset })
    };
    let checksums_at = if u64::from(checksums.start - content.end) <= GAP_BYTES_MAX {
        read(content.start..checksums.end)?;
        checksums.start - content.start
    } else {
        read(content.clone())?;
        read(checksums.clone())?;
        content.len() as u32
    };
    let (found, rest) = buffer.split_at(content.len());
    let stored = &rest[checksums_at as usize - content.len()..];
    match format::damaged(location.chunk, frames.start, found, stored) {
        None => Ok(buffer),
        Some(frame) => {
            let offset = location.offset + u64::from(frame * format::FRAME_BYTES);
            Err(Error::Corrupt { file: location.file, offset })
        }
    }
}

/// Files that are open for reading.
#[derive(Default)]
pub(crate) struct Readers(Mutex<HashMap<FileId, Arc<dyn ChunkFile>>>);

impl Readers {
    pub fn open(&self, files: &dyn Files, id: FileId) -> Result<Arc<dyn ChunkFile>, Error> {
        if let Some(known) = self.state().get(&id) {
            return Ok(known.clone());
        }
        let file = open(files, id)?;
        let mut state = self.state();
        if state.len() >= limits::READ_FILES_MAX {
            // Any will do: it is opened again if it is needed.
            if let Some(any) = state.keys().next().copied() {
                state.remove(&any);
            }
        }
        state.insert(id, file.clone());
        Ok(file)
    }

    pub fn close(&self, id: FileId) {
        self.state().remove(&id);
    }

    fn state(&self) -> MutexGuard<'_, HashMap<FileId, Arc<dyn ChunkFile>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

pub(crate) fn open(files: &dyn Files, id: FileId) -> Result<Arc<dyn ChunkFile>, Error> {
    files.open(id).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => Error::Missing(id),
        _ => Error::unavailable(&error),
    })
}
