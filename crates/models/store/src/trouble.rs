//! Whether the last commit reached the disk, and if not, why.

use orrery_kv::Error;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

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
}
