//! How long queries took the last time.
//!
//! A query that was short is run where its request is: to wake another thread and be woken by it takes longer than
//! the query. Only a hint, so it is small and may be wrong: queries whose hashes meet in a slot drive each other out.

use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

const SLOTS: usize = 4096;

pub(super) struct Pace {
    /// The upper half tells which query, the lower how many microseconds.
    slots: Box<[AtomicU64]>,
    /// Seeded, so that nobody can have queries meet.
    hasher: RandomState,
}

/// A query's place among them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Track(u64);

impl Default for Pace {
    fn default() -> Self {
        let slots = std::iter::repeat_with(AtomicU64::default).take(SLOTS).collect();
        Self { slots, hasher: RandomState::new() }
    }
}

impl Pace {
    pub fn track(&self, container: u32, text: &str) -> Track {
        Track(self.hasher.hash_one((container, text)))
    }

    /// How long it took, if that is known.
    pub fn of(&self, track: Track) -> Option<Duration> {
        let noted = self.slot(track).load(Ordering::Relaxed);
        let is_its_own = noted >> 32 == track.0 >> 32 && noted != 0;
        is_its_own.then(|| Duration::from_micros(noted & u64::from(u32::MAX)))
    }

    pub fn note(&self, track: Track, took: Duration) {
        let micros = u32::try_from(took.as_micros()).unwrap_or(u32::MAX).max(1);
        self.slot(track).store(track.0 >> 32 << 32 | u64::from(micros), Ordering::Relaxed);
    }

    fn slot(&self, track: Track) -> &AtomicU64 {
        &self.slots[track.0 as usize % SLOTS]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_noted_last_is_told_of_that_query_alone() {
        let pace = Pace::default();
        let (one, other) = (pace.track(1, "SELECT * FROM c"), pace.track(2, "SELECT * FROM c"));
        assert_eq!(pace.of(one), None);
        pace.note(one, Duration::from_micros(70));
        pace.note(one, Duration::from_micros(80));
        assert_eq!(pace.of(one), Some(Duration::from_micros(80)));
        assert_eq!(pace.of(other), None);
    }

    #[test]
    fn one_that_meets_another_drives_it_out() {
        let pace = Pace::default();
        let (one, other) = (Track(5), Track(5 | 1 << 40));
        pace.note(one, Duration::ZERO);
        assert_eq!(pace.of(one), Some(Duration::from_micros(1)));
        pace.note(other, Duration::from_secs(1 << 20));
        assert_eq!((pace.of(one), pace.of(other)), (None, Some(Duration::from_micros(u64::from(u32::MAX)))));
    }
}
