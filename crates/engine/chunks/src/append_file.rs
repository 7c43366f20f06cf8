//! A file that uploads append to.
//!
//! Each upload reserves room for a chunk and fills it at its own pace, so several can share a file without waiting for each other. A
//! sync covers everything that was written before it began; those that ask for one meanwhile share the next.
//!
//! Invariants: a file whose sync failed once is never synced again and takes nothing more, because Linux forgets what it could not
//! write ([ADR 28](../../../../docs/adr/0028-after-a-failed-sync-restart.md)); reserved room is never reserved again once somebody may
//! refer to it.

use crate::files::ChunkFile;
use crate::{ChunkId, Error, FileId, Location, format, limits};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

pub(crate) struct AppendFile {
    pub id: FileId,
    file: Arc<dyn ChunkFile>,
    state: Mutex<State>,
    sync_ended: Condvar,
    /// Bytes of the file, also for those who look when this is gone.
    bytes: Arc<AtomicU64>,
    /// Counts what was in flight in any file and is no more.
    landed: Arc<AtomicU64>,
}

#[derive(Default)]
struct State {
    tail: u64,
    chunks: u32,
    /// Reservations that are being filled.
    streams: usize,
    /// Chunks that may come to be referred to, those that are being written included.
    in_flight: usize,
    is_sealed: bool,
    /// Writes that ended, and how many of them are synced.
    writes: u64,
    synced: u64,
    is_syncing: bool,
    failure: Option<String>,
}

/// Keeps a file from being removed while a chunk in it may come to be referred to.
pub(crate) struct InFlight(Arc<AppendFile>);

/// Room for one chunk. Dropped before [`end`](Self::end), it is given back.
pub(crate) struct Reservation {
    file: InFlight,
    number: u32,
    offset: u64,
    end: u64,
    /// Size that the file shall not exceed.
    bytes_max: u64,
    is_ended: bool,
    /// Content that there is room for.
    pub length_max: u32,
}

impl AppendFile {
    /// Over a new file, of which only the head is written.
    pub fn new(id: FileId, file: Arc<dyn ChunkFile>, landed: Arc<AtomicU64>) -> Self {
        let tail = format::HEAD_BYTES as u64;
        Self {
            id,
            file,
            state: Mutex::new(State { tail, writes: 1, ..State::default() }),
            sync_ended: Condvar::new(),
            bytes: Arc::new(AtomicU64::new(tail)),
            landed,
        }
    }

    pub fn bytes(&self) -> Arc<AtomicU64> {
        self.bytes.clone()
    }

    pub fn streams(&self) -> usize {
        self.state().streams
    }

    pub fn is_sealed(&self) -> bool {
        self.state().is_sealed
    }

    /// Seals the file unless something is in flight in it. Returns whether it is sealed and nothing is.
    pub fn seal_if_quiet(&self) -> bool {
        let mut state = self.state();
        state.is_sealed |= state.in_flight == 0;
        state.in_flight == 0
    }

    /// Reserves room for a chunk of up to this length. `None`, and the file is sealed, if it would become larger than `bytes_max`.
    pub fn reserve(self: &Arc<Self>, length_max: u32, bytes_max: u64) -> Option<Reservation> {
        let mut state = self.state();
        let (offset, end) = (state.tail, state.tail + format::stored_bytes(length_max));
        let is_empty = offset == format::HEAD_BYTES as u64;
        let is_full = end > bytes_max && !is_empty || state.chunks == limits::FILE_CHUNKS_MAX;
        state.is_sealed |= is_full;
        if state.is_sealed {
            return None;
        }
        let number = state.chunks;
        state.chunks += 1;
        state.streams += 1;
        state.in_flight += 1;
        self.set_tail(&mut state, end);
        Some(Reservation {
            file: InFlight(self.clone()),
            number,
            offset,
            end,
            bytes_max,
            is_ended: false,
            length_max,
        })
    }

    fn set_tail(&self, state: &mut State, tail: u64) {
        state.tail = tail;
        self.bytes.store(tail, Ordering::Relaxed);
    }

    /// After a failed write the file takes no new chunks; what others wrote to it is theirs to sync.
    fn write(&self, bytes: &[u8], offset: u64) -> Result<(), Error> {
        let written = self.file.write_all_at(bytes, offset);
        let mut state = self.state();
        state.writes += 1;
        written.map_err(|error| {
            state.is_sealed = true;
            Error::unavailable(&error)
        })
    }

    /// Returns when everything written before the call is synced.
    pub fn sync(&self) -> Result<(), Error> {
        let mut state = self.state();
        let wanted = state.writes;
        loop {
            if state.synced >= wanted {
                return Ok(());
            }
            if let Some(failure) = &state.failure {
                return Err(Error::Unavailable(failure.clone()));
            }
            state = if state.is_syncing {
                self.sync_ended.wait(state).unwrap_or_else(PoisonError::into_inner)
            } else {
                self.sync_for_all(state)
            };
        }
    }

    fn sync_for_all<'a>(&'a self, mut state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        let covered = state.writes;
        state.is_syncing = true;
        drop(state);
        let synced = self.file.sync();
        let mut state = self.state();
        state.is_syncing = false;
        match synced {
            Ok(()) => state.synced = covered,
            Err(error) => {
                tracing::error!(file = %self.id, %error, "a chunk file could not be synced; nothing more is stored in it");
                state.is_sealed = true;
                state.failure = Some(format!("the sync of the file {} failed: {error}", self.id));
            }
        }
        self.sync_ended.notify_all();
        state
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl InFlight {
    pub fn file(&self) -> &Arc<AppendFile> {
        &self.0
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        self.0.state().in_flight -= 1;
        self.0.landed.fetch_add(1, Ordering::Release);
    }
}

impl Reservation {
    pub fn chunk(&self) -> ChunkId {
        ChunkId::new(self.file.0.id, self.number)
    }

    /// Writes into the room, from `at` on.
    pub fn write(&self, bytes: &[u8], at: u64) -> Result<(), Error> {
        assert!(self.offset + at + bytes.len() as u64 <= self.end, "a chunk stays within its room");
        self.file.0.write(bytes, self.offset + at)
    }

    /// Makes the room larger by up to this much content, if nothing was reserved behind it.
    pub fn extend(&mut self, by: u32) -> bool {
        let length_max = self.length_max.saturating_add(by).min(limits::CHUNK_BYTES_MAX);
        let file = &self.file.0;
        let mut state = file.state();
        let end = self.offset + format::stored_bytes(length_max);
        if state.tail != self.end || end > self.bytes_max || length_max == self.length_max {
            return false;
        }
        file.set_tail(&mut state, end);
        drop(state);
        (self.end, self.length_max) = (end, length_max);
        true
    }

    /// The chunk is written, with this much content.
    pub fn end(mut self, length: u32) -> (Location, InFlight) {
        self.give_back(self.offset + format::stored_bytes(length));
        self.is_ended = true;
        let file = &self.file.0;
        let location = Location { chunk: self.chunk(), file: file.id, offset: self.offset, length };
        let in_flight = InFlight(file.clone());
        in_flight.0.state().in_flight += 1;
        (location, in_flight)
    }

    /// Gives the room from `from` on back, if no other follows it.
    fn give_back(&self, from: u64) {
        let file = &self.file.0;
        let mut state = file.state();
        if state.tail == self.end {
            file.set_tail(&mut state, from);
        }
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        if !self.is_ended {
            self.give_back(self.offset);
        }
        self.file.0.state().streams -= 1;
    }
}
