//! Writing runs to a file of the index.

use super::merge::Entries;
use super::{Leaving, MARK_KEY, Recent, Run};
use crate::engine::writing;
use crate::folder::Disk;
use crate::helper::{Helper, look_when_told};
use crate::spaces::{RUNS, Spaces};
use fjall::compaction::Leveled;
use fjall::{AbstractTree as _, Database, Keyspace, PersistMode};
use orrery_kv::{Error, KeyRange, Order, Purpose, Space};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::Receiver;
use std::thread;
use std::time::Duration;

/// From so many files of the index on that are not merged yet, we merge some ourselves when nobody writes: fjall waits for
/// more, and asks for it once with each file, and nobody does so again if that was at a bad moment.
const FILES_MANY: usize = 4;
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
    /// The disk must have room for the file.
    pub fn new(recent: Arc<Recent>, spaces: Arc<Spaces>, database: Database, disk: Disk) -> io::Result<Self> {
        let spilled = Arc::new(AtomicU64::new(0));
        let work = Work { recent, spaces, database, disk, spilled: spilled.clone() };
        Ok(Self { helper: Helper::new("runs", move |told| work.listen(told))?, spilled })
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

struct Work {
    recent: Arc<Recent>,
    spaces: Arc<Spaces>,
    database: Database,
    disk: Disk,
    spilled: Arc<AtomicU64>,
}

impl Work {
    fn listen(&self, told: &Receiver<()>) {
        // Who waits for room is told when this thread ends, however it ends.
        let _end = End(&self.recent);
        look_when_told(told, || {
            if let Err(error) = self.look() {
                tracing::error!(%error, "the newest rows of the index could not be written to a file");
                self.recent.fail(error.to_string());
                thread::sleep(RETRY_PAUSE);
            }
        });
    }

    fn look(&self) -> Result<(), Error> {
        let (Some(index), Some(stored)) = (self.spaces.get(Space::Index as usize), self.spaces.get(RUNS))
        else {
            return Ok(());
        };
        let Some(Leaving { runs, until }) = self.recent.leaving() else {
            // Nobody waits for these merges, so nobody is told if they fail.
            if let Err(error) = merge_if_many(index) {
                tracing::error!(%error, "files of the index could not be merged");
            }
            return Ok(());
        };
        // What is begun and fails leaves a part of a file behind, until the folder is opened again.
        let bytes = runs.iter().map(|run| run.bytes() as u64).sum();
        // Deletes are rows of the index too, and the journal gets shorter by it.
        self.disk.check_room(bytes, Purpose::MakeRoom)?;
        self.spill(&runs, until, index, stored).map_err(writing)?;
        self.recent.leave();
        self.spilled.fetch_add(1, Ordering::Relaxed);
        Ok(())
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

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;
    use orrery_kv::Put;

    const TURN_BYTES: usize = 1000;

    fn work(folder: &tempfile::TempDir) -> Work {
        let database = Database::builder(folder.path()).open().expect("opened");
        let spaces = Arc::new(Spaces::open(&database).expect("opened"));
        let stored = spaces.made(&database, RUNS).expect("made");
        let recent = Recent::open(&database, Some(stored), TURN_BYTES, false).expect("opened");
        let disk = Disk { path: folder.path().to_owned(), reserve_bytes: u64::MAX / 2 };
        Work { recent: Arc::new(recent), spaces, database, disk, spilled: Arc::default() }
    }

    /// Writes runs until a turn is full, and then another one; says how many.
    fn fill(recent: &Recent) -> u64 {
        let mut slot = recent.slot();
        let mut count = 0;
        while recent.wait_for_room(&slot).is_ok() {
            let key = Bytes::copy_from_slice(&u64::to_be_bytes(count));
            recent.add(Run::of(&[Put { space: Space::Index, key, value: Some(Bytes::new()) }]), &mut slot);
            count += 1;
        }
        count
    }

    #[test]
    fn who_waits_for_room_is_refused_while_there_is_none_on_the_disk() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut work = work(&folder);
        // Known before it is met, or the wait would have no end here.
        work.recent.fail("no disk yet".to_owned());
        let written = fill(&work.recent);
        let refused = work.look().expect_err("there is no room").to_string();
        assert!(refused.contains("make room"), "{refused}");
        work.disk.reserve_bytes = 0;
        work.look().expect("there is room");
        assert_eq!(work.recent.wait_for_room(&work.recent.slot()), Ok(()));
        let index = work.spaces.get(Space::Index as usize).expect("made");
        let spilled = index.len().expect("read") as u64;
        assert!(spilled > 0 && spilled < written, "{spilled} of {written} rows are in a file");
    }

    #[test]
    fn who_waits_for_room_is_refused_when_nobody_makes_any() {
        let folder = tempfile::tempdir().expect("a folder");
        let work = work(&folder);
        drop(End(&work.recent));
        assert!(fill(&work.recent) > 0);
        let refused = work.recent.wait_for_room(&work.recent.slot()).expect_err("refused").to_string();
        assert!(refused.contains("has ended"), "{refused}");
    }
}
