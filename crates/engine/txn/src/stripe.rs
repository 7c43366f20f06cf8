//! Locks of scopes: a fixed number of them, each with the puts that wait for the disk.
//!
//! Two scopes may share a stripe; they then wait for each other for the microseconds a transaction takes,
//! and see each other's pending puts, whose keys are not theirs. In exchange no lock is ever made or freed.

use crate::Scope;
use crate::scope_watch::{Reserved, ScopeWatches};
use orrery_core::Lsn;
use orrery_kv::{Overlay, Snapshot, StampedBatch};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};

pub(crate) struct Stripes(Vec<Mutex<Stripe>>);

/// Pending puts in two generations, so that one can go although the other still grows: under steady load there is
/// never a moment at which nothing is pending.
#[derive(Default)]
pub(crate) struct Stripe {
    newer: Generation,
    older: Generation,
    epoch: u64,
    watches: ScopeWatches,
}

#[derive(Default)]
struct Generation {
    puts: Overlay,
    newest: Lsn,
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
        orrery_core::tour_step!();
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
        stripe.forget(durable);
    }
}

impl Stripe {
    /// The pending puts over `snapshot` in this `epoch`, newer first. Puts of an earlier epoch never became durable; puts up
    /// to the snapshot's LSN are in it.
    pub fn pending_over(&mut self, snapshot: &Snapshot, epoch: u64) -> [&Overlay; 2] {
        if self.epoch != epoch {
            let watches = std::mem::take(&mut self.watches);
            *self = Self { epoch, watches, ..Self::default() };
        }
        self.forget(snapshot.lsn());
        [&self.newer.puts, &self.older.puts]
    }

    /// The transaction other than `asker` that holds the scope alone, if there is one.
    pub fn reserved(&mut self, scope: Scope<'_>, asker: Option<u64>) -> Option<Reserved> {
        self.watches.reserved(scope, asker)
    }

    pub fn watches(&mut self) -> &mut ScopeWatches {
        &mut self.watches
    }

    /// Adds a queued batch of the scope to the pending puts.
    pub fn add(&mut self, scope: Scope<'_>, batch: &StampedBatch) {
        self.watches.note_write(scope);
        batch.puts().iter().for_each(|put| self.newer.puts.put(put));
        self.newer.newest = batch.lsn();
    }

    fn forget(&mut self, durable: Lsn) {
        if self.newer.puts.is_empty() && self.older.puts.is_empty() {
            return;
        }
        if self.older.newest <= durable {
            self.older = std::mem::take(&mut self.newer);
        }
        if self.older.newest <= durable {
            self.older = Generation::default();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;
    use orrery_kv::Batch;
    use orrery_kv::contract::DOCUMENTS;

    fn batch(lsn: u64) -> StampedBatch {
        let mut batch = Batch::new();
        batch.put(DOCUMENTS, Bytes::copy_from_slice(&lsn.to_be_bytes()), Bytes::new());
        batch.stamp(Lsn(lsn))
    }

    fn is_pending(stripe: &Stripe, lsn: u64) -> bool {
        let key = lsn.to_be_bytes();
        [&stripe.newer.puts, &stripe.older.puts].iter().any(|puts| puts.get(DOCUMENTS, &key).is_some())
    }

    #[test]
    fn durable_puts_are_forgotten_although_more_keep_coming() {
        let mut stripe = Stripe::default();
        for lsn in 1..=1000u64 {
            stripe.add(Scope::new(b"scope"), &batch(lsn));
            stripe.forget(Lsn(lsn.saturating_sub(5)));
            assert!(
                (lsn.saturating_sub(4).max(1)..=lsn).all(|pending| is_pending(&stripe, pending)),
                "at {lsn}"
            );
            assert!(lsn < 20 || !is_pending(&stripe, lsn - 15), "at {lsn} nothing old is kept");
        }
        stripe.forget(Lsn(1000));
        assert!(stripe.newer.puts.is_empty() && stripe.older.puts.is_empty());
    }
}
