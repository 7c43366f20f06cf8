//! Writing runs to a file of the index.

use super::merge::Entries;
use super::{MARK_KEY, Recent, Run};
use crate::helper::Helper;
use crate::spaces::{RUNS, Spaces};
use fjall::{Database, Keyspace, PersistMode};
use orrery_kv::{KeyRange, Order, Space};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::Receiver;
use std::thread;
use std::time::Duration;

/// While the index has so many files that are not merged yet, no more come to them, as in fjall's own writes; but not
/// for ever, should nobody merge them.
const FILES_MAX: usize = 20;
const FILES_WAIT: Duration = Duration::from_millis(10);
const FILES_WAITS: usize = 1000;

pub struct Spiller {
    helper: Helper<()>,
    spilled: Arc<AtomicU64>,
}

impl Spiller {
    pub fn new(recent: Arc<Recent>, spaces: Arc<Spaces>, database: Database) -> std::io::Result<Self> {
        let spilled = Arc::new(AtomicU64::new(0));
        let work = Work { recent, spaces, database, spilled: spilled.clone() };
        Ok(Self { helper: Helper::new("runs", move |told| work.listen(told))?, spilled })
    }

    /// There are runs that shall leave.
    pub fn spill(&self) {
        self.helper.tell(());
    }

    /// How often runs became a file.
    pub fn spilled(&self) -> u64 {
        self.spilled.load(Ordering::Relaxed)
    }
}

struct Work {
    recent: Arc<Recent>,
    spaces: Arc<Spaces>,
    database: Database,
    spilled: Arc<AtomicU64>,
}

impl Work {
    fn listen(&self, told: &Receiver<()>) {
        while told.recv().is_ok() {
            // One look is enough for all that was told meanwhile.
            told.try_iter().for_each(drop);
            self.look();
        }
    }

    fn look(&self) {
        let (leaving, until) = self.recent.shelf().leaving();
        if leaving.is_empty() {
            return;
        }
        let done = self.spill(&leaving, until);
        let mut shelf = self.recent.shelf();
        match done {
            Ok(()) => {
                shelf.leave();
                self.spilled.fetch_add(1, Ordering::Relaxed);
            }
            Err(error) => {
                tracing::error!(%error, "the newest rows of the index could not be written to a file");
                shelf.failure = Some(error.to_string());
            }
        }
        self.recent.left.notify_all();
    }

    /// When the mark is there, the runs need not be. Should it get lost, they are laid over the file that has them, which
    /// changes nothing.
    fn spill(&self, runs: &[Arc<Run>], until: u64) -> fjall::Result<()> {
        let (Some(index), Some(stored)) = (self.spaces.get(Space::Index as usize), self.spaces.get(RUNS))
        else {
            return Ok(());
        };
        // The file outlives a power cut, so what it belongs to must do so too.
        self.database.persist(PersistMode::SyncAll)?;
        wait_for_merges(index);
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

fn wait_for_merges(index: &Keyspace) {
    let mut waits = 0;
    while index.l0_table_count() >= FILES_MAX && waits < FILES_WAITS {
        thread::sleep(FILES_WAIT);
        waits += 1;
    }
}
