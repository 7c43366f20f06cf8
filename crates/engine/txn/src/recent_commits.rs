//! How commits went lately, which decides how a lone writer commits on its own thread.
//!
//! A worker of the runtime that blocks should hand its tasks to another thread first, which costs two wakes: some 30 µs,
//! a fifth of a commit on a fast disk. Where one writer after another was alone and commits were quick, blocking the
//! worker is cheaper for everybody: the other workers take its queued tasks, and none of them is waiting to write.

use crate::limits;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// A moving average of their times, in which each counts an eighth, and how many in a row had one writer.
pub(crate) struct RecentCommits {
    mean_micros: AtomicU64,
    lone_streak: AtomicU64,
}

impl Default for RecentCommits {
    /// A disk is slow until it was quick.
    fn default() -> Self {
        let mean_micros = AtomicU64::new(2 * limits::COMMIT_INLINE_MICROS_MAX);
        Self { mean_micros, lone_streak: AtomicU64::default() }
    }
}

impl RecentCommits {
    /// Commits follow each other, so that no two record at once.
    pub fn record(&self, took: Duration, writers: usize) {
        let took = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        let before = self.mean_micros.load(Ordering::Relaxed);
        self.mean_micros.store(before - before / 8 + took / 8, Ordering::Relaxed);
        let streak = if writers == 1 { self.lone_streak.load(Ordering::Relaxed) + 1 } else { 0 };
        self.lone_streak.store(streak, Ordering::Relaxed);
    }

    /// Whether a lone writer may block its worker: the commit is over before others notice.
    pub fn allow_inline(&self) -> bool {
        self.mean_micros.load(Ordering::Relaxed) <= limits::COMMIT_INLINE_MICROS_MAX
            && self.lone_streak.load(Ordering::Relaxed) >= limits::COMMIT_INLINE_STREAK_MIN
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Commits that took so many microseconds and had so many writers.
    fn after(commits: &[(u64, usize)]) -> RecentCommits {
        let recent = RecentCommits::default();
        commits.iter().for_each(|&(micros, writers)| recent.record(Duration::from_micros(micros), writers));
        recent
    }

    #[test]
    fn commits_are_slow_until_they_were_quick() {
        assert!(!RecentCommits::default().allow_inline());
        assert!(!after(&[(100, 1)]).allow_inline());
        assert!(after(&[(100, 1); 32]).allow_inline());
    }

    #[test]
    fn one_slow_commit_among_quick_ones_counts() {
        let mut commits = vec![(100, 1); 32];
        commits.push((20_000, 1));
        assert!(!after(&commits).allow_inline());
    }

    #[test]
    fn a_group_of_two_writers_ends_the_streak() {
        let mut commits = vec![(100, 1); 32];
        commits.push((100, 2));
        assert!(!after(&commits).allow_inline());
        commits.extend([(100, 1); 31]);
        assert!(!after(&commits).allow_inline());
        commits.push((100, 1));
        assert!(after(&commits).allow_inline());
    }

    #[test]
    fn times_without_bound_do_not_overflow() {
        assert!(!after(&[(u64::MAX, 1); 3]).allow_inline());
    }
}
