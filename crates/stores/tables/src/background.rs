//! The background jobs of tables: rows of dropped tables, and log entries past their retention.
//!
//! Every step is a small transaction, so writers are never kept waiting for longer than one of their own.

use crate::store::TableStore;
use crate::{limits, scope};
use orrery_catalog::jobs::Step;
use orrery_tables::sweep;
use orrery_txn::{JobError, Jobs, Progress, Scope, WriteError};

impl TableStore {
    /// Registers the jobs that keep the tables in order.
    pub fn register_jobs(&self, jobs: &mut Jobs) {
        let job = |step: fn(&Self) -> Result<Progress, JobError>| {
            let store = self.clone();
            move || step(&store)
        };
        jobs.register("dropped tables", job(Self::sweep_tables));
        jobs.register("table log trimming", job(Self::trim_logs));
    }

    /// One step for each dropped table that still has rows. Damage in one does not keep the others from being removed.
    fn sweep_tables(&self) -> Result<Progress, JobError> {
        let dropped = sweep::jobs(&*self.snapshot()).map_err(WriteError::Engine)?;
        let (mut progress, mut failure) =
            (Progress::more_if(dropped.len() > limits::SWEEPS_PER_ROUND_MAX), None);
        for table in dropped.into_iter().take(limits::SWEEPS_PER_ROUND_MAX) {
            match self.sweep_table(table) {
                Ok(step) => progress = progress.and(Progress::more_if(step == Step::More)),
                Err(error) => failure = failure.or(Some(error)),
            }
        }
        failure.map_or(Ok(progress), Err)
    }

    fn sweep_table(&self, table: u32) -> Result<Step, JobError> {
        let scope = scope::partition(table, "");
        Ok(self.txns().write_blocking(Scope::new(&scope), |txn| sweep::step(txn, table))?.value)
    }
}
