//! How the items of a container fare under its schemas, since these were set or the server started. Kept in memory.

use super::violation::Violations;
use orrery_core::{ItemId, Timestamp, limits};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

#[derive(Default)]
pub(super) struct Tally {
    checked: AtomicU64,
    warned: AtomicU64,
    refused: AtomicU64,
    recent: Mutex<VecDeque<Seen>>,
}

/// An item with violations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    pub id: String,
    pub at: Timestamp,
    pub is_refused: bool,
    pub violations: Violations,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Items that were written or to be written.
    pub checked: u64,
    /// Items that were written with violations, and items that were not written because of them.
    pub warned: u64,
    pub refused: u64,
    /// The last ones, newest first.
    pub recent: Vec<Seen>,
}

impl Tally {
    pub fn count(&self, id: &ItemId, violations: &Violations, is_refused: bool, now: Timestamp) {
        self.checked.fetch_add(1, Ordering::Relaxed);
        if violations.is_empty() {
            return;
        }
        let counter = if is_refused { &self.refused } else { &self.warned };
        counter.fetch_add(1, Ordering::Relaxed);
        let seen = Seen { id: id.to_string(), at: now, is_refused, violations: violations.clone() };
        let mut recent = self.recent.lock().unwrap_or_else(PoisonError::into_inner);
        recent.truncate(limits::VIOLATIONS_KEPT_MAX - 1);
        recent.push_front(seen);
    }

    pub fn report(&self) -> Report {
        let recent = self.recent.lock().unwrap_or_else(PoisonError::into_inner);
        Report {
            checked: self.checked.load(Ordering::Relaxed),
            warned: self.warned.load(Ordering::Relaxed),
            refused: self.refused.load(Ordering::Relaxed),
            recent: recent.iter().cloned().collect(),
        }
    }
}
