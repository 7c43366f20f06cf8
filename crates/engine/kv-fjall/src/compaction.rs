//! Reclaiming space in segments: compacting all files of a segment into fewer, without what was
//! removed.
//!
//! fjall does not do this. The files of a segment do not overlap, and a file of removals spans
//! everything from the oldest removed row to the newest row, which is more than fjall compacts at
//! once. Removed rows would stay on the disk for ever, and so would small files.
//!
//! When the disk has less room than its reserve, every keyspace is compacted, the current segment
//! included: only deletes are written then, and fjall compacts few removals on its own.
//!
//! A segment is compacted when a third of its rows are removed ones, so that a byte given back
//! costs no more than two bytes copied; and only while neither it nor its predecessor in the ring
//! is the current segment, because then nothing new is written to its files.

use crate::folder::Disk;
use crate::keyspaces::{KeyspaceId, Part};
use crate::memtables::MemtableSizes;
use crate::segments::Segment;
use crate::worker::{Worker, run_on_signal};
use fjall::{AbstractTree, Keyspace};
use orrery_kv::Purpose;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// A smaller keyspace is not worth it.
const BYTES_MIN: u64 = 16 * 1024 * 1024;
/// This many files, if smaller than `FILE_BYTES_MIN` on average, are compacted into fewer.
const FILES_MAX: u64 = 32;
const FILE_BYTES_MIN: u64 = 16 * 1024 * 1024;
/// Before format 5 the log was one keyspace, which is still trimmed. Above this size it is
/// compacted only when almost nothing is left of it, because fjall's workers wait for the
/// compaction.
const UNSEGMENTED_LOG_BYTES_MAX: u64 = 3 * 1024 * 1024 * 1024;
/// No row has this key.
const UNUSED_KEY: [u8; 1] = [0xff];

pub struct Reclaimer {
    worker: Worker<()>,
    state: Arc<State>,
}

#[derive(Default)]
struct State {
    /// The current segment.
    segment: AtomicU64,
    reclaimed: AtomicU64,
    is_stopping: AtomicBool,
}

impl State {
    fn segment(&self) -> Segment {
        Segment(self.segment.load(Ordering::Relaxed))
    }
}

impl Reclaimer {
    /// `disk` must have room for what is copied. `segment` is that of the newest commit.
    pub fn new(sizes: Arc<MemtableSizes>, disk: Disk, segment: Segment) -> std::io::Result<Self> {
        let state = Arc::new(State { segment: AtomicU64::new(segment.0), ..State::default() });
        let persisted = vec![0; sizes.keyspaces.ids().len()];
        let mut work = ReclaimWork { sizes, disk, state: state.clone(), persisted };
        let worker = Worker::new("reclaimer", move |signals| run_on_signal(signals, || work.run_once()))?;
        Ok(Self { worker, state })
    }

    /// Wakes the worker if this write began a new segment.
    pub fn note_written(&self, segment: Segment) {
        if self.state.segment.fetch_max(segment.0, Ordering::Relaxed) < segment.0 {
            self.wake();
        }
    }

    /// Wakes the worker.
    pub fn wake(&self) {
        self.worker.send(());
    }

    /// How often a segment was compacted.
    pub fn reclaimed(&self) -> u64 {
        self.state.reclaimed.load(Ordering::Relaxed)
    }
}

impl Drop for Reclaimer {
    /// Waits only for the segment that is being compacted.
    fn drop(&mut self) {
        self.state.is_stopping.store(true, Ordering::Relaxed);
    }
}

struct ReclaimWork {
    sizes: Arc<MemtableSizes>,
    disk: Disk,
    state: Arc<State>,
    /// The newest sequence number known to be in files, per keyspace.
    persisted: Vec<u64>,
}

impl ReclaimWork {
    fn run_once(&mut self) {
        let keyspaces = self.sizes.keyspaces.clone();
        let is_full = self.disk.check_room(0, Purpose::Store).is_err();
        let is_meant =
            |id: KeyspaceId| keyspaces.is_by_commit(id) || is_full && keyspaces.part(id) != Part::Runs;
        for (id, keyspace) in keyspaces.all().filter(|(id, _)| is_meant(*id)) {
            if self.state.is_stopping.load(Ordering::Relaxed) {
                return;
            }
            // Checked for each, because writes go on while others are compacted.
            if !is_full
                && keyspaces.ring_slot(id).is_some_and(|slot| !self.state.segment().is_idle_slot(slot))
            {
                continue;
            }
            let room = self.disk.check_room(self.bytes_left(id, keyspace), Purpose::MakeRoom);
            if self.is_due(id, keyspace) && room.is_ok() {
                self.reclaim(id, keyspace);
            }
            self.note_persisted(id, keyspace);
            // Removals count once they are in files. fjall flushes after this, so the segment is
            // compacted the next time.
            if self.sizes.has_any(id) {
                self.sizes.rotate_or_log(id);
            }
        }
    }

    fn is_due(&self, id: KeyspaceId, keyspace: &Keyspace) -> bool {
        let (files, bytes) = (keyspace.table_count() as u64, keyspace.disk_space());
        let rows = keyspace.approximate_len() as u64;
        let removed = keyspace.tree.tombstone_count() + self.sizes.rewritten(id);
        // A removal is a row of its own until it meets the row it removes.
        let is_gone = match self.sizes.keyspaces.part(id) {
            Part::UnsegmentedLog if bytes > UNSEGMENTED_LOG_BYTES_MAX => 20 * removed >= 9 * rows,
            _ => 4 * removed >= rows,
        };
        bytes >= BYTES_MIN && is_gone || files >= FILES_MAX && bytes < files * FILE_BYTES_MIN
    }

    /// Estimated size after compaction; a removal and the row it removes are two rows.
    fn bytes_left(&self, id: KeyspaceId, keyspace: &Keyspace) -> u64 {
        let rows = (keyspace.approximate_len() as u64).max(1);
        let removed = keyspace.tree.tombstone_count() + self.sizes.rewritten(id);
        let share = u128::from(rows.saturating_sub(2 * removed));
        u64::try_from(u128::from(keyspace.disk_space()) * share / u128::from(rows)).unwrap_or(u64::MAX)
    }

    fn reclaim(&self, id: KeyspaceId, keyspace: &Keyspace) {
        let before = keyspace.disk_space();
        self.sizes.forget_rewritten(id);
        match keyspace.major_compact() {
            Ok(()) => {
                self.state.reclaimed.fetch_add(1, Ordering::Relaxed);
                let (name, after) = (keyspace.name(), keyspace.disk_space());
                tracing::info!(%name, before, after, "what was removed is given back");
            }
            Err(error) => tracing::error!(%error, "what was removed could not be given back"),
        }
    }

    /// fjall keeps a journal until the files of each keyspace have a row as new as the journal's
    /// newest, and a compaction drops the newest rows if they are removals. The journal, and all
    /// later ones, would then wait until the segment is written again. So one more removal is
    /// written, of a key that no row has.
    fn note_persisted(&mut self, id: KeyspaceId, keyspace: &Keyspace) {
        let persisted = keyspace.tree.get_highest_persisted_seqno().unwrap_or(0);
        if persisted < self.persisted[id] && !self.sizes.has_any(id) {
            match keyspace.remove(UNUSED_KEY) {
                Ok(()) => self.sizes.rotate_or_log(id),
                Err(error) => tracing::error!(%error, "journals may be kept for longer than they have to"),
            }
        }
        self.persisted[id] = persisted.max(self.persisted[id]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keyspaces::{KeyspaceId, Keyspaces};
    use crate::memtables::{BatchSizes, Memtables};
    use bytes::Bytes;
    use fjall::Database;
    use orrery_core::Lsn;
    use orrery_kv::contract::{OVERFLOW, SPACES};
    use orrery_kv::{META, Put, Tip};

    const TEXTS: u64 = 500;
    const TEXT_BYTES: u64 = 60_000;

    /// An incompressible value.
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

    struct Fixture {
        work: ReclaimWork,
        memtables: Memtables,
        database: Database,
        _folder: tempfile::TempDir,
    }

    impl Fixture {
        /// With overflow values in one segment, in `files` files.
        fn new(id: KeyspaceId, files: u64) -> Self {
            let folder = tempfile::tempdir().expect("a folder");
            let database = Database::builder(folder.path().join("engine")).open().expect("opened");
            let keyspaces = Arc::new(Keyspaces::open(&database, &SPACES).expect("opened"));
            let memtables = Memtables::new(keyspaces).expect("a thread");
            let disk = Disk { path: folder.path().to_owned(), reserve_bytes: 0 };
            let (sizes, state) = (memtables.sizes().clone(), Arc::default());
            let persisted = vec![0; sizes.keyspaces.ids().len()];
            let work = ReclaimWork { sizes, disk, state, persisted };
            let fixture = Self { work, memtables, database, _folder: folder };
            fixture.keyspaces().open_or_create(&fixture.database, id).expect("made");
            for number in 0..TEXTS {
                fixture.keyspace(id).insert(number.to_be_bytes(), text(number)).expect("written");
                if (number + 1) % (TEXTS / files) == 0 {
                    fixture.flush(id);
                }
            }
            fixture
        }

        fn keyspaces(&self) -> &Keyspaces {
            &self.memtables.sizes().keyspaces
        }

        fn keyspace(&self, id: KeyspaceId) -> &Keyspace {
            self.keyspaces().get(id).expect("it was made")
        }

        fn flush(&self, id: KeyspaceId) {
            self.keyspace(id).rotate_memtable_and_wait().expect("written");
        }

        fn look(&mut self, segment: Segment) {
            self.work.state.segment.store(segment.0, Ordering::Relaxed);
            self.work.run_once();
        }

        /// Whether a run leaves less on the disk.
        fn shrinks(&mut self, id: KeyspaceId, segment: Segment) -> bool {
            let before = self.keyspace(id).disk_space();
            self.look(segment);
            self.keyspace(id).disk_space() < before
        }

        fn remove(&self, id: KeyspaceId, numbers: impl Iterator<Item = u64>) {
            numbers.for_each(|number| self.keyspace(id).remove(number.to_be_bytes()).expect("removed"));
            self.flush(id);
        }
    }

    const DOCUMENTS: KeyspaceId = 1;
    /// The first overflow segment.
    const FIRST: KeyspaceId = 21;
    /// The overflow segment of ring slot 2.
    const SEGMENT: KeyspaceId = FIRST + 2;
    const ITS: Segment = Segment(18);
    const FAR: Segment = Segment(23);
    /// The seventh log segment.
    const ENTRIES: KeyspaceId = 10;

    #[test]
    fn the_keyspaces_are_those_that_are_meant() {
        for (id, name) in
            [(DOCUMENTS, "documents"), (FIRST, "texts0"), (SEGMENT, "texts2"), (ENTRIES, "log6")]
        {
            let folder = tempfile::tempdir().expect("a folder");
            let database = Database::builder(folder.path()).open().expect("opened");
            let keyspaces = Keyspaces::open(&database, &SPACES).expect("opened");
            assert_eq!(&**keyspaces.open_or_create(&database, id).expect("made").name(), name);
        }
    }

    #[test]
    fn what_was_removed_is_given_back_and_the_rest_is_there() {
        let mut fixture = Fixture::new(SEGMENT, 4);
        let is_removed = |number: u64| number % 5 < 3;
        fixture.remove(SEGMENT, (0..TEXTS).filter(|number| is_removed(*number)));
        let before = fixture.keyspace(SEGMENT).disk_space();
        fixture.look(FAR);
        let after = fixture.keyspace(SEGMENT).disk_space();
        assert!(before >= TEXTS * TEXT_BYTES && after * 2 < before, "{before} bytes became {after}");
        for number in 0..TEXTS {
            let found = fixture.keyspace(SEGMENT).get(number.to_be_bytes()).expect("read");
            assert_eq!(found.map(|found| found.to_vec()), (!is_removed(number)).then(|| text(number)));
        }
    }

    #[test]
    fn the_current_segment_and_the_next_one_are_left_alone() {
        let mut fixture = Fixture::new(SEGMENT, 4);
        fixture.remove(SEGMENT, 0..TEXTS / 2);
        assert!(!fixture.shrinks(SEGMENT, ITS));
        assert!(!fixture.shrinks(SEGMENT, Segment(ITS.0 - 1)));
        assert!(fixture.shrinks(SEGMENT, Segment(ITS.0 + 1)));
    }

    #[test]
    fn log_segments_are_reclaimed_as_overflow_segments_are() {
        let mut fixture = Fixture::new(ENTRIES, 4);
        fixture.remove(ENTRIES, 0..TEXTS / 2);
        assert!(!fixture.shrinks(ENTRIES, Segment(22)));
        assert!(fixture.shrinks(ENTRIES, FAR));
    }

    #[test]
    fn rows_that_were_written_once_more_count_as_removed_ones() {
        // The keys of these values are of the first segment.
        let first = FIRST;
        let mut fixture = Fixture::new(first, 4);
        let put = |space, key: &[u8], value: &[u8]| Put {
            space,
            key: Bytes::copy_from_slice(key),
            value: Some(Bytes::copy_from_slice(value)),
        };
        let tip = Tip { lsn: Lsn(FAR.0 << 16), chain: 0 };
        let mut puts: Vec<Put> =
            (0..TEXTS / 2).map(|number| put(OVERFLOW, &number.to_be_bytes(), b"short")).collect();
        for short in &puts {
            fixture.keyspace(first).insert(short.key.clone(), b"short").expect("written");
        }
        fixture.flush(first);
        assert!(!fixture.shrinks(first, FAR));
        puts.push(put(META, Tip::KEY, &tip.to_bytes()));
        fixture.memtables.note_written(&BatchSizes::of(&puts, &fixture.memtables.sizes().keyspaces));
        assert!(fixture.shrinks(first, FAR));
        assert_eq!(fixture.work.sizes.rewritten(first), 0);
    }

    #[test]
    fn files_say_how_new_they_are_after_their_newest_rows_were_removed_ones() {
        let mut fixture = Fixture::new(SEGMENT, 4);
        let newest = |fixture: &Fixture| fixture.keyspace(SEGMENT).tree.get_highest_persisted_seqno();
        fixture.look(FAR);
        fixture.remove(SEGMENT, 0..TEXTS);
        fixture.look(ITS);
        let before = newest(&fixture);
        fixture.work.persisted[SEGMENT] = before.expect("there are files");
        assert!(fixture.shrinks(SEGMENT, FAR));
        while fixture.keyspace(SEGMENT).tree.sealed_memtable_count() > 0 {
            std::thread::yield_now();
        }
        assert!(newest(&fixture) > before, "{:?} after {before:?}", newest(&fixture));
        assert_eq!(fixture.keyspace(SEGMENT).len().expect("read"), 0);
    }

    #[test]
    fn a_little_that_was_removed_waits_for_more() {
        let mut fixture = Fixture::new(SEGMENT, 4);
        fixture.remove(SEGMENT, 0..TEXTS / 4);
        assert!(!fixture.shrinks(SEGMENT, FAR));
    }

    #[test]
    fn many_small_files_become_few() {
        let mut fixture = Fixture::new(SEGMENT, 50);
        assert!(fixture.keyspace(SEGMENT).table_count() >= 32);
        fixture.look(FAR);
        assert!(fixture.keyspace(SEGMENT).table_count() < 4);
        assert_eq!(fixture.keyspace(SEGMENT).len().expect("read"), TEXTS as usize);
    }

    /// A disk that has half of its reserve free.
    fn fill_disk(fixture: &mut Fixture) {
        let stat = rustix::fs::statvfs(&fixture.work.disk.path).expect("asked");
        fixture.work.disk.reserve_bytes = 2 * stat.f_bavail * stat.f_frsize;
    }

    #[test]
    fn on_a_full_disk_the_current_segment_is_compacted_too() {
        let mut fixture = Fixture::new(SEGMENT, 4);
        fixture.remove(SEGMENT, 0..TEXTS / 2);
        let its_own = Segment(fixture.keyspaces().ring_slot(SEGMENT).expect("a slot") as u64);
        assert!(!fixture.shrinks(SEGMENT, its_own));
        fill_disk(&mut fixture);
        assert!(fixture.shrinks(SEGMENT, its_own));
    }

    #[test]
    fn on_a_full_disk_removed_documents_are_given_back() {
        let mut fixture = Fixture::new(DOCUMENTS, 4);
        fixture.remove(DOCUMENTS, 0..TEXTS);
        assert!(!fixture.shrinks(DOCUMENTS, FAR), "fjall merges them in its own time");
        fill_disk(&mut fixture);
        fixture.look(FAR);
        assert!(fixture.keyspace(DOCUMENTS).disk_space() < TEXT_BYTES * TEXTS / 10);
    }

    #[test]
    fn without_room_on_the_disk_nothing_is_merged() {
        let mut fixture = Fixture::new(SEGMENT, 4);
        fixture.remove(SEGMENT, 0..TEXTS / 2);
        fixture.work.disk.reserve_bytes = u64::MAX / 2;
        assert!(!fixture.shrinks(SEGMENT, FAR));
    }
}
