//! How long each query took the last time it ran.
//!
//! A query that was short runs on its request's own thread: two thread hand-overs take longer than the query. It is
//! only a hint, so the table is small and may be wrong: queries whose hashes collide evict each other.

use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

const SLOTS: usize = 4096;

pub(super) struct LatencyHints {
    /// The upper half identifies the query, the lower half is its duration in microseconds.
    slots: Box<[AtomicU64]>,
    /// Seeded, so that no client can make queries collide.
    hasher: RandomState,
}

/// The slot of a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueryKey(u64);

impl Default for LatencyHints {
    fn default() -> Self {
        let slots = std::iter::repeat_with(AtomicU64::default).take(SLOTS).collect();
        Self { slots, hasher: RandomState::new() }
    }
}

impl LatencyHints {
    pub fn query_key(&self, container: u32, text: &str) -> QueryKey {
        QueryKey(self.hasher.hash_one((container, text)))
    }

    /// The query's last duration, if known.
    pub fn of(&self, query_key: QueryKey) -> Option<Duration> {
        let noted = self.slot(query_key).load(Ordering::Relaxed);
        let is_its_own = noted >> 32 == query_key.0 >> 32 && noted != 0;
        is_its_own.then(|| Duration::from_micros(noted & u64::from(u32::MAX)))
    }

    pub fn note(&self, query_key: QueryKey, took: Duration) {
        let micros = u32::try_from(took.as_micros()).unwrap_or(u32::MAX).max(1);
        self.slot(query_key).store(query_key.0 >> 32 << 32 | u64::from(micros), Ordering::Relaxed);
    }

    fn slot(&self, query_key: QueryKey) -> &AtomicU64 {
        &self.slots[query_key.0 as usize % SLOTS]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_noted_last_is_told_of_that_query_alone() {
        let latency_hints = LatencyHints::default();
        let (one, other) =
            (latency_hints.query_key(1, "SELECT * FROM c"), latency_hints.query_key(2, "SELECT * FROM c"));
        assert_eq!(latency_hints.of(one), None);
        latency_hints.note(one, Duration::from_micros(70));
        latency_hints.note(one, Duration::from_micros(80));
        assert_eq!(latency_hints.of(one), Some(Duration::from_micros(80)));
        assert_eq!(latency_hints.of(other), None);
    }

    #[test]
    fn colliding_hints_evict_each_other() {
        let latency_hints = LatencyHints::default();
        let (one, other) = (QueryKey(5), QueryKey(5 | 1 << 40));
        latency_hints.note(one, Duration::ZERO);
        assert_eq!(latency_hints.of(one), Some(Duration::from_micros(1)));
        latency_hints.note(other, Duration::from_secs(1 << 20));
        assert_eq!(
            (latency_hints.of(one), latency_hints.of(other)),
            (None, Some(Duration::from_micros(u64::from(u32::MAX))))
        );
    }
}
