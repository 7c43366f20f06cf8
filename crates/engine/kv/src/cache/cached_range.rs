//! A cached range: every row between two keys, in one piece of memory.

use crate::Row;
use bytes::Bytes;
use orrery_core::Lsn;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

pub(super) struct CachedRange {
    pub start: Bytes,
    /// `None` is the end of the space.
    pub end: Option<Bytes>,
    /// The oldest commit that a snapshot must include to see these rows.
    pub since: Lsn,
    /// Keys and values, alternating.
    bytes: Bytes,
    /// End offsets of each key and its value.
    ends: Vec<(u32, u32)>,
    is_used: AtomicBool,
}

/// Memory per cached range beside its rows.
const RANGE_OVERHEAD_BYTES: usize = 256;

impl CachedRange {
    /// Built from rows in ascending order.
    pub fn new<'r>(
        start: Bytes,
        end: Option<Bytes>,
        since: Lsn,
        rows: impl Iterator<Item = &'r Row> + Clone,
    ) -> Self {
        let size = rows.clone().map(|(key, value)| key.len() + value.len()).sum();
        let mut bytes = Vec::with_capacity(size);
        let mut ends = Vec::with_capacity(rows.clone().count());
        for (key, value) in rows {
            bytes.extend_from_slice(key);
            let key_end = bytes.len() as u32;
            bytes.extend_from_slice(value);
            ends.push((key_end, bytes.len() as u32));
        }
        Self { start, end, since, bytes: bytes.into(), ends, is_used: AtomicBool::new(false) }
    }

    /// This range joined with the one that begins where it ends.
    pub fn joined(&self, next: &CachedRange) -> Self {
        let bytes = [&self.bytes[..], &next.bytes].concat();
        let shift = self.bytes.len() as u32;
        let ends = next.ends.iter().map(|(key, value)| (key + shift, value + shift));
        Self {
            start: self.start.clone(),
            end: next.end.clone(),
            since: self.since.max(next.since),
            bytes: bytes.into(),
            ends: self.ends.iter().copied().chain(ends).collect(),
            is_used: AtomicBool::new(false),
        }
    }

    pub fn len(&self) -> usize {
        self.ends.len()
    }

    pub fn weight(&self) -> usize {
        let ends = self.end.as_ref().map_or(0, Bytes::len) + self.start.len();
        self.bytes.len() + self.ends.len() * size_of::<(u32, u32)>() + ends + RANGE_OVERHEAD_BYTES
    }

    pub fn is_before_end(&self, key: &[u8]) -> bool {
        self.end.as_deref().is_none_or(|end| key < end)
    }

    /// Positions of the rows between two keys.
    pub fn between(&self, start: &[u8], end: Option<&[u8]>) -> Range<usize> {
        let before = |key: &[u8]| {
            let (mut low, mut high) = (0, self.len());
            while low < high {
                let middle = (low + high) / 2;
                if self.key(middle) < key { low = middle + 1 } else { high = middle }
            }
            low
        };
        let last = match end {
            Some(end) if self.is_before_end(end) => before(end),
            _ => self.len(),
        };
        let first = if start <= self.start.as_ref() { 0 } else { before(start) };
        first..last.max(first)
    }

    fn key(&self, at: usize) -> &[u8] {
        &self.bytes[self.row_start(at)..self.ends[at].0 as usize]
    }

    pub fn row(&self, at: usize) -> Row {
        let (key_end, end) = self.ends[at];
        let (start, key_end, end) = (self.row_start(at), key_end as usize, end as usize);
        (self.bytes.slice(start..key_end), self.bytes.slice(key_end..end))
    }

    fn row_start(&self, at: usize) -> usize {
        at.checked_sub(1).map_or(0, |before| self.ends[before].1 as usize)
    }

    pub fn mark_used(&self) {
        self.is_used.store(true, Ordering::Relaxed);
    }

    /// Whether the range was used since the last call (the second-chance bit).
    pub fn take_used(&self) -> bool {
        self.is_used.swap(false, Ordering::Relaxed)
    }
}
