//! `orrery_kv::Engine` on fjall.

use crate::Folder;
use crate::folder::Disk;
use crate::gather::Gatherer;
use crate::journals;
use crate::memtables::{Memtables, Written};
use crate::promise::Promises;
use crate::recent::{Recent, RecentView, Run, Spiller, has_many_files, is_recent};
use crate::spaces::{Place, RUNS, Spaces};
use crate::turns::Turn;
use crate::verify::{self, Verified};
use bytes::{Bytes, BytesMut};
use fjall::{CompressionType, Database, Keyspace, PersistMode, Readable};
use orrery_core::limits;
use orrery_kv::{Engine, Error, KeyRange, Measure, Order, Purpose, Put, Read, Rows, Space, Sync, Tip};
use std::fs::File;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

#[derive(Clone, Debug)]
pub struct Options {
    /// Memory for blocks read from files.
    pub cache_bytes: u64,
    /// Free disk space below which writes are refused.
    pub disk_free_bytes_min: u64,
    /// How much of the index is kept in memory before it becomes a file.
    pub recent_bytes: usize,
    /// Whether to go on without rows that are known to be lost.
    pub accept_loss: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            cache_bytes: 256 * 1024 * 1024,
            disk_free_bytes_min: limits::DISK_FREE_BYTES_MIN,
            recent_bytes: 32 * 1024 * 1024,
            accept_loss: false,
        }
    }
}

/// Journals to replay after a crash; bounds how long opening takes.
const JOURNAL_BYTES_MAX: u64 = 512 * 1024 * 1024;
/// How much is written between two looks at the free space.
const DISK_CHECK_BYTES: u64 = 4 * 1024 * 1024;
/// What was replayed goes to files if it is more than this, or a process that is killed again and again replays ever more.
const REPLAYED_BYTES_MAX: u64 = 8 * 1024 * 1024;
/// A journal that is longer than this is not left so when the engine rests.
const REST_JOURNAL_BYTES_MAX: u64 = 192 * 1024 * 1024;
/// Less than this in memory is not worth a file when the engine rests.
const REST_BYTES_MIN: u64 = 4 * 1024 * 1024;

/// The file that says that a write failed midway.
const SYNC_FAILED: &str = "sync-failed";

pub struct FjallEngine {
    /// These three first, so that their threads have ended when the database is closed.
    spiller: Spiller,
    gatherer: Gatherer,
    memtables: Memtables,
    recent: Arc<Recent>,
    database: Database,
    disk: Disk,
    /// Bytes written since the disk was last found to have room.
    unchecked_bytes: AtomicU64,
    promises: Promises,
    /// Whether the folder was made ready for the first write.
    is_marked: AtomicBool,
    /// Last, so that the lock is given up after the database is closed.
    folder: Folder,
}

impl FjallEngine {
    pub fn open(folder: Folder, options: &Options) -> Result<Self, Error> {
        let path = folder.path().to_owned();
        let promises = Promises::open(&path, folder.has_two_notes(), options.accept_loss)?;
        if !options.accept_loss {
            // Before fjall, which shortens a damaged journal without a word.
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
        let memtables = Memtables::new(Arc::new(Spaces::open(&database)?)).map_err(unavailable)?;
        let disk = Disk { path: path.clone(), reserve_bytes: options.disk_free_bytes_min };
        let spaces = &memtables.fill().spaces;
        let turn = Turn::of(spaces.newest_commit()?);
        let gatherer = Gatherer::new(memtables.fill().clone(), disk.clone(), turn).map_err(unavailable)?;
        let runs = spaces.get(RUNS);
        if let (None, Some(index)) = (runs, spaces.get(Space::Index as usize)) {
            // Of a format before, rows of the index may be in a memtable. A spill would write it too, and fjall not know.
            index.rotate_memtable_and_wait().map_err(writing)?;
        }
        let recent = Arc::new(Recent::open(&database, runs, options.recent_bytes, options.accept_loss)?);
        let spiller = Spiller::new(recent.clone(), spaces.clone(), database.clone(), disk.clone());
        let spiller = spiller.map_err(unavailable)?;
        // What a stop kept from being spilled.
        spiller.spill();
        let engine = Self {
            spiller,
            gatherer,
            memtables,
            recent,
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

    /// Reads every file of tables against its checksum.
    pub fn verify(&self) -> Verified {
        verify::verify(self.spaces())
    }

    fn spaces(&self) -> &Arc<Spaces> {
        &self.memtables.fill().spaces
    }

    /// Makes both notes whole and gives the folder this build's format, before the first write.
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

    /// The keyspace to write to. A folder gets slices when something comes to them, and that of runs with the first row of the
    /// index.
    fn keyspace(&self, place: Place) -> Result<&Keyspace, Error> {
        if let Some(known) = self.spaces().get(place) {
            return Ok(known);
        }
        self.spaces().made(&self.database, place)
    }

    /// All memtables, if together they have so much; of slices those that have so much alone.
    fn put_into_files(&self, bytes_min: u64, slices_bytes_min: u64) -> Result<(), Error> {
        if self.database.write_buffer_size() < bytes_min {
            return Ok(());
        }
        self.memtables.exchange_all(slices_bytes_min).map_err(writing)
    }

    /// Notes that a write failed midway, so that the next start does not believe what the system shows of the journal.
    fn note_failed_sync(&self) {
        let path = self.folder.path().join(SYNC_FAILED);
        if let Err(error) = File::create(&path).and_then(|file| file.sync_all()) {
            tracing::warn!(%error, "the failure could not be noted in {}", path.display());
        }
    }
}

/// Threads that write memtables to files and merge these. The first of several is there for writing alone: it puts merges
/// that it meets back into the queue, again and again while the others are busy, and so takes a core for itself. Where there
/// are few cores one thread does both; where there are many, three are free for merges before the first one spins.
fn workers() -> usize {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    if cores < 4 { 1 } else { 4 }
}

/// Takes the rows of the index out of puts that are in order; none if there are none.
fn take_run(puts: &mut Vec<Put>) -> Option<Run> {
    let first = puts.iter().position(is_recent)?;
    let count = puts[first..].iter().take_while(|put| is_recent(put)).count();
    let run = Run::of(&puts[first..first + count]);
    puts.drain(first..first + count);
    Some(run)
}

/// The keys of a space in one piece of memory: a memtable is full of them, and goes at once.
fn pack(puts: &mut [Put]) {
    for of_space in puts.chunk_by_mut(|a, b| a.space == b.space) {
        let mut keys = BytesMut::with_capacity(of_space.iter().map(|put| put.key.len()).sum());
        of_space.iter().for_each(|put| keys.extend_from_slice(&put.key));
        let mut keys = keys.freeze();
        of_space.iter_mut().for_each(|put| put.key = keys.split_to(put.key.len()));
    }
}

impl Engine for FjallEngine {
    fn view(&self) -> Arc<dyn Read + Send + std::marker::Sync> {
        // In this order: what leaves the runs meanwhile is in the snapshot.
        let recent = self.recent.view();
        Arc::new(View { recent, snapshot: self.database.snapshot(), spaces: self.spaces().clone() })
    }

    fn write(&self, mut puts: Vec<Put>, sync: Sync) -> Result<(), Error> {
        let written = Written::of(&puts, self.spaces());
        self.mark()?;
        let mode = match sync {
            Sync::Data => PersistMode::SyncData,
            Sync::None => PersistMode::Buffer,
        };
        let mut slot = self.recent.slot();
        self.recent.wait_for_room(&slot).inspect_err(|_| self.spiller.spill())?;
        let mut batch =
            fjall::OwnedWriteBatch::with_capacity(self.database.clone(), puts.len()).durability(Some(mode));
        puts.sort_by(|a, b| a.space.cmp(&b.space).then_with(|| a.key.cmp(&b.key)));
        let run = take_run(&mut puts);
        if let Some(run) = &run {
            batch.insert(self.keyspace(RUNS)?, slot.key(), slot.value(run));
        }
        pack(&mut puts);
        written.commit.into_iter().for_each(|commit| self.spaces().writes(commit));
        for put in puts {
            let space = self.keyspace(self.spaces().place(put.space, &put.key))?;
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
        if run.is_some_and(|run| self.recent.add(run, &mut slot)) {
            self.spiller.spill();
        }
        self.memtables.wrote(&written);
        written.commit.into_iter().for_each(|commit| self.gatherer.wrote(Turn::of(commit)));
        Ok(())
    }

    /// Refuses before the disk is full, because fjall takes no more writes after it met an error. Looks again after
    /// every few megabytes, and every time while there is no room.
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

    /// A memtable is walked at half the speed of a file's blocks, and its journal is replayed after a crash.
    fn rest(&self) -> Result<(), Error> {
        self.gatherer.look();
        let is_to_spill = self.recent.rest(REST_BYTES_MIN as usize);
        if is_to_spill || self.spaces().get(Space::Index as usize).is_some_and(has_many_files) {
            self.spiller.spill();
        }
        // What stays in memory keeps the journal from being shortened.
        let is_journal_long =
            self.database.journal_disk_space().is_ok_and(|bytes| bytes > REST_JOURNAL_BYTES_MAX);
        if is_journal_long {
            return self.put_into_files(1, 0);
        }
        self.put_into_files(REST_BYTES_MIN, REST_BYTES_MIN)
    }

    fn measures(&self) -> Vec<Measure> {
        let gauge = |name, unit, value| Measure { name, unit, is_total: false, value };
        let total = |name, value| Measure { name, unit: "", is_total: true, value };
        let database = &self.database;
        let tables: usize = self.spaces().all().map(|(_, keyspace)| keyspace.table_count()).sum();
        let on_disk: u64 = self.spaces().all().map(|(_, keyspace)| keyspace.disk_space()).sum();
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
            total("slices_gathered", self.gatherer.gathered()),
            gauge("recent_index", "bytes", self.recent.bytes() as u64),
            total("index_spilled", self.spiller.spilled()),
        ];
        // Only a journal that cannot be looked at has no size.
        measures.extend(database.journal_disk_space().ok().map(|bytes| gauge("journal", "bytes", bytes)));
        measures
    }

    fn promised(&self) -> Option<Tip> {
        self.promises.newest()
    }
}

struct View {
    recent: RecentView,
    snapshot: fjall::Snapshot,
    spaces: Arc<Spaces>,
}

impl Read for View {
    fn get(&self, space: Space, key: &[u8]) -> Result<Option<Bytes>, Error> {
        if space == Space::Index
            && let Some(known) = self.recent.get(key)
        {
            return Ok(known);
        }
        let Some(keyspace) = self.spaces.get(self.spaces.place(space, key)) else { return Ok(None) };
        let found = self.snapshot.get(keyspace, key).map_err(reading)?;
        Ok(found.map(Bytes::from))
    }

    fn streams(&self) -> Result<Vec<u64>, Error> {
        self.spaces.streams(&self.snapshot)
    }

    fn range(&self, space: Space, range: &KeyRange, order: Order) -> Rows<'_> {
        let rows = self.spaces.range(&self.snapshot, space, range, order);
        if space == Space::Index { self.recent.over(rows, range, order) } else { rows }
    }
}

/// After a failed sync the system may show bytes of the journal that are not on the disk. They are written anew before
/// anything rests on them.
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

/// fjall takes no more writes after an error of its journal, and does not say how far it came.
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
