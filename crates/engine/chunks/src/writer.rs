//! An upload: content that is cut into chunks and appended to files while it arrives.
//!
//! A writer holds one buffer of [`WRITE_BUFFER_BYTES`](limits::WRITE_BUFFER_BYTES) and the checksums of one chunk, whatever the
//! content's size. All of a chunk but its end is written in whole buffers, and so in whole frames. Dropped at any time, a writer
//! leaves bytes that nothing refers to.

use crate::append_file::{InFlight, Reservation};
use crate::chunks::Inner;
use crate::{Chunk, Error, Location, format, limits};
use std::sync::Arc;

pub struct Writer {
    chunks: Arc<Inner>,
    /// Length of the content, if the caller knew.
    expected: Option<u64>,
    /// Bytes that are in chunks. What follows them is in the buffer.
    appended: u64,
    buffer: Vec<u8>,
    current: Option<OpenChunk>,
    done: Vec<(Location, InFlight)>,
    failure: Option<Error>,
}

struct OpenChunk {
    room: Reservation,
    written: u32,
    checksums: Vec<u8>,
}

/// Content that is written and not yet synced.
#[must_use = "nothing of it is kept before it is synced and added"]
pub struct Appended(Stored);

/// Content that survives a power cut. It becomes part of the store by [`add`](crate::add); while this is held, it is not reclaimed.
#[must_use = "nothing of it is kept before it is added"]
pub struct Synced(Stored);

struct Stored {
    chunks: Arc<Inner>,
    locations: Vec<Location>,
    in_flight: Vec<InFlight>,
}

impl Writer {
    pub(crate) fn new(chunks: Arc<Inner>, expected: Option<u64>) -> Self {
        Self {
            chunks,
            expected,
            appended: 0,
            buffer: Vec::new(),
            current: None,
            done: Vec::new(),
            failure: None,
        }
    }

    /// Appends to the content. May wait for the disk. After an error nothing of the content can be kept.
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.may_go_on()?;
        self.buffer_or_append(bytes).inspect_err(|error| self.failure = Some(error.clone()))
    }

    fn may_go_on(&self) -> Result<(), Error> {
        self.failure.clone().map_or(Ok(()), Err)
    }

    fn buffer_or_append(&mut self, mut bytes: &[u8]) -> Result<(), Error> {
        while !bytes.is_empty() {
            let fits = bytes.len().min(limits::WRITE_BUFFER_BYTES - self.buffer.len());
            let (now, later) = bytes.split_at(fits);
            bytes = later;
            if now.len() == limits::WRITE_BUFFER_BYTES {
                self.append(now)?;
                continue;
            }
            self.buffer.reserve_exact(limits::WRITE_BUFFER_BYTES - self.buffer.len());
            self.buffer.extend_from_slice(now);
            if self.buffer.len() == limits::WRITE_BUFFER_BYTES {
                let mut full = std::mem::take(&mut self.buffer);
                self.append(&full)?;
                full.clear();
                self.buffer = full;
            }
        }
        Ok(())
    }

    /// Content so far.
    pub fn bytes(&self) -> u64 {
        self.appended + self.buffer.len() as u64
    }

    /// Ends the content. Empty content has no chunks.
    pub fn finish(mut self) -> Result<Appended, Error> {
        self.may_go_on()?;
        let rest = std::mem::take(&mut self.buffer);
        if !rest.is_empty() {
            self.expected = Some(self.appended + rest.len() as u64);
            self.make_room(rest.len() as u32)?;
        }
        self.end_chunk(rest)?;
        let (locations, in_flight) = std::mem::take(&mut self.done).into_iter().unzip();
        Ok(Appended(Stored { chunks: self.chunks, locations, in_flight }))
    }

    /// Whole frames, which more may follow.
    fn append(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.chunks.check_room(bytes.len() as u64)?;
        let chunk = self.make_room(bytes.len() as u32)?;
        let at = u64::from(chunk.written);
        chunk.add_checksums(bytes);
        chunk.room.write(bytes, at)?;
        self.appended += bytes.len() as u64;
        Ok(())
    }

    /// A chunk with room for so many bytes: the current one, if need be with more room, or another.
    fn make_room(&mut self, length: u32) -> Result<&mut OpenChunk, Error> {
        let wanted = self.wanted(length);
        let has_room = |chunk: &mut OpenChunk| {
            chunk.room.length_max - chunk.written >= length || chunk.room.extend(wanted)
        };
        if !self.current.as_mut().is_some_and(has_room) {
            self.end_chunk(Vec::new())?;
            let room = self.chunks.reserve(wanted)?;
            self.current = Some(OpenChunk { room, written: 0, checksums: Vec::new() });
        }
        Ok(self.current.as_mut().expect("it was there, or was just begun"))
    }

    /// How much room to ask for: all that is still to come, or else as much as there is so far, so that no more is left empty in a
    /// shared file than is used.
    fn wanted(&self, length: u32) -> u32 {
        let known = self.expected.and_then(|expected| expected.checked_sub(self.appended));
        let wanted = match known {
            Some(left) if left >= u64::from(length) => left,
            _ => self.appended.max(limits::RESERVED_BYTES_MIN),
        };
        wanted.min(u64::from(limits::CHUNK_BYTES_MAX)).max(u64::from(length)) as u32
    }

    /// Writes what is left of the chunk's content together with the checksums.
    fn end_chunk(&mut self, mut rest: Vec<u8>) -> Result<(), Error> {
        let Some(mut chunk) = self.current.take() else { return Ok(()) };
        let at = u64::from(chunk.written);
        chunk.add_checksums(&rest);
        self.appended += rest.len() as u64;
        rest.extend_from_slice(&chunk.checksums);
        self.chunks.check_room(rest.len() as u64)?;
        chunk.room.write(&rest, at)?;
        self.done.push(chunk.room.end(chunk.written));
        Ok(())
    }
}

impl OpenChunk {
    fn add_checksums(&mut self, content: &[u8]) {
        let first = self.written / format::FRAME_BYTES;
        format::write_checksums(&mut self.checksums, self.room.chunk(), first, content);
        self.written += content.len() as u32;
    }
}

impl Appended {
    /// Waits until everything is on the disk; does nothing with `--durability relaxed`. Uploads to the same file share syncs.
    pub fn sync(self) -> Result<Synced, Error> {
        if self.0.chunks.is_durable() {
            let mut files: Vec<_> = self.0.in_flight.iter().map(InFlight::file).collect();
            files.dedup_by_key(|file| file.id);
            files.into_iter().try_for_each(|file| file.sync())?;
        }
        Ok(Synced(self.0))
    }
}

impl Synced {
    /// What the content consists of, in order.
    pub fn chunks(&self) -> impl ExactSizeIterator<Item = Chunk> + '_ {
        self.0.locations.iter().map(|location| Chunk { id: location.chunk, length: location.length })
    }

    /// Bytes of content.
    pub fn bytes(&self) -> u64 {
        self.0.locations.iter().map(|location| u64::from(location.length)).sum()
    }

    pub(crate) fn locations(&self) -> &[Location] {
        &self.0.locations
    }
}
