//! A read cache above the engine: single rows by key, and ranges of consecutive rows.
//!
//! An engine caches blocks as they are on disk, spread over several files that a reader must merge.
//! Here a row is one lookup away, and the next row of a range is the next one in memory.
//!
//! Invariant: a cached value is what the newest commit left. A commit invalidates or replaces what
//! it changes before anyone sees the commit, and what a snapshot found is cached only if no later
//! commit changed it. So a reader may use anything that was read from its own snapshot or an older
//! one.

mod cached_range;
mod range_cache;
mod range_cursor;
mod row_cache;

use crate::{CachePolicy, Error, KeyRange, Measure, Order, Put, Read, Rows, Space, SpaceSet};
use bytes::Bytes;
use orrery_core::Lsn;
use range_cache::RangeCache;
use range_cursor::RangeCursor;
use row_cache::RowCache;

pub(crate) struct ReadCache {
    rows: RowCache,
    ranges: RangeCache,
    /// By the index of a space.
    policies: [CachePolicy; Space::COUNT_MAX],
}

impl ReadCache {
    /// A cache of this many bytes, half for rows and half for ranges.
    pub fn new(spaces: &SpaceSet, bytes: usize) -> Self {
        let policies = spaces.each(|spec| spec.map_or(CachePolicy::Nothing, |spec| spec.cache));
        Self { policies, rows: RowCache::new(bytes / 2), ranges: RangeCache::new(bytes / 2) }
    }

    pub fn get(&self, space: Space, key: &[u8], view: &dyn Read, at: Lsn) -> Result<Option<Bytes>, Error> {
        if !self.is_cached(space) {
            return view.get(space, key);
        }
        let name = self.rows.lookup(space, key);
        if let Some(known) = self.rows.get(&name, at) {
            return Ok(known);
        }
        let found = view.get(space, key)?;
        if found.is_some() || self.policies[space.index()] == CachePolicy::RowsAndAbsence {
            self.rows.keep(&name, found.as_deref(), at);
        }
        Ok(found)
    }

    pub fn range<'a>(
        &'a self,
        space: Space,
        range: &KeyRange,
        order: Order,
        view: &'a dyn Read,
        at: Lsn,
    ) -> Rows<'a> {
        if !self.is_cached(space) || range.is_empty() {
            return view.range(space, range, order);
        }
        match RangeCursor::new(&self.ranges, space, range, order, view, at) {
            Some(cursor) => Box::new(cursor),
            None => view.range(space, range, order),
        }
    }

    /// Invalidates or replaces what a commit is about to change.
    pub fn change(&self, puts: &[Put], lsn: Lsn) {
        puts.iter().filter(|put| self.is_cached(put.space)).for_each(|put| self.rows.change(put, lsn));
        self.ranges.change(puts.iter().filter(|put| self.is_cached(put.space)), lsn);
    }

    /// Drops everything: an announced commit failed, and `newest` is the newest one again.
    pub fn clear(&self, newest: Lsn) {
        self.rows.clear(newest);
        self.ranges.clear(newest);
    }

    pub fn measures(&self) -> [Measure; 2] {
        let gauge = |name, bytes| Measure { name, unit: "bytes", is_total: false, value: bytes };
        [gauge("warm_rows", self.rows.bytes()), gauge("warm_runs", self.ranges.bytes())]
    }

    fn is_cached(&self, space: Space) -> bool {
        self.policies[space.index()] != CachePolicy::Nothing
    }
}
