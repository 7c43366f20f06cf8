//! Trimming the logs of tables, now and then.

use crate::handle::TableHandle;
use crate::scope;
use crate::store::TableStore;
use orrery_tables::changes;
use orrery_txn::{JobError, Progress, Scope, WriteError};

impl TableStore {
    /// One step for each table, if it is time.
    pub(crate) fn trim_logs(&self) -> Result<Progress, JobError> {
        let step = |table: TableHandle| self.trim_log(&table);
        self.0.trimming.step_each(self.env().now(), || self.all_tables(), step)
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
