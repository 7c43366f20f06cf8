//! The background jobs of queues: rows of dropped and cleared queues, expired messages that no get comes to, and heads that
//! have removed messages behind them.
//!
//! Every step is a small transaction in the scope of the queue that it concerns. Expired messages are looked for without
//! a lock, a page of a queue at a time.

use crate::definitions::OpenQueue;
use crate::head::HeadScan;
use crate::store::QueueStore;
use orrery_catalog::jobs::Step;
use orrery_core::Timestamp;
use orrery_kv::Txn;
use orrery_queues::{Position, leftovers, messages, remove_leftover};
use orrery_txn::{JobError, Jobs, Progress, WriteError};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How far the search for expired messages has come.
pub(crate) struct ExpirySweep {
    every: Duration,
    state: Mutex<State>,
}

struct State {
    next_at: Timestamp,
    /// Queues that are still to be looked through, the next one last.
    queues: Vec<Arc<OpenQueue>>,
    from: Position,
}

impl ExpirySweep {
    pub fn new(now: Timestamp, every: Duration) -> Self {
        let state = State { next_at: now.plus(every), queues: Vec::new(), from: Position::default() };
        Self { every, state: Mutex::new(state) }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl QueueStore {
    /// Registers the jobs that keep the queues in order.
    pub fn register_jobs(&self, jobs: &mut Jobs) {
        let job = |step: fn(&Self) -> Result<Progress, JobError>| {
            let store = self.clone();
            move || step(&store)
        };
        jobs.register("queue leftovers", job(Self::remove_leftovers));
        jobs.register("message expiry", job(Self::expire_messages));
        jobs.register("queue heads", job(Self::advance_heads));
    }

    /// A step of removing what each dropped and cleared queue left.
    fn remove_leftovers(&self) -> Result<Progress, JobError> {
        let mut progress = Progress::Idle;
        for leftover in leftovers(&*self.snapshot()).map_err(WriteError::Engine)? {
            let step = self.write_blocking(leftover.queue_number(), |txn| remove_leftover(txn, leftover))?;
            progress = progress.and(Progress::more_if(step == Step::More));
        }
        Ok(progress)
    }

    /// A page of the queue that the search has come to, if it is time.
    fn expire_messages(&self) -> Result<Progress, JobError> {
        let (sweep, now) = (&self.0.expiry, self.env().now());
        let mut state = sweep.state();
        if state.queues.is_empty() && now >= state.next_at {
            state.next_at = now.plus(sweep.every);
            state.queues = self.0.definitions.all();
        }
        let Some(queue) = state.queues.last().cloned() else { return Ok(Progress::Idle) };
        match self.expire_page(&queue, state.from, now)? {
            Some(next) => state.from = next,
            None => {
                state.queues.pop();
                state.from = Position::default();
            }
        }
        Ok(Progress::more_if(!state.queues.is_empty()))
    }

    /// Returns where the next page begins.
    fn expire_page(
        &self,
        queue: &OpenQueue,
        from: Position,
        now: Timestamp,
    ) -> Result<Option<Position>, JobError> {
        let from = from.max(queue.head.position());
        let page = messages::expired(&*self.snapshot(), queue.number(), from, now);
        let page = page.map_err(WriteError::Engine)?;
        if !page.expired.is_empty() {
            let remove =
                |txn: &mut Txn<'_>| messages::remove_expired(txn, queue.number(), &page.expired, now);
            match self.write_blocking(queue.number(), remove) {
                // Dropped meanwhile.
                Ok(_) | Err(WriteError::PreconditionFailed) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(page.next)
    }

    /// Moves the heads of queues over what was removed, so that the next get need not.
    fn advance_heads(&self) -> Result<Progress, JobError> {
        let now = self.env().now();
        let queues = self.0.definitions.all().into_iter();
        for queue in queues.filter(|queue| queue.head.has_removed_before(now)) {
            let scan = HeadScan::new(&queue.head);
            self.write_blocking(queue.number(), |txn| {
                let start = scan.begin();
                let first = messages::first_visible(txn, queue.number(), start.from, now)?;
                scan.raise(start, first);
                Ok(())
            })?;
            scan.committed();
        }
        Ok(Progress::Idle)
    }
}
