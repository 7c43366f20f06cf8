//! Optimistic transactions: they may take seconds and hold no lock while they run.
//!
//! ```text
//! begin     under the stripe: a snapshot, the pending puts over it, a watch on the scope
//! run       without it, on the caller's thread
//! end       under the stripe: if nobody else wrote to the scope, the batch joins the queue; else retry
//! ```
//!
//! The last try holds the scope alone: other writers of that scope wait for it to end, without a thread, so that a
//! busy partition cannot starve it. One that wrote nothing is right as of its snapshot, whoever wrote since.

use crate::block_on::block_on;
use crate::error::{CommitError, WriteError};
use crate::limits;
use crate::manager::{Committed, TxnManager, settle};
use crate::queue::{Answer, Pushed};
use crate::scope::Scope;
use orrery_kv::{Overlay, Snapshot, Txn};
use std::sync::Arc;

impl TxnManager {
    /// Runs `body`, which may take seconds, as one transaction in `scope`, and comes back when it is durable. It may
    /// run more than once. Blocks its thread.
    pub fn write_optimistic<T, E>(
        &self,
        scope: Scope<'_>,
        mut body: impl FnMut(&mut Txn<'_>) -> Result<T, E>,
    ) -> Result<Committed<T>, WriteError<E>> {
        for number in 1..=limits::SCRIPT_TRIES_MAX {
            let is_last = number == limits::SCRIPT_TRIES_MAX;
            if let Some(committed) = self.try_once(scope, is_last, &mut body)? {
                return Ok(committed);
            }
        }
        Err(WriteError::Busy)
    }

    fn try_once<T, E>(
        &self,
        scope: Scope<'_>,
        exclusive: bool,
        body: &mut impl FnMut(&mut Txn<'_>) -> Result<T, E>,
    ) -> Result<Option<Committed<T>>, WriteError<E>> {
        let attempt = Attempt::begin(self, scope, exclusive);
        let [newer, older] = &attempt.pending;
        let mut txn = Txn::over(&attempt.snapshot, [newer, older]);
        let returned = body(&mut txn);
        let batch = txn.into_batch();
        let pushed = match (returned.is_ok() && !batch.is_empty(), attempt.rests_on_pending()) {
            (true, _) => attempt.push(batch),
            (false, true) => self.0.committer.queue.barrier(attempt.epoch),
            (false, false) => return settle(returned, Ok(self.durable_lsn())),
        };
        drop(attempt);
        match pushed {
            Ok(answer) => settle(returned, block_on(answer).unwrap_or(Err(CommitError::Closed))),
            Err(CommitError::Aborted) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }
}

/// A watch on a scope, and the state that it began with.
struct Attempt<'a> {
    manager: &'a TxnManager,
    scope: Scope<'a>,
    stripe: usize,
    id: u64,
    snapshot: Arc<Snapshot>,
    pending: [Overlay; 2],
    epoch: u64,
}

impl<'a> Attempt<'a> {
    fn begin(manager: &'a TxnManager, scope: Scope<'a>, exclusive: bool) -> Self {
        let inner = &*manager.0;
        let index = scope.stripe(inner.committer.stripes.len());
        let id = manager.next_ordinal();
        loop {
            let mut stripe = inner.committer.stripes.lock(index);
            if let Some(reserved) = stripe.reserved(scope, None) {
                drop(stripe);
                block_on(reserved.released());
                continue;
            }
            let (epoch, snapshot) = (inner.committer.queue.epoch(), inner.db.snapshot());
            let pending = stripe.pending_over(&snapshot, epoch).map(Overlay::clone);
            stripe.watches().begin(id, scope, exclusive);
            return Self { manager, scope, stripe: index, id, snapshot, pending, epoch };
        }
    }

    fn rests_on_pending(&self) -> bool {
        self.pending.iter().any(|puts| !puts.is_empty())
    }

    /// Puts the batch into the queue, unless another transaction wrote to the scope meanwhile.
    fn push(&self, batch: orrery_kv::Batch) -> Result<Answer, CommitError> {
        let inner = &*self.manager.0;
        let mut stripe = inner.committer.stripes.lock(self.stripe);
        let is_reserved = stripe.reserved(self.scope, Some(self.id)).is_some();
        if is_reserved || stripe.watches().is_written(self.id) {
            return Err(CommitError::Aborted);
        }
        // If the epoch has changed, the pending puts are of the earlier one, and the queue refuses the batch.
        match inner.push(batch, self.scope, self.stripe, self.epoch, &mut stripe, false)? {
            Pushed::Queued(answer) => Ok(answer),
            Pushed::Lone(..) => unreachable!("only a writer that may commit is lent the turn"),
        }
    }
}

impl Drop for Attempt<'_> {
    fn drop(&mut self) {
        self.manager.0.committer.stripes.lock(self.stripe).watches().end(self.id);
    }
}
