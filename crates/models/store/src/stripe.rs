//! Locks of scopes: a fixed number of them, each with the puts that wait for the disk.
//!
//! Two scopes may share a stripe; they then wait for each other for the microseconds a transaction takes,
//! and see each other's pending puts, whose keys are not theirs. In exchange no lock is ever made or freed.

use orrery_core::Lsn;
use orrery_kv::{Overlay, Snapshot, StampedBatch};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};

pub(crate) struct Stripes(Vec<Mutex<Stripe>>);

#[derive(Default)]
pub(crate) struct Stripe {
    pending: Overlay,
    newest: Lsn,
    epoch: u64,
}

const STRIPES: usize = 1024;

impl Stripes {
    pub fn new() -> Self {
        Self((0..STRIPES).map(|_| Mutex::default()).collect())
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn lock(&self, index: usize) -> MutexGuard<'_, Stripe> {
        // A closure that panicked left its own transaction unwritten and the stripe as it was.
        self.0[index].lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Frees the memory of puts that are durable now. A stripe in use is left to its next user.
    pub fn tidy(&self, index: usize, durable: Lsn) {
        let mut stripe = match self.0[index].try_lock() {
            Ok(stripe) => stripe,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return,
        };
        if stripe.newest <= durable {
            stripe.pending.clear();
        }
    }
}

impl Stripe {
    /// What waits over `snapshot` in this `epoch`. Puts of an earlier epoch never became durable; puts up to
    /// the snapshot's LSN are in it.
    pub fn pending_over(&mut self, snapshot: &Snapshot, epoch: u64) -> &Overlay {
        if self.epoch != epoch || self.newest <= snapshot.lsn() {
            self.pending.clear();
            self.epoch = epoch;
        }
        &self.pending
    }

    pub fn add(&mut self, batch: &StampedBatch) {
        batch.puts().iter().for_each(|put| self.pending.put(put));
        self.newest = batch.lsn();
    }
}
