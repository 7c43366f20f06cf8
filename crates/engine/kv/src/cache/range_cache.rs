//! Cached ranges: none overlaps another, and the least recently used ones are evicted (second
//! chance).

use super::cached_range::CachedRange;
use crate::overlay::in_range;
use crate::{KeyRange, Order, Put, Space};
use bytes::Bytes;
use orrery_core::Lsn;
use std::collections::{BTreeMap, VecDeque};
use std::ops::Bound;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// A commit invalidates whole ranges, so they are short.
pub(super) const RANGE_BYTES_MAX: usize = 32 * 1024;
const LONG_RANGE_ROWS: usize = 32;
const RANGES_EXAMINED_MAX: usize = 16;
/// From this many bytes on, a scan is a long one. When the cache is full, only one in
/// `SAMPLED_ONE_OF` ranges of its remainder is admitted: a scan over more than fits would otherwise
/// evict, range by range, what it needs next when it is repeated.
const LONG_SCAN_BYTES: usize = 1024 * 1024;
const SAMPLED_ONE_OF: u32 = 16;
/// Keys that recent commits changed. A read from a snapshot older than the oldest of them is not
/// cached.
const CHANGED_KEYS_MAX: usize = 4096;
const CHANGED_KEYS_BYTES_MAX: usize = 1024 * 1024;
/// A commit with more keys than this is not recorded key by key.
const COMMIT_KEYS_MAX: usize = 1024;
/// Used ranges that one eviction passes over. There may be very many, and commits wait.
const SECOND_CHANCES_MAX: usize = 64;
const DOORKEEPER_SLOTS: usize = 1 << 14;

pub(super) struct RangeCache {
    table: Mutex<Table>,
    bytes_max: usize,
    /// Hashes of recent scan starts. A range that is scanned only once is not cached.
    doorkeeper: Box<[AtomicU64]>,
}

#[derive(Default)]
struct Table {
    spaces: [BTreeMap<Bytes, Arc<CachedRange>>; Space::COUNT_MAX],
    bytes: usize,
    /// Eviction order.
    queue: VecDeque<(Space, Weak<CachedRange>)>,
    changed: VecDeque<(Lsn, Space, Bytes)>,
    changed_bytes: usize,
    /// The newest commit whose keys have left `changed`.
    forgotten: Lsn,
    /// Admission requests by long scans.
    long: u32,
}

/// What a scan meets first.
pub(super) enum NextPart {
    Cached(Arc<CachedRange>),
    /// Nothing is cached here.
    Gap(KeyRange),
}

impl RangeCache {
    pub fn new(bytes_max: usize) -> Self {
        let doorkeeper = (0..DOORKEEPER_SLOTS).map(|_| AtomicU64::new(0)).collect();
        Self { table: Mutex::default(), bytes_max, doorkeeper }
    }

    pub fn bytes(&self) -> u64 {
        self.table().bytes as u64
    }

    /// Whether to cache the next range of a scan that has read this many bytes from the engine.
    pub fn admits(&self, bytes: usize) -> bool {
        if bytes < LONG_SCAN_BYTES {
            return self.bytes_max > 0;
        }
        let mut table = self.table();
        table.long = table.long.wrapping_add(1);
        table.bytes + 2 * RANGE_BYTES_MAX < self.bytes_max || table.long.is_multiple_of(SAMPLED_ONE_OF)
    }

    /// Whether a scan began at this key recently; records that one does now.
    pub fn was_scanned_lately(&self, space: Space, key: &[u8]) -> bool {
        let hash = xxh3_64_with_seed(key, space.index() as u64);
        self.doorkeeper[hash as usize % DOORKEEPER_SLOTS].swap(hash, Ordering::Relaxed) == hash
    }

    pub fn next_part(&self, space: Space, rest: &KeyRange, order: Order, at: Lsn) -> NextPart {
        let table = self.table();
        let ranges = &table.spaces[space.index()];
        match order {
            Order::Ascending => next_part(ranges, rest, at),
            Order::Descending => next_part_descending(ranges, rest, at),
        }
    }

    /// Caches a range unless a commit after its snapshot changed one of its rows. Replaces ranges
    /// that overlap it.
    pub fn keep(&self, space: Space, mut cached: CachedRange) {
        let mut table = self.table();
        if cached.since < table.forgotten
            || table.was_changed(space, &cached)
            || cached.weight() > self.bytes_max
        {
            return;
        }
        table.remove_overlapping(space, &cached);
        let (before, behind) = table.neighbours(space, &cached);
        if let Some(before) = before.filter(|before| before.weight() + cached.weight() <= RANGE_BYTES_MAX) {
            cached = before.joined(&cached);
            table.remove(space, &before);
        }
        if let Some(behind) = behind.filter(|behind| behind.weight() + cached.weight() <= RANGE_BYTES_MAX) {
            cached = cached.joined(&behind);
            table.remove(space, &behind);
        }
        table.insert(space, cached);
        table.make_room(self.bytes_max);
    }

    /// Invalidates the ranges that a commit changes. The keys of a very large commit are not
    /// recorded; reads from before it are then not cached.
    pub fn change<'p>(&self, puts: impl Iterator<Item = &'p Put> + Clone, lsn: Lsn) {
        let mut table = self.table();
        for Put { space, key, .. } in puts.clone() {
            if let Some(cached) = covering(&table.spaces[space.index()], key).cloned() {
                table.remove(*space, &cached);
            }
        }
        match puts.clone().nth(COMMIT_KEYS_MAX) {
            None => puts.for_each(|put| table.note_change(lsn, put.space, put.key.clone())),
            Some(_) => table.forget_changed(lsn),
        }
    }

    /// Drops everything; `newest` is the newest commit, whatever was announced.
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
        self.changed_bytes += key.len();
        self.changed.push_back((lsn, space, key));
        while (self.changed.len() > CHANGED_KEYS_MAX || self.changed_bytes > CHANGED_KEYS_BYTES_MAX)
            && let Some((lsn, _, key)) = self.changed.pop_front()
        {
            self.changed_bytes -= key.len();
            self.forgotten = lsn;
        }
    }

    fn forget_changed(&mut self, newest: Lsn) {
        self.changed.clear();
        self.changed_bytes = 0;
        self.forgotten = newest;
    }

    fn was_changed(&self, space: Space, cached: &CachedRange) -> bool {
        let later = self.changed.iter().rev().take_while(|(lsn, ..)| *lsn > cached.since);
        let mut later = later.filter(|(_, of, _)| *of == space);
        later.any(|(_, _, key)| *key >= cached.start && cached.is_before_end(key))
    }

    fn remove_overlapping(&mut self, space: Space, cached: &CachedRange) {
        let ranges = &self.spaces[space.index()];
        let range = KeyRange { start: cached.start.to_vec(), end: cached.end.as_deref().map(<[u8]>::to_vec) };
        let inside = in_range(ranges, &range).map(|(_, cached)| cached);
        let overlapping: Vec<Arc<CachedRange>> =
            covering(ranges, &cached.start).into_iter().chain(inside).cloned().collect();
        overlapping.iter().for_each(|cached| self.remove(space, cached));
    }

    /// The ranges that end where this one begins, and begin where it ends.
    fn neighbours(
        &self,
        space: Space,
        cached: &CachedRange,
    ) -> (Option<Arc<CachedRange>>, Option<Arc<CachedRange>>) {
        let ranges = &self.spaces[space.index()];
        let before = up_to(ranges, Bound::Excluded(&cached.start)).next_back().map(|(_, before)| before);
        let before = before.filter(|before| before.end.as_ref() == Some(&cached.start));
        (before.cloned(), cached.end.as_ref().and_then(|end| ranges.get(end)).cloned())
    }

    fn insert(&mut self, space: Space, cached: CachedRange) {
        let cached = Arc::new(cached);
        self.bytes += cached.weight();
        self.queue.push_back((space, Arc::downgrade(&cached)));
        self.spaces[space.index()].insert(cached.start.clone(), cached);
        // Ranges that commits invalidated are still in the queue.
        if self.queue.len() > 64 + 2 * self.spaces.iter().map(BTreeMap::len).sum::<usize>() {
            let spaces = &self.spaces;
            self.queue.retain(|(space, cached)| {
                cached.upgrade().is_some_and(|cached| is_cached(&spaces[space.index()], &cached))
            });
        }
    }

    fn remove(&mut self, space: Space, cached: &CachedRange) {
        if self.spaces[space.index()].remove(&cached.start).is_some() {
            self.bytes -= cached.weight();
        }
    }

    fn make_room(&mut self, bytes_max: usize) {
        let mut spared = 0;
        while self.bytes > bytes_max
            && let Some((space, cached)) = self.queue.pop_front()
        {
            let Some(cached) =
                cached.upgrade().filter(|cached| is_cached(&self.spaces[space.index()], cached))
            else {
                continue;
            };
            if cached.take_used() && spared < SECOND_CHANCES_MAX {
                spared += 1;
                self.queue.push_back((space, Arc::downgrade(&cached)));
            } else {
                self.remove(space, &cached);
            }
        }
    }
}

fn is_cached(ranges: &BTreeMap<Bytes, Arc<CachedRange>>, cached: &Arc<CachedRange>) -> bool {
    ranges.get(&cached.start).is_some_and(|kept| Arc::ptr_eq(kept, cached))
}

/// The ranges that begin at or before a key.
fn up_to<'r>(
    ranges: &'r BTreeMap<Bytes, Arc<CachedRange>>,
    key: Bound<&[u8]>,
) -> std::collections::btree_map::Range<'r, Bytes, Arc<CachedRange>> {
    ranges.range::<[u8], _>((Bound::Unbounded, key))
}

/// The range that covers a key, whether or not the key exists.
fn covering<'r>(ranges: &'r BTreeMap<Bytes, Arc<CachedRange>>, key: &[u8]) -> Option<&'r Arc<CachedRange>> {
    let (_, cached) = up_to(ranges, Bound::Included(key)).next_back()?;
    cached.is_before_end(key).then_some(cached)
}

fn next_part(ranges: &BTreeMap<Bytes, Arc<CachedRange>>, rest: &KeyRange, at: Lsn) -> NextPart {
    if let Some(cached) = covering(ranges, &rest.start).filter(|cached| cached.since <= at) {
        return NextPart::Cached(cached.clone());
    }
    let ranges = in_range(ranges, rest).map(|(_, cached)| cached);
    let end =
        first_worth_entering(ranges, at).map(|cached| cached.start.to_vec()).or_else(|| rest.end.clone());
    NextPart::Gap(KeyRange { start: rest.start.clone(), end })
}

fn next_part_descending(ranges: &BTreeMap<Bytes, Arc<CachedRange>>, rest: &KeyRange, at: Lsn) -> NextPart {
    let end = rest.end.as_deref().map_or(Bound::Unbounded, Bound::Excluded);
    let mut ranges = up_to(ranges, end).rev().map(|(_, cached)| cached).peekable();
    let is_there = |cached: &&&Arc<CachedRange>| {
        let reaches = match (&cached.end, &rest.end) {
            (None, _) => true,
            (Some(_), None) => false,
            (Some(end), Some(rest)) => **end >= **rest,
        };
        reaches && cached.since <= at
    };
    if let Some(cached) = ranges.peek().filter(is_there) {
        return NextPart::Cached(Arc::clone(cached));
    }
    let ranges = ranges.take_while(|cached| cached.is_before_end(&rest.start));
    let start =
        first_worth_entering(ranges, at).and_then(|cached| cached.end.as_ref()).map(|end| end.to_vec());
    NextPart::Gap(KeyRange { start: start.unwrap_or_else(|| rest.start.clone()), end: rest.end.clone() })
}

/// Whether a scan that reads from the engine should switch to it: reopening the engine's iterator
/// costs as much as a few rows.
fn is_worth_entering(cached: &CachedRange) -> bool {
    cached.len() >= LONG_RANGE_ROWS || cached.weight() >= RANGE_BYTES_MAX / 2
}

/// The first of these that a scan should switch to.
fn first_worth_entering<'r>(
    ranges: impl Iterator<Item = &'r Arc<CachedRange>>,
    at: Lsn,
) -> Option<&'r Arc<CachedRange>> {
    ranges.take(RANGES_EXAMINED_MAX).find(|cached| cached.since <= at && is_worth_entering(cached))
}
