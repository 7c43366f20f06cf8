//! Trimming the logs of containers, now and then.

use crate::{Scope, Store, WriteError};
use orrery_core::limits;
use orrery_documents::catalog::Container;
use orrery_documents::changes;
use orrery_kv::Error;
use std::sync::atomic::{AtomicU64, Ordering};

/// The second at which trimming is looked at next.
#[derive(Default)]
pub(crate) struct TrimmingDue(AtomicU64);

impl TrimmingDue {
    /// Also after the clock was set back: not longer than one period from now.
    fn is_now(&self, now: u64) -> bool {
        let due = self.0.load(Ordering::Relaxed);
        now >= due || due - now > limits::LOG_TRIM_EVERY_SECONDS
    }
}

impl Store {
    /// One step for each container, if it is time; true if there is more to do at once.
    pub(crate) fn trim_logs(&self) -> Result<bool, WriteError<Error>> {
        let now = self.env().now().seconds();
        if !self.trimming_due().is_now(now) {
            return Ok(false);
        }
        let (mut has_more, mut trouble) = (false, None);
        for container in self.catalog().all_containers() {
            match self.trim_log(container) {
                Ok(did_something) => has_more |= did_something,
                Err(error) => trouble = trouble.or(Some(error)),
            }
        }
        if !has_more {
            self.trimming_due().0.store(now + limits::LOG_TRIM_EVERY_SECONDS, Ordering::Relaxed);
        }
        trouble.map_or(Ok(has_more), Err)
    }

    /// Decided on a snapshot and outside of any lock: what goes is never written again.
    fn trim_log(&self, container: &Container) -> Result<bool, WriteError<Error>> {
        let planned = changes::plan_trimming(&self.snapshot(), container, self.env().now());
        let Some(step) = planned.map_err(WriteError::Engine)? else { return Ok(false) };
        let scope = Scope::Partition { container: container.number(), epk: &[] };
        let trim = |txn: &mut orrery_kv::Txn<'_>| {
            changes::apply_trimming(txn, container, &step);
            Ok(())
        };
        match self.write_blocking(scope, trim) {
            // Gone, or indexed in another way: the next round knows it as it is.
            Ok(_) | Err(WriteError::OwnerGone) => Ok(true),
            Err(error) => Err(error),
        }
    }
}
