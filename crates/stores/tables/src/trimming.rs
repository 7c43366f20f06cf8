//! Trimming the logs of tables, now and then.

use crate::handle::TableHandle;
use crate::store::TableStore;
use crate::{limits, scope};
use orrery_tables::changes;
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

impl TableStore {
    /// One step for each table, if it is time.
    pub(crate) fn trim_logs(&self) -> Result<Progress, JobError> {
        let now = self.env().now().seconds();
        if !self.0.trimming_due.is_now(now) {
            return Ok(Progress::Idle);
        }
        let (mut has_more, mut failure) = (false, None);
        for table in self.all_tables() {
            match self.trim_log(&table) {
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
    fn trim_log(&self, table: &TableHandle) -> Result<bool, JobError> {
        let number = table.number();
        let planned = changes::plan_trimming(&self.snapshot(), number, self.env().now());
        let Some(step) = planned.map_err(WriteError::Engine)? else { return Ok(false) };
        let trim = |txn: &mut orrery_kv::Txn<'_>| {
            changes::apply_trimming(txn, number, &step);
            Ok(())
        };
        match self.txns().write_blocking(Scope::new(&scope::partition(number, "")), trim) {
            // It was dropped meanwhile.
            Ok(_) | Err(WriteError::PreconditionFailed) => Ok(true),
            Err(error) => Err(error),
        }
    }
}
