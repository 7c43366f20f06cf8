//! Whether the last commit reached the disk, and if not, why; and the log line about it.

use orrery_core::LogLimiter;
use orrery_kv::Error;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

#[derive(Default)]
pub(crate) struct Trouble {
    is_there: AtomicBool,
    why: Mutex<Option<Error>>,
}

impl Trouble {
    /// What the last commit met; `None` if it went well. Costs one load while all is well.
    pub fn note(&self, error: Option<&Error>) {
        if error.is_some() || self.is_there.load(Ordering::Acquire) {
            *self.why.lock().unwrap_or_else(PoisonError::into_inner) = error.cloned();
            self.is_there.store(error.is_some(), Ordering::Release);
        }
    }

    pub fn current(&self) -> Option<Error> {
        if !self.is_there.load(Ordering::Acquire) {
            return None;
        }
        self.why.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Whether the disk had too little room for the last commit.
    pub fn is_full(&self) -> bool {
        matches!(self.current(), Some(Error::Full(_)))
    }
}

/// Logs that the store refused or failed, with one line a second however many callers are told so.
pub fn log_failure(error: &Error) {
    static FAILURES: LogLimiter = LogLimiter::new();
    if let Some(left_out) = FAILURES.admit(Instant::now()) {
        tracing::error!(%error, left_out, "the store failed");
    }
}
