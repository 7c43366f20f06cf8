//! The background jobs of blobs: rows of dropped containers, what is due, log entries past their retention, and chunks that nothing
//! refers to any more.
//!
//! Every step is a small transaction, so writers are never kept waiting for longer than one of their own.

use crate::limits;
use crate::store::{BlobStore, scope_of};
use orrery_blobs::containers::{self, Container};
use orrery_blobs::operations::background;
use orrery_catalog::jobs::Step;
use orrery_catalog::scope;
use orrery_chunks::{Commits, ReclaimError};
use orrery_kv::{Error as EngineError, Snapshot, Txn};
use orrery_txn::{JobError, Jobs, Progress, Scope, TxnManager, WriteError};
use std::sync::Arc;

impl BlobStore {
    /// Registers the jobs that keep the blobs in order.
    pub fn register_jobs(&self, jobs: &mut Jobs) {
        let job = |step: fn(&Self) -> Result<Progress, JobError>| {
            let store = self.clone();
            move || step(&store)
        };
        jobs.register("deleted containers", job(Self::expire_containers));
        jobs.register("dropped containers", job(Self::sweep_containers));
        jobs.register("blobs that are due", job(Self::run_due));
        jobs.register("lifecycle policies", job(Self::run_lifecycles));
        jobs.register("blob inventories", job(Self::run_inventories));
        jobs.register("blob log trimming", job(Self::trim_logs));
        jobs.register("chunk reclaiming", job(Self::reclaim_chunks));
    }

    fn expire_containers(&self) -> Result<Progress, JobError> {
        let now = self.env().now();
        let expire = |txn: &mut Txn<'_>| containers::expire_deleted(txn, now);
        self.txns().write_blocking(Scope::new(&[scope::CATALOG]), expire)?;
        Ok(Progress::Idle)
    }

    /// One step for each dropped container that still has rows. Damage in one does not keep the others from being removed.
    fn sweep_containers(&self) -> Result<Progress, JobError> {
        let dropped = containers::sweeps(&*self.snapshot()).map_err(WriteError::Engine)?;
        let (mut progress, mut failure) =
            (Progress::more_if(dropped.len() > limits::SWEEPS_PER_ROUND_MAX), None);
        for container in dropped.into_iter().take(limits::SWEEPS_PER_ROUND_MAX) {
            let scope = scope_of(container, "");
            let swept =
                self.txns().write_blocking(Scope::new(&scope), |txn| containers::step(txn, container));
            match swept {
                Ok(step) => progress = progress.and(Progress::more_if(step.value == Step::More)),
                Err(error) => failure = failure.or(Some(error)),
            }
        }
        failure.map_or(Ok(progress), Err)
    }

    /// What is due in each container.
    fn run_due(&self) -> Result<Progress, JobError> {
        let (mut progress, mut failure) = (Progress::Idle, None);
        for container in self.0.containers.all() {
            match self.run_due_of(&container) {
                Ok(step) => progress = progress.and(step),
                Err(error) => failure = failure.or(Some(error)),
            }
        }
        failure.map_or(Ok(progress), Err)
    }

    fn run_due_of(&self, container: &Container) -> Result<Progress, JobError> {
        let service = self.service(&container.id.account).map_err(engine_error)?;
        let due = background::due(&*self.snapshot(), container.number(), self.env().now());
        let due = due.map_err(WriteError::Engine)?;
        let is_copied = |id| self.0.copies.has(id);
        for work in &due {
            let stamp = self.stamp();
            let run = |txn: &mut Txn<'_>| {
                background::run(txn, container.number(), &service.settings, work, is_copied, stamp)
            };
            let scope = scope_of(container.number(), work.name.as_str());
            match self.txns().write_blocking(Scope::new(&scope), run) {
                Ok(_) => {}
                // It was dropped meanwhile.
                Err(WriteError::PreconditionFailed) => return Ok(Progress::Idle),
                Err(error) => return Err(error),
            }
        }
        Ok(Progress::more_if(due.len() == limits::DUE_ROWS_MAX))
    }

    fn reclaim_chunks(&self) -> Result<Progress, JobError> {
        match self.chunks().reclaim(&ChunkCommits(self.txns())) {
            Ok(step) => Ok(Progress::more_if(step.has_more)),
            Err(ReclaimError::Engine(error)) => Err(WriteError::Engine(error)),
            Err(ReclaimError::Files(error)) => Err(WriteError::Engine(error.into())),
            Err(ReclaimError::Commit(error)) => Err(error),
        }
    }
}

/// A store's error in a job, which has no caller to be told of refusals.
pub(crate) fn engine_error(error: crate::Error) -> JobError {
    match error {
        crate::Error::Engine(error) => WriteError::Engine(error),
        crate::Error::Busy => WriteError::Busy,
        crate::Error::Stopping => WriteError::Stopping,
        crate::Error::Refused(refusal) => WriteError::Engine(EngineError::Corrupt(refusal.to_string())),
    }
}

struct ChunkCommits<'a>(&'a TxnManager);

impl Commits for ChunkCommits<'_> {
    type Error = JobError;

    fn snapshot(&self) -> Arc<Snapshot> {
        self.0.snapshot()
    }

    fn commit(&self, body: &dyn Fn(&mut Txn<'_>)) -> Result<bool, JobError> {
        let run = |txn: &mut Txn<'_>| {
            body(txn);
            Ok::<_, EngineError>(())
        };
        match self.0.write_blocking(Scope::new(&[scope::CHUNKS]), run) {
            Ok(_) => Ok(true),
            Err(WriteError::PreconditionFailed) => Ok(false),
            Err(error) => Err(error),
        }
    }
}
