//! The chunk files of a data folder.

use crate::append_file::{AppendFile, Reservation};
use crate::files::{ChunkFile, Files};
use crate::pins::Pins;
use crate::pool::Pool;
use crate::read::Readers;
use crate::reclaim::{Reclaimed, Reclaimer};
use crate::room::Room;
use crate::{Error, FileId, Pin, Writer, format, limits, row};
use orrery_kv::{Error as EngineError, Measure, Order, Purpose, Read, Sync};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// A cheap handle on the chunk files of a process.
#[derive(Clone)]
pub struct Chunks(pub(crate) Arc<Inner>);

#[derive(Clone, Debug)]
pub struct Options {
    /// As of the store: without syncs, a power cut may take content that rows refer to. It is then reported as damaged.
    pub sync: Sync,
    /// Free disk space below which uploads are refused.
    pub disk_free_bytes_min: u64,
    /// Size from which a file is not appended to any more.
    pub file_bytes_max: u64,
}

pub(crate) struct Inner {
    pub files: Box<dyn Files>,
    pub options: Options,
    pub pins: Pins,
    pub readers: Readers,
    pub pool: Pool,
    pub reclaimer: Mutex<Reclaimer>,
    totals: Mutex<Reclaimed>,
    room: Room,
    next_file: AtomicU64,
    known: Mutex<BTreeMap<FileId, KnownFile>>,
    /// Counts chunks that were in flight and are no more.
    landed: Arc<AtomicU64>,
}

/// A file that is there.
#[derive(Clone)]
pub(crate) struct KnownFile {
    pub bytes: Arc<AtomicU64>,
    /// Alive while it is appended to, or a chunk in it may come to be referred to.
    pub appended: Weak<AppendFile>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            sync: Sync::Data,
            disk_free_bytes_min: limits::DISK_FREE_BYTES_MIN,
            file_bytes_max: limits::FILE_BYTES_MAX,
        }
    }
}

impl Chunks {
    /// Opens the files beside the store's rows. Files that are there are never appended to again: what a crash left at their ends has
    /// no meaning.
    pub fn open(files: Box<dyn Files>, state: &dyn Read, options: Options) -> Result<Self, EngineError> {
        let listed = files.list().map_err(|error| Error::unavailable(&error))?;
        let known: BTreeMap<FileId, KnownFile> =
            listed.into_iter().map(|(id, bytes)| (id, KnownFile::sealed(bytes))).collect();
        let newest = known.keys().next_back().copied().max(newest_live(state)?);
        let inner = Inner {
            files,
            pins: Pins::default(),
            readers: Readers::default(),
            pool: Pool::default(),
            reclaimer: Mutex::default(),
            totals: Mutex::default(),
            room: Room::new(options.disk_free_bytes_min),
            next_file: AtomicU64::new(newest.map_or(1, |newest| newest.0 + 1)),
            known: Mutex::new(known),
            landed: Arc::default(),
            options,
        };
        Ok(Self(Arc::new(inner)))
    }

    /// Begins an upload.
    pub fn writer(&self) -> Writer {
        Writer::new(self.0.clone(), None)
    }

    /// Begins an upload of about so many bytes: uploads that share a file then leave nothing empty between them.
    pub fn writer_of(&self, bytes: u64) -> Writer {
        Writer::new(self.0.clone(), Some(bytes))
    }

    /// To be held while chunks are read, and taken before the snapshot that says where they are.
    pub fn pin(&self) -> Pin {
        Pin::new(self.0.clone())
    }

    pub fn measures(&self) -> Vec<Measure> {
        let gauge = |name, unit, value| Measure { name, unit, is_total: false, value };
        let total = |name, unit, value| Measure { name, unit, is_total: true, value };
        let bytes = self.0.known().values().map(|file| file.bytes.load(Ordering::Relaxed)).sum();
        let totals = *self.0.totals();
        vec![
            gauge("chunk_files", "", self.0.known().len() as u64),
            gauge("chunk_files_size", "bytes", bytes),
            gauge("chunk_files_open", "", self.0.pool.len() as u64),
            total("chunks_reclaimed", "", totals.chunks_removed),
            total("chunks_moved", "bytes", totals.bytes_moved),
            total("chunk_files_removed", "bytes", totals.bytes_freed),
        ]
    }
}

/// The newest file that rows refer to: with `--durability relaxed` it may be missing, and its number must not be used again.
fn newest_live(state: &dyn Read) -> Result<Option<FileId>, EngineError> {
    let newest = state.range(row::CHUNKS, &row::live(), Order::Descending).next().transpose()?;
    newest.map(|(key, _)| row::read_number(&key).map(FileId)).transpose()
}

impl KnownFile {
    fn sealed(bytes: u64) -> Self {
        Self { bytes: Arc::new(AtomicU64::new(bytes)), appended: Weak::new() }
    }

    pub fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Whether it has nothing but its head.
    pub fn is_empty(&self) -> bool {
        self.bytes() <= format::HEAD_BYTES as u64
    }

    /// Whether nothing is in flight in it, and nothing will be.
    pub fn seal_if_quiet(&self) -> bool {
        self.appended.upgrade().is_none_or(|file| file.seal_if_quiet())
    }
}

impl Inner {
    pub fn is_durable(&self) -> bool {
        self.options.sync == Sync::Data
    }

    /// Room for a chunk.
    pub fn reserve(self: &Arc<Self>, length_max: u32) -> Result<Reservation, Error> {
        self.pool.reserve(length_max, self.options.file_bytes_max, || self.make_file())
    }

    pub fn check_room(&self, bytes: u64) -> Result<(), Error> {
        self.room.check(&*self.files, bytes, Purpose::Store)
    }

    /// For what makes room in the end.
    pub fn check_room_to_copy(&self, bytes: u64) -> Result<(), Error> {
        self.room.check(&*self.files, bytes, Purpose::MakeRoom)
    }

    /// A new file with its head, which a crash does not take away.
    pub fn make_file(&self) -> Result<Arc<AppendFile>, Error> {
        let id = FileId(self.next_file.fetch_add(1, Ordering::Relaxed));
        let unavailable = |error: std::io::Error| Error::unavailable(&error);
        let file = self.files.create(id).map_err(unavailable)?;
        if let Err(error) = self.prepare(id, &*file) {
            // If this fails too, the next start finds a file that nothing refers to.
            drop(self.files.remove(id));
            return Err(unavailable(error));
        }
        let file = Arc::new(AppendFile::new(id, file, self.landed.clone()));
        self.known().insert(id, KnownFile { bytes: file.bytes(), appended: Arc::downgrade(&file) });
        Ok(file)
    }

    fn prepare(&self, id: FileId, file: &dyn ChunkFile) -> std::io::Result<()> {
        file.write_all_at(&format::head(id), 0)?;
        if self.is_durable() { self.files.sync() } else { Ok(()) }
    }

    pub fn known(&self) -> MutexGuard<'_, BTreeMap<FileId, KnownFile>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn reclaimer(&self) -> MutexGuard<'_, Reclaimer> {
        self.reclaimer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What reclaiming did since the start.
    pub fn totals(&self) -> MutexGuard<'_, Reclaimed> {
        self.totals.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many chunks were in flight and are no more.
    pub fn landed(&self) -> u64 {
        self.landed.load(Ordering::Acquire)
    }
}
