//! Flushing runs to a file of their space.

use super::merge::MergeCursor;
use super::{Flushing, MARK_KEY, Run, RunMemtable};
use crate::engine::writing;
use crate::folder::Disk;
use crate::keyspaces::{Keyspaces, RunSpace};
use crate::worker::{Worker, run_on_signal};
use fjall::compaction::Leveled;
use fjall::{AbstractTree as _, Database, Keyspace, PersistMode};
use orrery_kv::{Error, KeyRange, Order, Purpose};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::Receiver;
use std::thread;
use std::time::Duration;

/// From this many files in level 0 on, an idle store compacts some itself: fjall waits for more,
/// requests a compaction once per file, and never repeats a request that came at a bad moment.
const FILES_MANY: usize = 4;
/// With this many files in level 0 a flush waits, as fjall's own do, but not for ever.
const FILES_MAX: usize = 20;
const FILES_WAIT: Duration = Duration::from_millis(10);
const FILES_WAITS: usize = 1000;
/// Pause between a failed flush and the next attempt.
const RETRY_PAUSE: Duration = Duration::from_secs(1);

pub struct RunFlusher {
    worker: Worker<()>,
    flushes: Arc<AtomicU64>,
}

impl RunFlusher {
    /// `disk` must have room for the file.
    pub fn new(
        memtable: Arc<RunMemtable>,
        space: RunSpace,
        keyspaces: Arc<Keyspaces>,
        database: Database,
        disk: Disk,
    ) -> io::Result<Self> {
        let flushes = Arc::new(AtomicU64::new(0));
        let work = FlushWork { memtable, space, keyspaces, database, disk, flushes: flushes.clone() };
        Ok(Self { worker: Worker::new("runs", move |signals| work.listen(signals))?, flushes })
    }

    /// Wakes the worker: runs are to be flushed, or files to be compacted.
    pub fn flush(&self) {
        self.worker.send(());
    }

    /// How many files were written.
    pub fn flushes(&self) -> u64 {
        self.flushes.load(Ordering::Relaxed)
    }
}

struct FlushWork {
    memtable: Arc<RunMemtable>,
    space: RunSpace,
    keyspaces: Arc<Keyspaces>,
    database: Database,
    disk: Disk,
    flushes: Arc<AtomicU64>,
}

impl FlushWork {
    fn listen(&self, signals: &Receiver<()>) {
        // Writers that wait for room must learn when this thread ends, however it ends.
        let _end = FailOnDrop(&self.memtable);
        run_on_signal(signals, || {
            if let Err(error) = self.run_once() {
                tracing::error!(%error, name = self.space.name, "the newest rows could not be written to a file");
                self.memtable.fail(error.to_string());
                thread::sleep(RETRY_PAUSE);
            }
        });
    }

    fn run_once(&self) -> Result<(), Error> {
        let keyspaces = (self.keyspaces.get(self.space.files), self.keyspaces.get(self.space.runs));
        let (Some(files), Some(stored)) = keyspaces else {
            return Ok(());
        };
        let Some(Flushing { runs, until }) = self.memtable.flushing() else {
            // Nobody waits for these compactions, so a failure is only logged.
            if let Err(error) = merge_if_many(files) {
                tracing::error!(%error, name = self.space.name, "files could not be compacted");
            }
            return Ok(());
        };
        // A flush that fails midway leaves part of a file until the folder is opened again.
        let bytes = runs.iter().map(|run| run.bytes() as u64).sum();
        // Deletes are rows too, and a flush shortens the journal.
        self.disk.check_room(bytes, Purpose::MakeRoom)?;
        self.flush(&runs, until, files, stored).map_err(writing)?;
        self.memtable.finish_flush();
        self.flushes.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    /// Once the mark is written, the runs may go. Should the mark get lost, the runs are laid over
    /// the file that has them, which changes nothing.
    fn flush(&self, runs: &[Arc<Run>], until: u64, files: &Keyspace, stored: &Keyspace) -> fjall::Result<()> {
        // The file survives a power cut, so the journal it depends on must do so too.
        self.database.persist(PersistMode::SyncAll)?;
        wait_for_merges(files)?;
        let mut file = files.start_ingestion()?;
        for (key, value) in MergeCursor::new(runs, &KeyRange::all(), Order::Ascending) {
            match value {
                Some(value) => file.write(key, value)?,
                None => file.write_tombstone(key)?,
            }
        }
        // Commits wait meanwhile: the filter and the block index are written, and the file is
        // synced.
        file.finish()?;
        stored.insert(MARK_KEY, until.to_be_bytes())
    }
}

/// Whether compaction is behind.
pub fn has_many_files(files: &Keyspace) -> bool {
    files.l0_table_count() >= FILES_MANY
}

/// Keeps old versions, because their readers are unknown here; the next compaction removes them.
fn merge_if_many(files: &Keyspace) -> fjall::Result<()> {
    if has_many_files(files) {
        files.tree.compact(Arc::new(Leveled::default()), 0)?;
    }
    Ok(())
}

fn wait_for_merges(files: &Keyspace) -> fjall::Result<()> {
    let mut waits = 0;
    while files.l0_table_count() >= FILES_MAX && waits < FILES_WAITS {
        merge_if_many(files)?;
        thread::sleep(FILES_WAIT);
        waits += 1;
    }
    Ok(())
}

struct FailOnDrop<'a>(&'a RunMemtable);

impl Drop for FailOnDrop<'_> {
    fn drop(&mut self) {
        self.0.fail("the thread that writes it has ended".to_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;
    use orrery_kv::Put;
    use orrery_kv::contract::{INDEX, SPACES};

    const GENERATION_BYTES: usize = 1000;

    fn work(folder: &tempfile::TempDir) -> FlushWork {
        let database = Database::builder(folder.path()).open().expect("opened");
        let keyspaces = Arc::new(Keyspaces::open(&database, &SPACES).expect("opened"));
        let space = keyspaces.run_spaces()[0];
        keyspaces.open_or_create(&database, space.files).expect("made");
        let stored = keyspaces.open_or_create(&database, space.runs).expect("made");
        let memtable = RunMemtable::open(&database, space.name, Some(stored), GENERATION_BYTES, false);
        let memtable = Arc::new(memtable.expect("opened"));
        let disk = Disk { path: folder.path().to_owned(), reserve_bytes: u64::MAX / 2 };
        FlushWork { memtable, space, keyspaces, database, disk, flushes: Arc::default() }
    }

    /// Writes runs until a generation is full, and then another one; returns their number.
    fn fill(memtable: &RunMemtable) -> u64 {
        let mut position = memtable.position();
        let mut count = 0;
        while memtable.wait_for_room(&position).is_ok() {
            let key = Bytes::copy_from_slice(&u64::to_be_bytes(count));
            memtable.add(Run::of(&[Put { space: INDEX, key, value: Some(Bytes::new()) }]), &mut position);
            count += 1;
        }
        count
    }

    #[test]
    fn a_writer_that_waits_for_a_flush_is_refused_while_the_disk_is_full() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut work = work(&folder);
        // Reported before it is met, or the wait would never end here.
        work.memtable.fail("no disk yet".to_owned());
        let written = fill(&work.memtable);
        let refused = work.run_once().expect_err("there is no room").to_string();
        assert!(refused.contains("make room"), "{refused}");
        work.disk.reserve_bytes = 0;
        work.run_once().expect("there is room");
        assert_eq!(work.memtable.wait_for_room(&work.memtable.position()), Ok(()));
        let files = work.keyspaces.get(work.space.files).expect("made");
        let flushes = files.len().expect("read") as u64;
        assert!(flushes > 0 && flushes < written, "{flushes} of {written} rows are in a file");
    }

    #[test]
    fn a_writer_that_waits_for_a_flush_is_refused_when_the_flusher_has_ended() {
        let folder = tempfile::tempdir().expect("a folder");
        let work = work(&folder);
        drop(FailOnDrop(&work.memtable));
        assert!(fill(&work.memtable) > 0);
        let refused =
            work.memtable.wait_for_room(&work.memtable.position()).expect_err("refused").to_string();
        assert!(refused.contains("has ended"), "{refused}");
    }
}
