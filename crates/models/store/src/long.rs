//! Transactions that take seconds: they hold no lock while they run.
//!
//! ```text
//! begin     under the stripe: a snapshot, what is pending over it, a watch on the scope
//! run       without it, on the caller's thread
//! end       under the stripe: if nobody else wrote to the scope, the batch joins the queue; else once more
//! ```
//!
//! The last try has the scope for itself: other writers of that partition wait for it to end, without a thread, so
//! that a busy partition cannot starve it. One that wrote nothing is right as of its snapshot, whoever wrote since.

use crate::queue::Answer;
use crate::store::{CommitError, refusal, settled};
use crate::{Committed, Scope, Store, WriteError};
use orrery_core::limits;
use orrery_kv::{Overlay, Snapshot, Txn};
use std::sync::Arc;

impl Store {
    /// Runs `body`, which may take seconds, as one transaction in `scope`, and comes back when it is durable. It may
    /// run more than once. Blocks its thread.
    pub fn write_long<T, E>(
        &self,
        scope: Scope<'_>,
        mut body: impl FnMut(&mut Txn<'_>) -> Result<T, E>,
    ) -> Result<Committed<T>, WriteError<E>> {
        for number in 1..=limits::SCRIPT_TRIES_MAX {
            let is_last = number == limits::SCRIPT_TRIES_MAX;
            if let Some(committed) = self.long_try(scope, is_last, &mut body)? {
                return Ok(committed);
            }
        }
        Err(WriteError::Busy)
    }

    fn long_try<T, E>(
        &self,
        scope: Scope<'_>,
        alone: bool,
        body: &mut impl FnMut(&mut Txn<'_>) -> Result<T, E>,
    ) -> Result<Option<Committed<T>>, WriteError<E>> {
        let held = Held::begin(self, scope, alone);
        let [newer, older] = &held.pending;
        let mut txn = Txn::over(&held.snapshot, [newer, older]);
        let said = body(&mut txn);
        let batch = txn.into_batch();
        let pushed = match (said.is_ok() && !batch.is_empty(), held.rests_on_pending()) {
            (true, _) => held.push(batch),
            (false, true) => self.0.queue.barrier(held.epoch),
            (false, false) => return settled(said, Ok(self.durable_lsn())),
        };
        drop(held);
        match pushed {
            Ok(answer) => settled(said, answer.blocking_recv().unwrap_or(Err(CommitError::Closed))),
            Err(CommitError::Aborted) => Ok(None),
            Err(error) => Err(refusal(error)),
        }
    }
}

/// A watch on a scope, and the state that it began with.
struct Held<'a> {
    store: &'a Store,
    scope: Scope<'a>,
    stripe: usize,
    id: u64,
    snapshot: Arc<Snapshot>,
    pending: [Overlay; 2],
    epoch: u64,
}

impl<'a> Held<'a> {
    fn begin(store: &'a Store, scope: Scope<'a>, alone: bool) -> Self {
        let inner = &*store.0;
        let index = scope.stripe(inner.stripes.len());
        let id = store.next_ordinal();
        loop {
            let mut stripe = inner.stripes.lock(index);
            if let Some(reserved) = stripe.reserved(scope, None) {
                drop(stripe);
                reserved.wait();
                continue;
            }
            let (epoch, snapshot) = (inner.queue.epoch(), inner.db.snapshot());
            let pending = stripe.pending_over(&snapshot, epoch).map(Overlay::clone);
            stripe.watches().begin(id, scope, alone);
            return Self { store, scope, stripe: index, id, snapshot, pending, epoch };
        }
    }

    fn rests_on_pending(&self) -> bool {
        self.pending.iter().any(|puts| !puts.is_empty())
    }

    /// Puts the batch into the queue, unless it rests on what is no longer so.
    fn push(&self, batch: orrery_kv::Batch) -> Result<Answer, CommitError> {
        let inner = &*self.store.0;
        let mut stripe = inner.stripes.lock(self.stripe);
        let is_reserved = stripe.reserved(self.scope, Some(self.id)).is_some();
        if is_reserved || stripe.watches().is_written(self.id) {
            return Err(CommitError::Aborted);
        }
        // What is pending is of an earlier epoch if that has changed, and the queue refuses the batch for it.
        inner.push(batch, self.scope, self.stripe, self.epoch, &mut stripe)
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        self.store.0.stripes.lock(self.stripe).watches().end(self.id);
    }
}
