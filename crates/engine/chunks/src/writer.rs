//! An upload: content that is cut into chunks and appended to files while it arrives.
//!
//! A writer holds one buffer of [`WRITE_BUFFER_BYTES`](limits::WRITE_BUFFER_BYTES) and the checksums of one chunk, whatever the
//! content's size. Dropped at any time, it leaves bytes that nothing refers to.

use crate::append_file::{InFlight, Reservation};
use crate::chunks::Inner;
use crate::{Chunk, Error, Location, format, limits};
use std::sync::Arc;

pub struct Writer {
    chunks: Arc<Inner>,
    /// Bytes that are still to come, if the caller knew.
    expected: Option<u64>,
    current: Option<OpenChunk>,
    /// What follows the written part of the current chunk. The written part ends with a frame.
    buffer: Vec<u8>,
    done: Vec<(Location, InFlight)>,
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
        Self { chunks, expected, current: None, buffer: Vec::new(), done: Vec::new() }
    }

    /// Appends to the content. May wait for the disk. After an error the writer must be dropped.
    pub fn write(&mut self, mut bytes: &[u8]) -> Result<(), Error> {
        self.expected = self.expected.map(|expected| expected.saturating_sub(bytes.len() as u64));
        while !bytes.is_empty() {
            if self.room_left() == 0 {
                self.end_chunk()?;
            }
            if self.current.is_none() {
                self.begin_chunk(bytes.len() as u64)?;
            }
            let buffered =
                bytes.len().min(limits::WRITE_BUFFER_BYTES - self.buffer.len()).min(self.room_left());
            let (now, later) = bytes.split_at(buffered);
            bytes = later;
            if self.buffer.is_empty() && now.len() == limits::WRITE_BUFFER_BYTES {
                self.append(now)?;
                continue;
            }
            self.buffer.reserve_exact(limits::WRITE_BUFFER_BYTES - self.buffer.len());
            self.buffer.extend_from_slice(now);
            if self.buffer.len() == limits::WRITE_BUFFER_BYTES {
                self.flush()?;
            }
        }
        Ok(())
    }

    /// Content so far.
    pub fn bytes(&self) -> u64 {
        let done: u64 = self.done.iter().map(|(location, _)| u64::from(location.length)).sum();
        let written = self.current.as_ref().map_or(0, |chunk| chunk.written);
        done + u64::from(written) + self.buffer.len() as u64
    }

    /// Ends the content. Empty content has no chunks.
    pub fn finish(mut self) -> Result<Appended, Error> {
        self.end_chunk()?;
        let (locations, in_flight) = std::mem::take(&mut self.done).into_iter().unzip();
        Ok(Appended(Stored { chunks: self.chunks, locations, in_flight }))
    }

    /// Content that the current chunk can still take; nothing is left of none.
    fn room_left(&self) -> usize {
        let left = |chunk: &OpenChunk| (chunk.room.length_max - chunk.written) as usize;
        self.current.as_ref().map_or(usize::MAX, left).saturating_sub(self.buffer.len())
    }

    /// `coming`: content that is at hand.
    fn begin_chunk(&mut self, coming: u64) -> Result<(), Error> {
        let expected = self.expected.map(|later| later + coming);
        let length = expected.unwrap_or(u64::MAX).min(u64::from(limits::CHUNK_BYTES_MAX)) as u32;
        let room = self.chunks.reserve(length)?;
        self.current = Some(OpenChunk { room, written: 0, checksums: Vec::new() });
        Ok(())
    }

    fn flush(&mut self) -> Result<(), Error> {
        let mut buffer = std::mem::take(&mut self.buffer);
        self.append(&buffer)?;
        buffer.clear();
        self.buffer = buffer;
        Ok(())
    }

    fn append(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let chunk = self.current.as_mut().expect("a chunk was begun for what arrived");
        self.chunks.check_room(bytes.len() as u64)?;
        let at = u64::from(chunk.written);
        chunk.add_checksums(bytes);
        chunk.room.write(bytes, at)
    }

    /// Writes what is buffered together with the checksums.
    fn end_chunk(&mut self) -> Result<(), Error> {
        let Some(mut chunk) = self.current.take() else { return Ok(()) };
        let (mut rest, at) = (std::mem::take(&mut self.buffer), u64::from(chunk.written));
        chunk.add_checksums(&rest);
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
