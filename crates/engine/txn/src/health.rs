//! Whether the last commit reached the disk, and if not, why; and the log line about it.

use orrery_core::LogLimiter;
use orrery_kv::Error;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

#[derive(Default)]
pub(crate) struct CommitHealth {
    has_failed: AtomicBool,
    error: Mutex<Option<Error>>,
}

impl CommitHealth {
    /// Records the outcome of the last commit; `None` if it succeeded. Costs one load while all is well.
    pub fn record(&self, error: Option<&Error>) {
        if error.is_some() || self.has_failed.load(Ordering::Acquire) {
            *self.error.lock().unwrap_or_else(PoisonError::into_inner) = error.cloned();
            self.has_failed.store(error.is_some(), Ordering::Release);
        }
    }

    pub fn error(&self) -> Option<Error> {
        if !self.has_failed.load(Ordering::Acquire) {
            return None;
        }
        self.error.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Whether the disk had too little room for the last commit.
    pub fn is_full(&self) -> bool {
        matches!(self.error(), Some(Error::Full(_)))
    }
}

/// Logs that the store refused or failed a request: at most one line a second, however many callers are refused.
pub fn log_failure(error: &Error) {
    static FAILURES: LogLimiter = LogLimiter::new();
    if let Some(left_out) = FAILURES.admit(Instant::now()) {
        tracing::error!(%error, left_out, "the store failed");
    }
}
