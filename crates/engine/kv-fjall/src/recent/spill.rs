//! Writing runs to a file of the index.

use super::merge::Entries;
use super::{MARK_KEY, Recent, Run};
use crate::engine::writing;
use crate::folder::free_bytes;
use crate::helper::Helper;
use crate::spaces::{RUNS, Spaces};
use fjall::compaction::Leveled;
use fjall::{AbstractTree as _, Database, Keyspace, PersistMode};
use orrery_kv::{Error, KeyRange, Order, Space};
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::Receiver;
use std::thread;
use std::time::Duration;

/// From so many files of the index on that are not merged yet, we merge some ourselves: fjall asks for it once with each file,
/// and nobody does so again if that was at a bad moment.
const FILES_MANY: usize = 8;
/// While there are so many, no more come to them, as in fjall's own writes; but not for ever.
const FILES_MAX: usize = 20;
const FILES_WAIT: Duration = Duration::from_millis(10);
const FILES_WAITS: usize = 1000;
/// Between an attempt that failed and the next.
const RETRY_PAUSE: Duration = Duration::from_secs(1);

pub struct Spiller {
    helper: Helper<()>,
    spilled: Arc<AtomicU64>,
}

impl Spiller {
    pub fn new(work: Work) -> io::Result<Self> {
        let spilled = Arc::new(AtomicU64::new(0));
        let count = spilled.clone();
        Ok(Self { helper: Helper::new("runs", move |told| work.listen(told, &count))?, spilled })
    }

    /// There are runs that shall leave, or files to be merged.
    pub fn spill(&self) {
        self.helper.tell(());
    }

    /// How often runs became a file.
    pub fn spilled(&self) -> u64 {
        self.spilled.load(Ordering::Relaxed)
    }
}

pub struct Work {
    pub recent: Arc<Recent>,
    pub spaces: Arc<Spaces>,
    pub database: Database,
    /// Where the disk must have room for the file, and so many bytes more.
    pub path: PathBuf,
    pub free_bytes_min: u64,
}

impl Work {
    fn listen(&self, told: &Receiver<()>, spilled: &AtomicU64) {
        // Who waits for room is told when this thread ends, however it ends.
        let _end = End(&self.recent);
        while told.recv().is_ok() {
            // One look is enough for all that was told meanwhile.
            told.try_iter().for_each(drop);
            match self.look() {
                Ok(count) => drop(spilled.fetch_add(count, Ordering::Relaxed)),
                Err(error) => {
                    tracing::error!(%error, "the newest rows of the index could not be written to a file");
                    self.recent.fail(error.to_string());
                    thread::sleep(RETRY_PAUSE);
                }
            }
        }
    }

    /// Says how many files came of it.
    fn look(&self) -> Result<u64, Error> {
        let (Some(index), Some(stored)) = (self.spaces.get(Space::Index as usize), self.spaces.get(RUNS))
        else {
            return Ok(0);
        };
        let (leaving, until) = self.recent.shelf().leaving();
        if leaving.is_empty() {
            merge_if_many(index).map_err(writing)?;
            return Ok(0);
        }
        self.check_room(&leaving)?;
        self.spill(&leaving, until, index, stored).map_err(writing)?;
        self.recent.shelf().leave();
        self.recent.left.notify_all();
        Ok(1)
    }

    /// What is begun and fails leaves a part of a file behind, until the folder is opened again.
    fn check_room(&self, runs: &[Arc<Run>]) -> Result<(), Error> {
        let bytes = runs.iter().map(|run| run.bytes() as u64).sum::<u64>();
        let free = free_bytes(&self.path).map_err(|error| Error::Unavailable(error.to_string()))?;
        if free > bytes + self.free_bytes_min / 2 {
            return Ok(());
        }
        Err(Error::Unavailable("the disk has no room for the index; make room".into()))
    }

    /// When the mark is there, the runs need not be. Should it get lost, they are laid over the file that has them, which
    /// changes nothing.
    fn spill(&self, runs: &[Arc<Run>], until: u64, index: &Keyspace, stored: &Keyspace) -> fjall::Result<()> {
        // The file outlives a power cut, so what it belongs to must do so too.
        self.database.persist(PersistMode::SyncAll)?;
        wait_for_merges(index)?;
        let mut file = index.start_ingestion()?;
        for (key, value) in Entries::new(runs, &KeyRange::all(), Order::Ascending) {
            match value {
                Some(value) => file.write(key, value)?,
                None => file.write_tombstone(key)?,
            }
        }
        // Commits wait meanwhile: its filter and its index are written, and all of it is synced.
        file.finish()?;
        stored.insert(MARK_KEY, until.to_be_bytes())
    }
}

/// Whether merges of the index are behind.
pub fn has_many_files(index: &Keyspace) -> bool {
    index.l0_table_count() >= FILES_MANY
}

/// Old versions stay, as we do not know who still reads them; the next merge removes those.
fn merge_if_many(index: &Keyspace) -> fjall::Result<()> {
    if has_many_files(index) {
        index.tree.compact(Arc::new(Leveled::default()), 0)?;
    }
    Ok(())
}

fn wait_for_merges(index: &Keyspace) -> fjall::Result<()> {
    let mut waits = 0;
    while index.l0_table_count() >= FILES_MAX && waits < FILES_WAITS {
        merge_if_many(index)?;
        thread::sleep(FILES_WAIT);
        waits += 1;
    }
    Ok(())
}

struct End<'a>(&'a Recent);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.fail("the thread that writes it has ended".to_owned());
    }
}
