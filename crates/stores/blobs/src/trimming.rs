//! Trimming the logs of containers, now and then.

use crate::store::{BlobStore, scope_of};
use orrery_blobs::changes;
use orrery_blobs::containers::Container;
use orrery_txn::{JobError, Progress, Scope, WriteError};
use std::sync::Arc;

impl BlobStore {
    /// One step for each container, if it is time.
    pub(crate) fn trim_logs(&self) -> Result<Progress, JobError> {
        let step = |container: Arc<Container>| self.trim_log(&container);
        self.0.trimming.step_each(self.env().now(), || self.0.containers.all(), step)
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
