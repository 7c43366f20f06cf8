//! Gathering texts and log entries: merging all files of a slice into fewer, without what was removed.
//!
//! fjall would not do it: the files do not overlap, and one with removals reaches from the oldest of them to the newest
//! row, over more than it merges at once. What was removed would stay on the disk for ever, and so would small files.
//!
//! When the disk has less room than its reserve, every keyspace is gathered in the same way, the slice whose turn it is included:
//! only deletes are written then, and fjall merges few removals on its own.
//!
//! A slice is gathered when a third of its rows are removed ones, so that a byte given back costs no more than two that
//! are copied; and only while neither it nor the one before has its turn, because nothing new is written to its files meanwhile.

use crate::folder::Disk;
use crate::helper::{Helper, look_when_told};
use crate::memtables::Fill;
use crate::spaces::{OLD_LOG, PLACES, Place, RUNS, is_in_order, slice};
use crate::turns::Turn;
use fjall::{AbstractTree, Keyspace};
use orrery_kv::Purpose;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Less than this on the disk is not worth it.
const BYTES_MIN: u64 = 16 * 1024 * 1024;
/// So many files of less than this each, on average, are made into fewer.
const FILES_MAX: u64 = 32;
const FILE_BYTES_MIN: u64 = 16 * 1024 * 1024;
/// The log of a format before is one keyspace, and trimming goes on in it. If it is longer than this it is merged only when
/// almost nothing is left, because fjall's threads wait for the end of the merge.
const OLD_LOG_BYTES_MAX: u64 = 3 * 1024 * 1024 * 1024;
/// No row has this key.
const NOBODYS_KEY: [u8; 1] = [0xff];

pub struct Gatherer {
    helper: Helper<()>,
    state: Arc<State>,
}

#[derive(Default)]
struct State {
    /// The newest turn.
    turn: AtomicU64,
    gathered: AtomicU64,
    is_stopping: AtomicBool,
}

impl State {
    fn turn(&self) -> Turn {
        Turn(self.turn.load(Ordering::Relaxed))
    }
}

impl Gatherer {
    /// The disk must have room for what is copied. `turn` is that of the newest commit.
    pub fn new(fill: Arc<Fill>, disk: Disk, turn: Turn) -> std::io::Result<Self> {
        let state = Arc::new(State { turn: AtomicU64::new(turn.0), ..State::default() });
        let mut work = Work { fill, disk, state: state.clone(), persisted: [0; PLACES] };
        let helper = Helper::new("gatherer", move |told| look_when_told(told, || work.look()))?;
        Ok(Self { helper, state })
    }

    /// Looks, in its own time, for what there is to gather, if a turn has begun with this one.
    pub fn wrote(&self, turn: Turn) {
        if self.state.turn.fetch_max(turn.0, Ordering::Relaxed) < turn.0 {
            self.look();
        }
    }

    /// Looks again.
    pub fn look(&self) {
        self.helper.tell(());
    }

    /// How often a slice was gathered.
    pub fn gathered(&self) -> u64 {
        self.state.gathered.load(Ordering::Relaxed)
    }
}

impl Drop for Gatherer {
    /// Only the slice that is being merged is waited for.
    fn drop(&mut self) {
        self.state.is_stopping.store(true, Ordering::Relaxed);
    }
}

struct Work {
    fill: Arc<Fill>,
    disk: Disk,
    state: Arc<State>,
    /// Up to where files were known to have what was written.
    persisted: [u64; PLACES],
}

impl Work {
    fn look(&mut self) {
        let spaces = self.fill.spaces.clone();
        let is_full = self.disk.check_room(0, Purpose::Store).is_err();
        let is_meant = |place: Place| is_in_order(place) || is_full && place != RUNS;
        for (place, keyspace) in spaces.all().filter(|(place, _)| is_meant(*place)) {
            if self.state.is_stopping.load(Ordering::Relaxed) {
                return;
            }
            // Asked for each, because turns go on while others are merged.
            if !is_full && slice(place).is_some_and(|slice| !self.state.turn().is_far(slice)) {
                continue;
            }
            let room = self.disk.check_room(self.bytes_left(place, keyspace), Purpose::MakeRoom);
            if self.is_due(place, keyspace) && room.is_ok() {
                self.gather(place, keyspace);
            }
            self.note_persisted(place, keyspace);
            // What was removed counts when it is in files. fjall looks at a slice after this, so it is merged the next time.
            if self.fill.has_any(place) {
                self.fill.exchange_or_tell(place);
            }
        }
    }

    fn is_due(&self, place: Place, keyspace: &Keyspace) -> bool {
        let (files, bytes) = (keyspace.table_count() as u64, keyspace.disk_space());
        let rows = keyspace.approximate_len() as u64;
        let removed = keyspace.tree.tombstone_count() + self.fill.rewritten(place);
        // A removal is a row of its own until it meets what it removes.
        let is_gone = match place {
            OLD_LOG if bytes > OLD_LOG_BYTES_MAX => 20 * removed >= 9 * rows,
            _ => 4 * removed >= rows,
        };
        bytes >= BYTES_MIN && is_gone || files >= FILES_MAX && bytes < files * FILE_BYTES_MIN
    }

    /// About what is left of a keyspace when it is gathered; a removal and what it removes are two rows.
    fn bytes_left(&self, place: Place, keyspace: &Keyspace) -> u64 {
        let rows = (keyspace.approximate_len() as u64).max(1);
        let removed = keyspace.tree.tombstone_count() + self.fill.rewritten(place);
        let share = u128::from(rows.saturating_sub(2 * removed));
        u64::try_from(u128::from(keyspace.disk_space()) * share / u128::from(rows)).unwrap_or(u64::MAX)
    }

    fn gather(&self, place: Place, keyspace: &Keyspace) {
        let before = keyspace.disk_space();
        self.fill.forget_rewritten(place);
        match keyspace.major_compact() {
            Ok(()) => {
                self.state.gathered.fetch_add(1, Ordering::Relaxed);
                let (name, after) = (keyspace.name(), keyspace.disk_space());
                tracing::info!(%name, before, after, "what was removed is given back");
            }
            Err(error) => tracing::error!(%error, "what was removed could not be given back"),
        }
    }

    /// fjall keeps a journal until the files of each keyspace have a row as new as the journal's newest, and a merge takes the
    /// newest ones away if they are removals. Then it would wait for the next turn, and with it all later journals; so
    /// there is one more removal, of nothing.
    fn note_persisted(&mut self, place: Place, keyspace: &Keyspace) {
        let persisted = keyspace.tree.get_highest_persisted_seqno().unwrap_or(0);
        if persisted < self.persisted[place] && !self.fill.has_any(place) {
            match keyspace.remove(NOBODYS_KEY) {
                Ok(()) => self.fill.exchange_or_tell(place),
                Err(error) => tracing::error!(%error, "journals may be kept for longer than they have to"),
            }
        }
        self.persisted[place] = persisted.max(self.persisted[place]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memtables::{Memtables, Written};
    use crate::spaces::{Place, Spaces};
    use bytes::Bytes;
    use fjall::Database;
    use orrery_core::Lsn;
    use orrery_kv::{Put, Space, Tip};

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
            let (fill, state) = (memtables.fill().clone(), Arc::default());
            let work = Work { fill, disk, state, persisted: [0; PLACES] };
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

        fn look(&mut self, turn: Turn) {
            self.work.state.turn.store(turn.0, Ordering::Relaxed);
            self.work.look();
        }

        /// Whether a look leaves less on the disk.
        fn shrinks(&mut self, place: Place, turn: Turn) -> bool {
            let before = self.slice(place).disk_space();
            self.look(turn);
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
        let mut shelf = Shelf::new(SLICE, 4);
        let is_removed = |number: u64| number % 5 < 3;
        shelf.remove(SLICE, (0..TEXTS).filter(|number| is_removed(*number)));
        let before = shelf.slice(SLICE).disk_space();
        shelf.look(FAR);
        let after = shelf.slice(SLICE).disk_space();
        assert!(before >= TEXTS * TEXT_BYTES && after * 2 < before, "{before} bytes became {after}");
        for number in 0..TEXTS {
            let found = shelf.slice(SLICE).get(number.to_be_bytes()).expect("read");
            assert_eq!(found.map(|found| found.to_vec()), (!is_removed(number)).then(|| text(number)));
        }
    }

    #[test]
    fn a_slice_that_has_its_turn_or_is_next_is_left_alone() {
        let mut shelf = Shelf::new(SLICE, 4);
        shelf.remove(SLICE, 0..TEXTS / 2);
        assert!(!shelf.shrinks(SLICE, ITS));
        assert!(!shelf.shrinks(SLICE, Turn(ITS.0 - 1)));
        assert!(shelf.shrinks(SLICE, Turn(ITS.0 + 1)));
    }

    #[test]
    fn the_log_is_gathered_as_texts_are() {
        let mut shelf = Shelf::new(ENTRIES, 4);
        shelf.remove(ENTRIES, 0..TEXTS / 2);
        assert!(!shelf.shrinks(ENTRIES, Turn(22)));
        assert!(shelf.shrinks(ENTRIES, FAR));
    }

    #[test]
    fn rows_that_were_written_once_more_count_as_removed_ones() {
        // The keys of these texts are of the first turn.
        let first = Space::Texts as usize;
        let mut shelf = Shelf::new(first, 4);
        let put = |space, key: &[u8], value: &[u8]| Put {
            space,
            key: Bytes::copy_from_slice(key),
            value: Some(Bytes::copy_from_slice(value)),
        };
        let tip = Tip { lsn: Lsn(FAR.0 << 16), chain: 0 };
        let mut puts: Vec<Put> =
            (0..TEXTS / 2).map(|number| put(Space::Texts, &number.to_be_bytes(), b"short")).collect();
        for short in &puts {
            shelf.slice(first).insert(short.key.clone(), b"short").expect("written");
        }
        shelf.flush(first);
        assert!(!shelf.shrinks(first, FAR));
        puts.push(put(Space::Meta, Tip::KEY, &tip.to_bytes()));
        shelf.memtables.wrote(&Written::of(&puts, &shelf.memtables.fill().spaces));
        assert!(shelf.shrinks(first, FAR));
        assert_eq!(shelf.work.fill.rewritten(first), 0);
    }

    #[test]
    fn files_say_how_new_they_are_after_their_newest_rows_were_removed_ones() {
        let mut shelf = Shelf::new(SLICE, 4);
        let newest = |shelf: &Shelf| shelf.slice(SLICE).tree.get_highest_persisted_seqno();
        shelf.look(FAR);
        shelf.remove(SLICE, 0..TEXTS);
        shelf.look(ITS);
        let before = newest(&shelf);
        shelf.work.persisted[SLICE] = before.expect("there are files");
        assert!(shelf.shrinks(SLICE, FAR));
        while shelf.slice(SLICE).tree.sealed_memtable_count() > 0 {
            std::thread::yield_now();
        }
        assert!(newest(&shelf) > before, "{:?} after {before:?}", newest(&shelf));
        assert_eq!(shelf.slice(SLICE).len().expect("read"), 0);
    }

    #[test]
    fn a_little_that_was_removed_waits_for_more() {
        let mut shelf = Shelf::new(SLICE, 4);
        shelf.remove(SLICE, 0..TEXTS / 4);
        assert!(!shelf.shrinks(SLICE, FAR));
    }

    #[test]
    fn many_small_files_become_few() {
        let mut shelf = Shelf::new(SLICE, 50);
        assert!(shelf.slice(SLICE).table_count() >= 32);
        shelf.look(FAR);
        assert!(shelf.slice(SLICE).table_count() < 4);
        assert_eq!(shelf.slice(SLICE).len().expect("read"), TEXTS as usize);
    }

    /// A disk that has half of its reserve free.
    fn fill_disk(shelf: &mut Shelf) {
        let stat = rustix::fs::statvfs(&shelf.work.disk.path).expect("asked");
        shelf.work.disk.reserve_bytes = 2 * stat.f_bavail * stat.f_frsize;
    }

    #[test]
    fn on_a_full_disk_a_slice_is_merged_in_its_turn_too() {
        let mut shelf = Shelf::new(SLICE, 4);
        shelf.remove(SLICE, 0..TEXTS / 2);
        let its_own = Turn(slice(SLICE).expect("a slice") as u64);
        assert!(!shelf.shrinks(SLICE, its_own));
        fill_disk(&mut shelf);
        assert!(shelf.shrinks(SLICE, its_own));
    }

    #[test]
    fn on_a_full_disk_removed_documents_are_given_back() {
        const DOCUMENTS: Place = Space::Documents as usize;
        let mut shelf = Shelf::new(DOCUMENTS, 4);
        shelf.remove(DOCUMENTS, 0..TEXTS);
        assert!(!shelf.shrinks(DOCUMENTS, FAR), "fjall merges them in its own time");
        fill_disk(&mut shelf);
        shelf.look(FAR);
        assert!(shelf.slice(DOCUMENTS).disk_space() < TEXT_BYTES * TEXTS / 10);
    }

    #[test]
    fn without_room_on_the_disk_nothing_is_merged() {
        let mut shelf = Shelf::new(SLICE, 4);
        shelf.remove(SLICE, 0..TEXTS / 2);
        shelf.work.disk.reserve_bytes = u64::MAX / 2;
        assert!(!shelf.shrinks(SLICE, FAR));
    }
}
