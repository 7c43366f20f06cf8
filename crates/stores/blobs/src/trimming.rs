//! Trimming the logs of containers, now and then.

use crate::limits;
use crate::store::{BlobStore, scope_of};
use orrery_blobs::changes;
use orrery_blobs::containers::Container;
use orrery_txn::{JobError, Progress, Scope, WriteError};
use std::sync::atomic::{AtomicU64, Ordering};

/// The second at which trimming is next considered.
#[derive(Default)]
pub(crate) struct TrimmingDue(AtomicU64);

impl TrimmingDue {
    /// Also after the clock was set back: not longer than one period from now.
    fn is_now(&self, now: u64) -> bool {
        let due = self.0.load(Ordering::Relaxed);
        now >= due || due - now > limits::LOG_TRIM_EVERY_SECONDS
    }
}

impl BlobStore {
    /// One step for each container, if it is time.
    pub(crate) fn trim_logs(&self) -> Result<Progress, JobError> {
        let now = self.env().now().seconds();
        if !self.0.trimming_due.is_now(now) {
            return Ok(Progress::Idle);
        }
        let (mut has_more, mut failure) = (false, None);
        for container in self.0.containers.all() {
            match self.trim_log(&container) {
                Ok(did_something) => has_more |= did_something,
                Err(error) => failure = failure.or(Some(error)),
            }
        }
        if !has_more {
            self.0.trimming_due.0.store(now + limits::LOG_TRIM_EVERY_SECONDS, Ordering::Relaxed);
        }
        failure.map_or(Ok(Progress::more_if(has_more)), Err)
    }

    /// Decided on a snapshot and outside of any lock: what goes is never written again.
    fn trim_log(&self, container: &Container) -> Result<bool, JobError> {
        let number = container.number();
        let retention = self.0.options.log_retention;
        let planned = changes::plan_trimming(&self.snapshot(), number, retention, self.env().now());
        let Some(step) = planned.map_err(WriteError::Engine)? else { return Ok(false) };
        let trim = |txn: &mut orrery_kv::Txn<'_>| changes::apply_trimming(txn, number, &step);
        match self.txns().write_blocking(Scope::new(&scope_of(number, "")), trim) {
            // It was dropped meanwhile.
            Ok(_) | Err(WriteError::PreconditionFailed) => Ok(true),
            Err(error) => Err(error),
        }
    }
}
