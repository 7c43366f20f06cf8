//! Trims the logs of containers periodically.

use crate::scope::Scope;
use crate::store::Store;
use orrery_documents::catalog::Container;
use orrery_documents::changes;
use orrery_txn::{JobError, Progress, WriteError};
use std::sync::Arc;

impl Store {
    /// One step for each container, if it is time.
    pub(crate) fn trim_logs(&self) -> Result<Progress, JobError> {
        let catalog = self.catalog();
        let step = |container: &Arc<Container>| self.trim_log(container);
        self.0.trimming.step_each(self.env().now(), || catalog.all_containers(), step)
    }

    /// Planned on a snapshot without any lock: trimmed entries are never written again.
    fn trim_log(&self, container: &Container) -> Result<bool, JobError> {
        let planned = changes::plan_trimming(&self.snapshot(), container, self.env().now());
        let Some(step) = planned.map_err(WriteError::Engine)? else { return Ok(false) };
        let scope = Scope::Partition { container: container.number(), epk: &[] };
        let trim = |txn: &mut orrery_kv::Txn<'_>| {
            changes::apply_trimming(txn, container, &step);
            Ok(())
        };
        match self.write_blocking(scope, trim) {
            // Dropped or re-indexed meanwhile: the next round sees its new state.
            Ok(_) | Err(WriteError::PreconditionFailed) => Ok(true),
            Err(error) => Err(error),
        }
    }
}
