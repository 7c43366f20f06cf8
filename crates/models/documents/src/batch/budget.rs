//! How much text of items a batch may still touch.
//!
//! A small request can name large items, so its size does not bound what it costs; this does.

use orrery_core::limits;
use std::sync::atomic::{AtomicUsize, Ordering};

#[derive(Debug)]
pub struct Budget(AtomicUsize);

impl Default for Budget {
    fn default() -> Self {
        Self::of(limits::BATCH_WORK_BYTES_MAX)
    }
}

impl Budget {
    pub fn of(bytes: usize) -> Self {
        Self(AtomicUsize::new(bytes))
    }

    /// Takes so many bytes, if there are as many left.
    pub(super) fn take(&self, bytes: usize) -> bool {
        let less = |left: usize| left.checked_sub(bytes);
        self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_taken_is_gone_and_what_is_not_there_is_not_taken() {
        let budget = Budget::of(10);
        assert!(budget.take(4) && !budget.take(7) && budget.take(6) && !budget.take(1) && budget.take(0));
    }
}
