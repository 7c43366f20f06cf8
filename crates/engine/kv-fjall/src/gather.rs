//! Gathering texts and log entries: merging all files of a slice into fewer, without what was removed.
//!
//! fjall would not do it: the files do not overlap, and one with removals reaches from the oldest of them to the newest
//! row, over more than it merges at once. What was removed would stay on the disk for ever, and so would small files.
//!
//! A slice is gathered when a third of its rows are removed ones, so that a byte given back costs no more than two that
//! are copied; and only while neither it nor the one before has its turn, because nothing new is written to its files meanwhile.

use crate::folder::Disk;
use crate::helper::Helper;
use crate::memtables::Fill;
use crate::spaces::slice;
use crate::turns::Turn;
use fjall::{AbstractTree, Keyspace};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::Receiver;

/// Less than this on the disk is not worth it.
const BYTES_MIN: u64 = 16 * 1024 * 1024;
/// So many files of less than this each, on average, are made into fewer.
const FILES_MAX: u64 = 32;
const FILE_BYTES_MIN: u64 = 16 * 1024 * 1024;

pub struct Gatherer {
    helper: Helper<Turn>,
    /// The newest turn that was written in. In the first one there is nothing to gather.
    turn: AtomicU64,
    gathered: Arc<AtomicU64>,
}

impl Gatherer {
    /// The disk must have room for what is copied.
    pub fn new(fill: Arc<Fill>, disk: Disk) -> std::io::Result<Self> {
        let gathered = Arc::new(AtomicU64::new(0));
        let work = Work { fill, disk, gathered: gathered.clone() };
        let helper = Helper::new("gatherer", move |turns| work.listen(turns))?;
        Ok(Self { helper, turn: AtomicU64::new(0), gathered })
    }

    /// Looks, in its own time, for what there is to gather, if a turn has begun with this one.
    pub fn wrote(&self, turn: Turn) {
        if self.turn.fetch_max(turn.0, Ordering::Relaxed) < turn.0 {
            self.helper.tell(turn);
        }
    }

    /// Looks again.
    pub fn look(&self) {
        let turn = self.turn.load(Ordering::Relaxed);
        if turn > 0 {
            self.helper.tell(Turn(turn));
        }
    }

    /// How often a slice was gathered.
    pub fn gathered(&self) -> u64 {
        self.gathered.load(Ordering::Relaxed)
    }
}

struct Work {
    fill: Arc<Fill>,
    disk: Disk,
    gathered: Arc<AtomicU64>,
}

impl Work {
    fn listen(&self, told: &Receiver<Turn>) {
        while let Ok(turn) = told.recv() {
            // Only the newest counts of those that came while it was busy.
            let turn = told.try_iter().last().unwrap_or(turn);
            self.look(turn);
        }
    }

    fn look(&self, turn: Turn) {
        let is_far = |place| slice(place).is_none_or(|slice| turn.is_far(slice));
        let at_rest = || self.fill.spaces.in_order().filter(move |(place, _)| is_far(*place));
        for (_, slice) in
            at_rest().filter(|(_, slice)| is_due(slice) && self.disk.check_room(slice.disk_space()).is_ok())
        {
            let before = slice.disk_space();
            match slice.major_compact() {
                Ok(()) => {
                    self.gathered.fetch_add(1, Ordering::Relaxed);
                    let (name, after) = (slice.name(), slice.disk_space());
                    tracing::info!(%name, before, after, "what was removed is given back");
                }
                Err(error) => tracing::error!(%error, "what was removed could not be given back"),
            }
        }
        // What was removed counts when it is in files. fjall looks at a slice after this, so it is merged the next time.
        at_rest().filter(|(place, _)| self.fill.has_any(*place)).for_each(|(place, _)| {
            self.fill.exchange_or_tell(place);
        });
    }
}

fn is_due(slice: &Keyspace) -> bool {
    let (files, bytes) = (slice.table_count() as u64, slice.disk_space());
    // A removal is a row of its own until it meets what it removes.
    let is_a_third_gone = 4 * slice.tree.tombstone_count() >= slice.approximate_len() as u64;
    bytes >= BYTES_MIN && is_a_third_gone || files >= FILES_MAX && bytes < files * FILE_BYTES_MIN
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memtables::Memtables;
    use crate::spaces::{Place, Spaces};
    use fjall::Database;
    use orrery_kv::Space;

    const TEXTS: u64 = 500;
    const TEXT_BYTES: u64 = 60_000;

    /// A text that cannot be compressed.
    fn text(number: u64) -> Vec<u8> {
        let mut state = number + 1;
        let mut next = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state.to_be_bytes()
        };
        (0..TEXT_BYTES / 8).flat_map(|_| next()).collect()
    }

    struct Shelf {
        work: Work,
        memtables: Memtables,
        database: Database,
        _folder: tempfile::TempDir,
    }

    impl Shelf {
        /// With texts in one slice, in so many files.
        fn new(place: Place, files: u64) -> Self {
            let folder = tempfile::tempdir().expect("a folder");
            let database = Database::builder(folder.path().join("engine")).open().expect("opened");
            let spaces = Arc::new(Spaces::open(&database).expect("opened"));
            let memtables = Memtables::new(spaces).expect("a thread");
            let disk = Disk { path: folder.path().to_owned(), reserve_bytes: 0 };
            let work = Work { fill: memtables.fill().clone(), disk, gathered: Arc::default() };
            let shelf = Self { work, memtables, database, _folder: folder };
            shelf.memtables.fill().spaces.made(&shelf.database, place).expect("made");
            for number in 0..TEXTS {
                shelf.slice(place).insert(number.to_be_bytes(), text(number)).expect("written");
                if (number + 1) % (TEXTS / files) == 0 {
                    shelf.flush(place);
                }
            }
            shelf
        }

        fn slice(&self, place: Place) -> &Keyspace {
            self.memtables.fill().spaces.get(place).expect("it was made")
        }

        fn flush(&self, place: Place) {
            self.slice(place).rotate_memtable_and_wait().expect("written");
        }

        /// Whether a look leaves less on the disk.
        fn shrinks(&self, place: Place, turn: Turn) -> bool {
            let before = self.slice(place).disk_space();
            self.work.look(turn);
            self.slice(place).disk_space() < before
        }

        fn remove(&self, place: Place, numbers: impl Iterator<Item = u64>) {
            numbers.for_each(|number| self.slice(place).remove(number.to_be_bytes()).expect("removed"));
            self.flush(place);
        }
    }

    /// The one of texts that has this turn.
    const SLICE: Place = Space::Texts as usize + 2;
    const ITS: Turn = Turn(18);
    const FAR: Turn = Turn(23);
    /// One of the log; the seventh.
    const ENTRIES: Place = Space::Texts as usize + 16 + 6;

    #[test]
    fn what_was_removed_is_given_back_and_the_rest_is_there() {
        let shelf = Shelf::new(SLICE, 4);
        let is_removed = |number: u64| number % 5 < 3;
        shelf.remove(SLICE, (0..TEXTS).filter(|number| is_removed(*number)));
        let before = shelf.slice(SLICE).disk_space();
        shelf.work.look(FAR);
        let after = shelf.slice(SLICE).disk_space();
        assert!(before >= TEXTS * TEXT_BYTES && after * 2 < before, "{before} bytes became {after}");
        for number in 0..TEXTS {
            let found = shelf.slice(SLICE).get(number.to_be_bytes()).expect("read");
            assert_eq!(found.map(|found| found.to_vec()), (!is_removed(number)).then(|| text(number)));
        }
    }

    #[test]
    fn a_slice_that_has_its_turn_or_is_next_is_left_alone() {
        let shelf = Shelf::new(SLICE, 4);
        shelf.remove(SLICE, 0..TEXTS / 2);
        assert!(!shelf.shrinks(SLICE, ITS));
        assert!(!shelf.shrinks(SLICE, Turn(ITS.0 - 1)));
        assert!(shelf.shrinks(SLICE, Turn(ITS.0 + 1)));
    }

    #[test]
    fn the_log_is_gathered_as_texts_are() {
        let shelf = Shelf::new(ENTRIES, 4);
        shelf.remove(ENTRIES, 0..TEXTS / 2);
        assert!(!shelf.shrinks(ENTRIES, Turn(22)));
        assert!(shelf.shrinks(ENTRIES, FAR));
    }

    #[test]
    fn a_little_that_was_removed_waits_for_more() {
        let shelf = Shelf::new(SLICE, 4);
        shelf.remove(SLICE, 0..TEXTS / 4);
        assert!(!shelf.shrinks(SLICE, FAR));
    }

    #[test]
    fn many_small_files_become_few() {
        let shelf = Shelf::new(SLICE, 50);
        assert!(shelf.slice(SLICE).table_count() >= 32);
        shelf.work.look(FAR);
        assert!(shelf.slice(SLICE).table_count() < 4);
        assert_eq!(shelf.slice(SLICE).len().expect("read"), TEXTS as usize);
    }

    #[test]
    fn without_room_on_the_disk_nothing_is_merged() {
        let mut shelf = Shelf::new(SLICE, 4);
        shelf.remove(SLICE, 0..TEXTS / 2);
        shelf.work.disk.reserve_bytes = u64::MAX / 2;
        assert!(!shelf.shrinks(SLICE, FAR));
    }
}
