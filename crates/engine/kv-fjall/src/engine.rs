//! `orrery_kv::Engine` on fjall.

use crate::Folder;
use crate::compaction::Reclaimer;
use crate::folder::Disk;
use crate::journals;
use crate::keyspaces::{KeyspaceId, Keyspaces, RunSpace};
use crate::limits;
use crate::memtables::{BatchSizes, Memtables};
use crate::promise::Promises;
use crate::run_memtable::{Run, RunFlusher, RunMemtable, RunView, has_many_files};
use crate::segments::Segment;
use crate::verify::{self, Verified};
use bytes::{Bytes, BytesMut};
use fjall::{CompressionType, Database, Keyspace, PersistMode, Readable};
use orrery_kv::{
    Engine, Error, KeyRange, Measure, Order, Purpose, Put, Read, Rows, Space, SpaceSet, Sync, Tip,
};
use std::fs::File;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

#[derive(Clone, Debug)]
pub struct Options {
    /// Block cache for data read from files.
    pub cache_bytes: u64,
    /// Free disk space below which writes are refused.
    pub disk_free_bytes_min: u64,
    /// Size of one generation of a memtable of sorted runs; a full generation becomes a file.
    pub run_memtable_bytes: usize,
    /// Whether to open although rows are known to be lost.
    pub accept_loss: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            cache_bytes: 256 * 1024 * 1024,
            disk_free_bytes_min: limits::DISK_FREE_BYTES_MIN,
            run_memtable_bytes: 32 * 1024 * 1024,
            accept_loss: false,
        }
    }
}

/// Journal bytes to replay after a crash; bounds the time that opening takes.
const JOURNAL_BYTES_MAX: u64 = 512 * 1024 * 1024;
/// Bytes written between two checks of the free disk space.
const DISK_CHECK_BYTES: u64 = 4 * 1024 * 1024;
/// Replayed data beyond this is flushed at once, or a process that is killed repeatedly replays
/// ever more.
const REPLAYED_BYTES_MAX: u64 = 8 * 1024 * 1024;
/// A journal longer than this is shortened when the store is idle.
const IDLE_JOURNAL_BYTES_MAX: u64 = 192 * 1024 * 1024;
/// A memtable smaller than this is not worth a file when the store is idle.
const IDLE_BYTES_MIN: u64 = 4 * 1024 * 1024;

/// Marker file: a write or its sync failed.
const SYNC_FAILED: &str = "sync-failed";

pub struct FjallEngine {
    /// These three are dropped first, so that their threads have ended when the database is closed.
    runs: Vec<SpaceRuns>,
    reclaimer: Reclaimer,
    memtables: Memtables,
    spaces: &'static SpaceSet,
    database: Database,
    disk: Disk,
    /// Bytes written since the last check that found room on the disk.
    unchecked_bytes: AtomicU64,
    promises: Promises,
    /// Whether the folder is prepared for writes.
    is_marked: AtomicBool,
    /// Dropped last, so that the lock is released after the database is closed.
    folder: Folder,
}

/// The newest rows of a space that asked for sorted runs.
struct SpaceRuns {
    /// Dropped first, so that its thread has ended when the rest goes.
    flusher: RunFlusher,
    memtable: Arc<RunMemtable>,
    space: RunSpace,
}

impl SpaceRuns {
    fn open(
        space: RunSpace,
        keyspaces: &Arc<Keyspaces>,
        database: &Database,
        disk: &Disk,
        options: &Options,
    ) -> Result<Self, Error> {
        let stored = keyspaces.get(space.runs);
        if let (None, Some(files)) = (stored, keyspaces.get(space.files)) {
            // In a folder of an earlier format, rows may be in fjall's memtable. A flush of runs would write that
            // memtable too, without fjall knowing.
            files.rotate_memtable_and_wait().map_err(writing)?;
        }
        let (bytes, accept_loss) = (options.run_memtable_bytes, options.accept_loss);
        let memtable = Arc::new(RunMemtable::open(database, space.name, stored, bytes, accept_loss)?);
        let (database, disk) = (database.clone(), disk.clone());
        let flusher = RunFlusher::new(memtable.clone(), space, keyspaces.clone(), database, disk);
        let flusher = flusher.map_err(|error| Error::Unavailable(error.to_string()))?;
        // Resumes a flush that a stop interrupted.
        flusher.flush();
        Ok(Self { flusher, memtable, space })
    }
}

impl FjallEngine {
    /// Opens a folder with the spaces that the process declares. A space that the folder does not have yet is empty; a
    /// folder with a space that is not declared is refused.
    pub fn open(folder: Folder, spaces: &'static SpaceSet, options: &Options) -> Result<Self, Error> {
        let path = folder.path().to_owned();
        let promises = Promises::open(&path, folder.has_two_notes(), options.accept_loss)?;
        if !options.accept_loss {
            // Before fjall, which truncates a damaged journal silently.
            journals::check(&path.join("engine"))?;
        }
        rewrite_after_failed_sync(&path).map_err(|error| {
            Error::Unavailable(format!(
                "the journal must be written anew after a write that failed, and cannot be: {error}"
            ))
        })?;
        let database = Database::builder(path.join("engine"))
            .cache_size(options.cache_bytes)
            .journal_compression(CompressionType::None)
            .manual_journal_persist(true)
            .max_journaling_size(JOURNAL_BYTES_MAX)
            .worker_threads(workers())
            .open()
            .map_err(opening)?;
        let unavailable = |error: std::io::Error| Error::Unavailable(error.to_string());
        let memtables = Memtables::new(Arc::new(Keyspaces::open(&database, spaces)?)).map_err(unavailable)?;
        let disk = Disk { path: path.clone(), reserve_bytes: options.disk_free_bytes_min };
        let keyspaces = &memtables.sizes().keyspaces;
        let segment = Segment::of(keyspaces.newest_commit()?);
        let reclaimer =
            Reclaimer::new(memtables.sizes().clone(), disk.clone(), segment).map_err(unavailable)?;
        let runs = keyspaces.run_spaces().iter();
        let runs = runs.map(|space| SpaceRuns::open(*space, keyspaces, &database, &disk, options));
        let engine = Self {
            runs: runs.collect::<Result<_, _>>()?,
            reclaimer,
            memtables,
            spaces,
            database,
            disk,
            unchecked_bytes: AtomicU64::new(u64::MAX / 2),
            promises,
            is_marked: AtomicBool::new(false),
            folder,
        };
        engine.put_into_files(REPLAYED_BYTES_MAX, 0)?;
        Ok(engine)
    }

    /// Verifies the checksum of every table file.
    pub fn verify(&self) -> Verified {
        verify::verify(self.keyspaces())
    }

    fn keyspaces(&self) -> &Arc<Keyspaces> {
        &self.memtables.sizes().keyspaces
    }

    /// Makes both acknowledgement notes whole and marks the folder with this build's format, before
    /// the first write.
    fn mark(&self) -> Result<(), Error> {
        if self.is_marked.load(Ordering::Acquire) {
            return Ok(());
        }
        let unavailable = |error: &dyn std::fmt::Display| Error::Unavailable(error.to_string());
        self.promises.prepare().map_err(|error| unavailable(&error))?;
        self.folder.mark().map_err(|error| unavailable(&error))?;
        self.is_marked.store(true, Ordering::Release);
        Ok(())
    }

    /// The keyspace to write to, created with its first row.
    fn keyspace(&self, id: KeyspaceId) -> Result<&Keyspace, Error> {
        if let Some(known) = self.keyspaces().get(id) {
            return Ok(known);
        }
        self.keyspaces().open_or_create(&self.database, id)
    }

    /// Flushes all memtables if together they exceed `bytes_min`; a segment only if it alone
    /// exceeds `segment_bytes_min`.
    fn put_into_files(&self, bytes_min: u64, segment_bytes_min: u64) -> Result<(), Error> {
        if self.database.write_buffer_size() < bytes_min {
            return Ok(());
        }
        self.memtables.rotate_all(segment_bytes_min).map_err(writing)
    }

    /// Leaves a marker that a write failed midway, so that the next start does not trust what the
    /// system shows of the journal.
    fn note_failed_sync(&self) {
        let path = self.folder.path().join(SYNC_FAILED);
        if let Err(error) = File::create(&path).and_then(|file| file.sync_all()) {
            tracing::warn!(%error, "the failure could not be noted in {}", path.display());
        }
    }
}

/// Threads that flush and compact. With several, fjall reserves the first one for flushes: it puts
/// compactions that it meets back into the queue, again and again while the others are busy, and so
/// uses a core by itself. On few cores one thread does both; on many, three are free for
/// compactions before the first one spins.
fn workers() -> usize {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    if cores < 4 { 1 } else { 4 }
}

/// Removes the rows of a space from sorted puts; `None` if there are none.
fn take_run(puts: &mut Vec<Put>, space: Space) -> Option<Run> {
    let first = puts.iter().position(|put| put.space == space)?;
    let count = puts[first..].iter().take_while(|put| put.space == space).count();
    let run = Run::of(&puts[first..first + count]);
    puts.drain(first..first + count);
    Some(run)
}

/// Copies the keys of a space into one allocation: a memtable is full of keys, and is freed as a
/// whole.
fn pack(puts: &mut [Put]) {
    for of_space in puts.chunk_by_mut(|a, b| a.space == b.space) {
        let mut keys = BytesMut::with_capacity(of_space.iter().map(|put| put.key.len()).sum());
        of_space.iter().for_each(|put| keys.extend_from_slice(&put.key));
        let mut keys = keys.freeze();
        of_space.iter_mut().for_each(|put| put.key = keys.split_to(put.key.len()));
    }
}

impl Engine for FjallEngine {
    fn spaces(&self) -> &'static SpaceSet {
        self.spaces
    }

    fn view(&self) -> Arc<dyn Read + Send + std::marker::Sync> {
        // In this order: runs that are flushed in between are in the snapshot.
        let runs = self.runs.iter().map(|of| of.memtable.view()).collect();
        Arc::new(View { runs, snapshot: self.database.snapshot(), keyspaces: self.keyspaces().clone() })
    }

    fn write(&self, mut puts: Vec<Put>, sync: Sync) -> Result<(), Error> {
        orrery_core::tour_step!();
        self.mark()?;
        let mode = match sync {
            Sync::Data => PersistMode::SyncData,
            Sync::None => PersistMode::Buffer,
        };
        let mut positions = Vec::with_capacity(self.runs.len());
        for of in &self.runs {
            let position = of.memtable.position();
            of.memtable.wait_for_room(&position).inspect_err(|_| of.flusher.flush())?;
            positions.push(position);
        }
        let mut batch =
            fjall::OwnedWriteBatch::with_capacity(self.database.clone(), puts.len()).durability(Some(mode));
        puts.sort_by(|a, b| a.space.cmp(&b.space).then_with(|| a.key.cmp(&b.key)));
        let mut runs = Vec::with_capacity(self.runs.len());
        for (of, position) in self.runs.iter().zip(&positions) {
            let run = take_run(&mut puts, of.space.space);
            if let Some(run) = &run {
                // For the flush, which creates none.
                self.keyspace(of.space.files)?;
                batch.insert(self.keyspace(of.space.runs)?, position.key(), position.value(run));
            }
            runs.push(run);
        }
        let mut written = BatchSizes::of(&puts, self.keyspaces());
        for (of, run) in self.runs.iter().zip(&runs) {
            run.iter().for_each(|run| written.add_run(of.space.runs, run));
        }
        pack(&mut puts);
        written.commit.into_iter().for_each(|commit| self.keyspaces().writes(commit));
        for put in puts {
            let space = self.keyspace(self.keyspaces().locate(put.space, &put.key))?;
            match put.value {
                Some(value) => batch.insert(space, put.key, value),
                None => batch.remove(space, put.key),
            }
        }
        batch.commit().map_err(committing).inspect_err(|error| {
            if matches!(error, Error::Uncertain(_)) {
                self.note_failed_sync();
            }
        })?;
        for ((of, position), run) in self.runs.iter().zip(&mut positions).zip(runs) {
            if run.is_some_and(|run| of.memtable.add(run, position)) {
                of.flusher.flush();
            }
        }
        self.memtables.note_written(&written);
        written.commit.into_iter().for_each(|commit| self.reclaimer.note_written(Segment::of(commit)));
        Ok(())
    }

    /// Refuses before the disk is full, because fjall takes no more writes after an I/O error.
    /// Checks every few megabytes, and on every write while there is no room.
    fn check_room(&self, bytes: u64, purpose: Purpose) -> Result<(), Error> {
        if self.unchecked_bytes.fetch_add(bytes, Ordering::Relaxed) < DISK_CHECK_BYTES {
            return Ok(());
        }
        let stored = self.disk.check_room(bytes, Purpose::Store);
        if stored.is_ok() {
            self.unchecked_bytes.store(0, Ordering::Relaxed);
            return Ok(());
        }
        match purpose {
            Purpose::Store => stored,
            Purpose::MakeRoom => self.disk.check_room(bytes, purpose),
        }
    }

    fn note_promise(&self, tip: Tip) {
        self.promises.note(tip);
    }

    /// A memtable is scanned at half the speed of a file, and its journal is replayed after a
    /// crash.
    fn idle(&self) -> Result<(), Error> {
        self.reclaimer.wake();
        for of in &self.runs {
            let is_to_flush = of.memtable.idle(IDLE_BYTES_MIN as usize);
            if is_to_flush || self.keyspaces().get(of.space.files).is_some_and(has_many_files) {
                of.flusher.flush();
            }
        }
        // Memtables keep the journal from being shortened.
        let is_journal_long =
            self.database.journal_disk_space().is_ok_and(|bytes| bytes > IDLE_JOURNAL_BYTES_MAX);
        if is_journal_long {
            return self.put_into_files(1, 0);
        }
        self.put_into_files(IDLE_BYTES_MIN, IDLE_BYTES_MIN)
    }

    fn measures(&self) -> Vec<Measure> {
        let gauge = |name, unit, value| Measure { name, unit, is_total: false, value };
        let total = |name, value| Measure { name, unit: "", is_total: true, value };
        let database = &self.database;
        let tables: usize = self.keyspaces().all().map(|(_, keyspace)| keyspace.table_count()).sum();
        let on_disk: u64 = self.keyspaces().all().map(|(_, keyspace)| keyspace.disk_space()).sum();
        let mut measures = vec![
            gauge("journals", "", database.journal_count() as u64),
            gauge("memtables", "bytes", database.write_buffer_size()),
            gauge("flushes_waiting", "", database.outstanding_flushes() as u64),
            gauge("cache", "bytes", database.cache_size()),
            gauge("cache_max", "bytes", database.cache_capacity()),
            gauge("tables", "", tables as u64),
            gauge("tables_size", "bytes", on_disk),
            gauge("compactions_running", "", database.active_compactions() as u64),
            total("compactions", database.compactions_completed() as u64),
            total("compaction_microseconds", database.time_compacting().as_micros() as u64),
            total("slices_gathered", self.reclaimer.reclaimed()),
            gauge("recent_index", "bytes", self.runs.iter().map(|of| of.memtable.bytes() as u64).sum()),
            total("index_spilled", self.runs.iter().map(|of| of.flusher.flushes()).sum()),
        ];
        // The size is missing only if the journal cannot be read.
        measures.extend(database.journal_disk_space().ok().map(|bytes| gauge("journal", "bytes", bytes)));
        measures
    }

    fn promised(&self) -> Option<Tip> {
        self.promises.newest()
    }
}

struct View {
    /// In the order of the run spaces.
    runs: Vec<RunView>,
    snapshot: fjall::Snapshot,
    keyspaces: Arc<Keyspaces>,
}

impl Read for View {
    fn get(&self, space: Space, key: &[u8]) -> Result<Option<Bytes>, Error> {
        if let Some(at) = self.keyspaces.runs_of(space)
            && let Some(known) = self.runs[at].get(key)
        {
            return Ok(known);
        }
        let Some(keyspace) = self.keyspaces.get(self.keyspaces.locate(space, key)) else { return Ok(None) };
        let found = self.snapshot.get(keyspace, key).map_err(reading)?;
        Ok(found.map(Bytes::from))
    }

    fn streams(&self, log: Space) -> Result<Vec<u64>, Error> {
        self.keyspaces.streams(&self.snapshot, log)
    }

    fn range(&self, space: Space, range: &KeyRange, order: Order) -> Rows<'_> {
        let rows = self.keyspaces.range(&self.snapshot, space, range, order);
        match self.keyspaces.runs_of(space) {
            Some(at) => self.runs[at].over(rows, range, order),
            None => rows,
        }
    }
}

/// After a failed sync the system may show journal bytes that are not on the disk. They are written
/// again before anything builds on them.
fn rewrite_after_failed_sync(folder: &Path) -> std::io::Result<()> {
    let note = folder.join(SYNC_FAILED);
    if !note.try_exists()? {
        return Ok(());
    }
    journals::rewrite_newest(&folder.join("engine"))?;
    std::fs::remove_file(note)?;
    File::open(folder)?.sync_all()
}

pub(crate) fn opening(error: fjall::Error) -> Error {
    match error {
        fjall::Error::Io(error) => Error::Unavailable(error.to_string()),
        error => Error::Corrupt(format!("the engine's files cannot be opened: {error}")),
    }
}

/// fjall takes no more writes after a journal error, and does not say how much was written.
fn committing(error: fjall::Error) -> Error {
    match error {
        fjall::Error::Poisoned => Error::Halted,
        error => Error::Uncertain(error.to_string()),
    }
}

pub(crate) fn writing(error: fjall::Error) -> Error {
    match error {
        fjall::Error::Poisoned => Error::Halted,
        fjall::Error::Io(error) => Error::Unavailable(error.to_string()),
        error => Error::Unavailable(error.to_string()),
    }
}

pub(crate) fn reading(error: fjall::Error) -> Error {
    match error {
        fjall::Error::Io(error) => Error::Unavailable(error.to_string()),
        error => Error::Corrupt(error.to_string()),
    }
}
