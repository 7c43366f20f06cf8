//! The runs that are kept: none overlaps another, and those that were not used lately make room for new ones.

use super::run::Run;
use crate::overlay::in_range;
use crate::{KeyRange, Order, Put, Space};
use bytes::Bytes;
use orrery_core::Lsn;
use std::collections::{BTreeMap, VecDeque};
use std::ops::Bound;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// A commit takes away whole runs, so they are not long.
pub(super) const RUN_BYTES_MAX: usize = 32 * 1024;
const LONG_RUN_ROWS: usize = 32;
const RUNS_LOOKED_AT_MAX: usize = 16;
/// A walk is long when it has read so much. When all room is taken, one run in so many is kept of the rest of it: one over
/// more than there is room for would otherwise take away, run by run, what it needs next when it comes again.
const LONG_WALK_BYTES: usize = 1024 * 1024;
const ONE_KEPT_OF: u32 = 16;
/// Keys that commits changed lately. What was read from a snapshot before the oldest of them is not kept.
const RECENT_MAX: usize = 4096;
const RECENT_BYTES_MAX: usize = 1024 * 1024;
/// More than these of one commit are not noted.
const NOTED_MAX: usize = 1024;
/// So many runs are spared, because they were used, when room is made for one. There may be very many, and commits wait.
const SPARED_MAX: usize = 64;
const DOORS: usize = 1 << 14;

pub(super) struct KeptRuns {
    table: Mutex<Table>,
    bytes_max: usize,
    /// Where walks began lately. What is read once only is not kept.
    doors: Box<[AtomicU64]>,
}

#[derive(Default)]
struct Table {
    spaces: [BTreeMap<Bytes, Arc<Run>>; Space::COUNT],
    bytes: usize,
    /// In the order in which they are asked whether they were used.
    queue: VecDeque<(Space, Weak<Run>)>,
    recent: VecDeque<(Lsn, Space, Bytes)>,
    recent_bytes: usize,
    /// The newest commit whose keys are no longer among the recent ones.
    forgotten: Lsn,
    /// How often a long walk asked whether to keep a run.
    long: u32,
}

/// What a walk comes to first.
pub(super) enum Ahead {
    Run(Arc<Run>),
    /// Nothing is kept of this part.
    Gap(KeyRange),
}

impl KeptRuns {
    pub fn new(bytes_max: usize) -> Self {
        let doors = (0..DOORS).map(|_| AtomicU64::new(0)).collect();
        Self { table: Mutex::default(), bytes_max, doors }
    }

    pub fn bytes(&self) -> u64 {
        self.table().bytes as u64
    }

    /// Whether a run should be kept of what comes next in a walk that has read so much from the engine.
    pub fn is_wanted(&self, bytes: usize) -> bool {
        if bytes < LONG_WALK_BYTES {
            return self.bytes_max > 0;
        }
        let mut table = self.table();
        table.long = table.long.wrapping_add(1);
        table.bytes + 2 * RUN_BYTES_MAX < self.bytes_max || table.long.is_multiple_of(ONE_KEPT_OF)
    }

    /// Whether a walk began at this key lately; from now on one did.
    pub fn is_known_door(&self, space: Space, key: &[u8]) -> bool {
        let hash = xxh3_64_with_seed(key, space as u64);
        self.doors[hash as usize % DOORS].swap(hash, Ordering::Relaxed) == hash
    }

    pub fn ahead(&self, space: Space, rest: &KeyRange, order: Order, at: Lsn) -> Ahead {
        let table = self.table();
        let runs = &table.spaces[space as usize];
        match order {
            Order::Ascending => ahead(runs, rest, at),
            Order::Descending => ahead_descending(runs, rest, at),
        }
    }

    /// Keeps a run, unless a commit after its snapshot changed one of its rows. It replaces what it overlaps.
    pub fn keep(&self, space: Space, mut run: Run) {
        let mut table = self.table();
        if run.since < table.forgotten || table.was_changed(space, &run) || run.weight() > self.bytes_max {
            return;
        }
        table.remove_overlapping(space, &run);
        let (before, behind) = table.neighbours(space, &run);
        if let Some(before) = before.filter(|before| before.weight() + run.weight() <= RUN_BYTES_MAX) {
            run = before.joined(&run);
            table.remove(space, &before);
        }
        if let Some(behind) = behind.filter(|behind| behind.weight() + run.weight() <= RUN_BYTES_MAX) {
            run = run.joined(&behind);
            table.remove(space, &behind);
        }
        table.insert(space, run);
        table.make_room(self.bytes_max);
    }

    /// Takes away the runs that a commit changes. The keys of one that changes very many are not noted: what was read before it
    /// is not kept.
    pub fn change<'p>(&self, puts: impl Iterator<Item = &'p Put> + Clone, lsn: Lsn) {
        let mut table = self.table();
        for Put { space, key, .. } in puts.clone() {
            if let Some(run) = covering(&table.spaces[*space as usize], key).cloned() {
                table.remove(*space, &run);
            }
        }
        match puts.clone().nth(NOTED_MAX) {
            None => puts.for_each(|put| table.note_change(lsn, put.space, put.key.clone())),
            Some(_) => table.forget_changes(lsn),
        }
    }

    /// Forgets everything. The newest commit is this one, whatever was announced.
    pub fn clear(&self, newest: Lsn) {
        let mut table = self.table();
        *table = Table { forgotten: newest, ..Table::default() };
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Table {
    fn note_change(&mut self, lsn: Lsn, space: Space, key: Bytes) {
        self.recent_bytes += key.len();
        self.recent.push_back((lsn, space, key));
        while (self.recent.len() > RECENT_MAX || self.recent_bytes > RECENT_BYTES_MAX)
            && let Some((lsn, _, key)) = self.recent.pop_front()
        {
            self.recent_bytes -= key.len();
            self.forgotten = lsn;
        }
    }

    fn forget_changes(&mut self, newest: Lsn) {
        self.recent.clear();
        self.recent_bytes = 0;
        self.forgotten = newest;
    }

    fn was_changed(&self, space: Space, run: &Run) -> bool {
        let later = self.recent.iter().rev().take_while(|(lsn, ..)| *lsn > run.since);
        let mut later = later.filter(|(_, of, _)| *of == space);
        later.any(|(_, _, key)| *key >= run.start && run.is_before_end(key))
    }

    fn remove_overlapping(&mut self, space: Space, run: &Run) {
        let runs = &self.spaces[space as usize];
        let range = KeyRange { start: run.start.to_vec(), end: run.end.as_deref().map(<[u8]>::to_vec) };
        let inside = in_range(runs, &range).map(|(_, run)| run);
        let overlapping: Vec<Arc<Run>> =
            covering(runs, &run.start).into_iter().chain(inside).cloned().collect();
        overlapping.iter().for_each(|run| self.remove(space, run));
    }

    /// The runs that end where this one begins, and begin where it ends.
    fn neighbours(&self, space: Space, run: &Run) -> (Option<Arc<Run>>, Option<Arc<Run>>) {
        let runs = &self.spaces[space as usize];
        let before = up_to(runs, Bound::Excluded(&run.start)).next_back().map(|(_, before)| before);
        let before = before.filter(|before| before.end.as_ref() == Some(&run.start));
        (before.cloned(), run.end.as_ref().and_then(|end| runs.get(end)).cloned())
    }

    fn insert(&mut self, space: Space, run: Run) {
        let run = Arc::new(run);
        self.bytes += run.weight();
        self.queue.push_back((space, Arc::downgrade(&run)));
        self.spaces[space as usize].insert(run.start.clone(), run);
        // Runs that commits took away are still in the queue.
        if self.queue.len() > 64 + 2 * self.spaces.iter().map(BTreeMap::len).sum::<usize>() {
            let spaces = &self.spaces;
            self.queue.retain(|(space, run)| {
                run.upgrade().is_some_and(|run| is_kept(&spaces[*space as usize], &run))
            });
        }
    }

    fn remove(&mut self, space: Space, run: &Run) {
        if self.spaces[space as usize].remove(&run.start).is_some() {
            self.bytes -= run.weight();
        }
    }

    fn make_room(&mut self, bytes_max: usize) {
        let mut spared = 0;
        while self.bytes > bytes_max
            && let Some((space, run)) = self.queue.pop_front()
        {
            let Some(run) = run.upgrade().filter(|run| is_kept(&self.spaces[space as usize], run)) else {
                continue;
            };
            if run.take_use() && spared < SPARED_MAX {
                spared += 1;
                self.queue.push_back((space, Arc::downgrade(&run)));
            } else {
                self.remove(space, &run);
            }
        }
    }
}

fn is_kept(runs: &BTreeMap<Bytes, Arc<Run>>, run: &Arc<Run>) -> bool {
    runs.get(&run.start).is_some_and(|kept| Arc::ptr_eq(kept, run))
}

/// The runs that begin before a key, or at it.
fn up_to<'r>(
    runs: &'r BTreeMap<Bytes, Arc<Run>>,
    key: Bound<&[u8]>,
) -> std::collections::btree_map::Range<'r, Bytes, Arc<Run>> {
    runs.range::<[u8], _>((Bound::Unbounded, key))
}

/// The run that tells whether there is such a key.
fn covering<'r>(runs: &'r BTreeMap<Bytes, Arc<Run>>, key: &[u8]) -> Option<&'r Arc<Run>> {
    let (_, run) = up_to(runs, Bound::Included(key)).next_back()?;
    run.is_before_end(key).then_some(run)
}

fn ahead(runs: &BTreeMap<Bytes, Arc<Run>>, rest: &KeyRange, at: Lsn) -> Ahead {
    if let Some(run) = covering(runs, &rest.start).filter(|run| run.since <= at) {
        return Ahead::Run(run.clone());
    }
    let runs = in_range(runs, rest).map(|(_, run)| run);
    let end = first_long(runs, at).map(|run| run.start.to_vec()).or_else(|| rest.end.clone());
    Ahead::Gap(KeyRange { start: rest.start.clone(), end })
}

fn ahead_descending(runs: &BTreeMap<Bytes, Arc<Run>>, rest: &KeyRange, at: Lsn) -> Ahead {
    let end = rest.end.as_deref().map_or(Bound::Unbounded, Bound::Excluded);
    let mut runs = up_to(runs, end).rev().map(|(_, run)| run).peekable();
    let is_there = |run: &&&Arc<Run>| {
        let reaches = match (&run.end, &rest.end) {
            (None, _) => true,
            (Some(_), None) => false,
            (Some(end), Some(rest)) => **end >= **rest,
        };
        reaches && run.since <= at
    };
    if let Some(run) = runs.peek().filter(is_there) {
        return Ahead::Run(Arc::clone(run));
    }
    let runs = runs.take_while(|run| run.is_before_end(&rest.start));
    let start = first_long(runs, at).and_then(|run| run.end.as_ref()).map(|end| end.to_vec());
    Ahead::Gap(KeyRange { start: start.unwrap_or_else(|| rest.start.clone()), end: rest.end.clone() })
}

/// Whether a walk that reads from the engine should stop for it: to begin again costs as much as a few rows.
fn is_long(run: &Run) -> bool {
    run.len() >= LONG_RUN_ROWS || run.weight() >= RUN_BYTES_MAX / 2
}

/// The first of these that a walk should stop for.
fn first_long<'r>(runs: impl Iterator<Item = &'r Arc<Run>>, at: Lsn) -> Option<&'r Arc<Run>> {
    runs.take(RUNS_LOOKED_AT_MAX).find(|run| run.since <= at && is_long(run))
}
