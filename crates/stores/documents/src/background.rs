//! The background jobs of documents: expired items, partitions to empty, rows of dropped containers, expiry rows and
//! index entries after a policy change, and log entries past their retention.
//!
//! Every step is a small transaction in the partition it concerns, so writers are never kept waiting for longer than
//! one of their own. Damage in one container does not stop the work on others.

use crate::limits;
use crate::scope::Scope;
use crate::store::Store;
use orrery_documents::catalog::jobs::{self, JobKind};
use orrery_documents::catalog::row::Row;
use orrery_documents::catalog::{CatalogError, Container, settle_container};
use orrery_documents::expiry::{self, Step};
use orrery_documents::index::{self, Chunk};
use orrery_documents::subresources;
use orrery_documents::{purge, sweep};
use orrery_kv::Error;
use orrery_txn::{JobError, Jobs, Progress, WriteError};

impl Store {
    /// Registers the jobs that keep the documents in order.
    pub fn register_jobs(&self, jobs: &mut Jobs) {
        let job = |step: fn(&Self) -> Result<Progress, JobError>| {
            let store = self.clone();
            move || step(&store)
        };
        jobs.register("commit probe", job(Self::probe));
        jobs.register("catalog changes", job(Self::catalog_jobs));
        jobs.register("partition purge", job(Self::purge_partitions));
        jobs.register("expiry", job(Self::reap_expired));
        jobs.register("log trimming", job(Self::trim_logs));
    }

    /// After a failed commit: a small write, to find out whether the disk accepts writes again.
    fn probe(&self) -> Result<Progress, JobError> {
        if self.commit_failure().is_some() {
            let row = Row::Probe;
            self.write_blocking(Scope::Catalog, |txn| {
                txn.put(row.space(), row.key(), Vec::new());
                Ok(())
            })?;
        }
        Ok(Progress::Idle)
    }

    /// One step of each job left by a change of the catalog.
    fn catalog_jobs(&self) -> Result<Progress, JobError> {
        let jobs = jobs::jobs(&*self.snapshot()).map_err(WriteError::Engine)?;
        every(jobs, |(kind, number)| self.job_step(kind, number).map(has_more))
    }

    /// One step of emptying each partition under deletion.
    fn purge_partitions(&self) -> Result<Progress, JobError> {
        let jobs = purge::jobs(&*self.snapshot()).map_err(WriteError::Engine)?;
        every(jobs, |(number, epk)| self.purge_step(number, &epk).map(has_more))
    }

    fn reap_expired(&self) -> Result<Progress, JobError> {
        every(self.catalog().all_containers(), |container| self.reap(container))
    }

    fn job_step(&self, kind: JobKind, number: u32) -> Result<Step, JobError> {
        let now = self.env().now();
        let catalog = self.catalog();
        let container = catalog.container_by_number(number);
        // In the catalog's scope, so that a second policy change restarts the job instead of interfering with it.
        let step = match (kind, container) {
            (JobKind::Sweep, _) => {
                let scope = Scope::Partition { container: number, epk: &[] };
                self.write_blocking(scope, |txn| sweep::step(txn, number))?
            }
            (JobKind::Expiry, Some(container)) => {
                self.write_blocking(Scope::Catalog, |txn| expiry::rebuild_step(txn, container, now))?
            }
            (JobKind::Database, _) => {
                self.write_blocking(Scope::Catalog, |txn| subresources::sweep_database(txn, number))?
            }
            (JobKind::User, _) => {
                self.write_blocking(Scope::Catalog, |txn| subresources::sweep_user(txn, number))?
            }
            (JobKind::Index, Some(container)) => return self.index_step(container),
            (JobKind::Expiry | JobKind::Index, None) => self.write_blocking(Scope::Catalog, |txn| {
                jobs::forget(txn, JobKind::Expiry, number);
                jobs::forget(txn, JobKind::Index, number);
                Ok(Step::Done)
            })?,
        };
        Ok(step.value)
    }

    /// Continues the removal of a partition whose deletion the client no longer waits for.
    fn purge_step(&self, number: u32, epk: &[u8]) -> Result<Step, JobError> {
        let (now, catalog) = (self.env().now(), self.catalog());
        let container = catalog.container_by_number(number);
        let scope = Scope::Partition { container: number, epk };
        let stepped = self.write_blocking(scope, |txn| match container {
            Some(container) => purge::step(txn, container, epk, now),
            None => {
                purge::forget(txn, number, epk);
                Ok(Step::Done)
            }
        });
        match stepped {
            Ok(step) => Ok(step.value),
            // Dropped or re-indexed meanwhile: the next round sees its new state.
            Err(WriteError::PreconditionFailed) => Ok(Step::More),
            Err(error) => Err(error),
        }
    }

    /// Re-indexes some items, with one transaction per partition, several of them under one sync.
    fn index_step(&self, container: &Container) -> Result<Step, JobError> {
        let next = index::next_chunks(&*self.snapshot(), container).map_err(WriteError::Engine)?;
        let Some(progress) = next else { return Ok(Step::Done) };
        if progress.chunks.is_empty() {
            self.write_blocking(Scope::Catalog, |txn| {
                settle_container(txn, container).map_err(engine_error)
            })?;
            self.refresh_catalog().map_err(WriteError::Engine)?;
            return Ok(Step::Done);
        }
        let threads = limits::REINDEX_THREADS.min(progress.chunks.len());
        let share = progress.chunks.len().div_ceil(threads);
        let entered: Vec<_> = std::thread::scope(|scope| {
            let running: Vec<_> = progress
                .chunks
                .chunks(share)
                .map(|chunks| {
                    scope.spawn(|| chunks.iter().try_for_each(|chunk| self.reenter(container, chunk)))
                })
                .collect();
            running.into_iter().map(std::thread::ScopedJoinHandle::join).collect()
        });
        for entered in entered {
            match entered {
                Ok(Ok(())) => {}
                // Dropped, or its policy changed again: the next round decides anew.
                Ok(Err(WriteError::PreconditionFailed)) => return Ok(Step::More),
                Ok(Err(error)) => return Err(error),
                Err(_) => {
                    return Err(WriteError::Engine(Error::Corrupt("an item could not be indexed".into())));
                }
            }
        }
        self.write_blocking(Scope::Catalog, |txn| index::save_progress(txn, container, &progress))?;
        Ok(Step::More)
    }

    fn reenter(&self, container: &Container, chunk: &Chunk) -> Result<(), JobError> {
        let scope = Scope::Partition { container: container.number(), epk: &chunk.epk };
        self.write_blocking(scope, |txn| index::reindex(txn, container, chunk)).map(drop)
    }

    /// Removes expired items of a container, partition by partition; true if it found any row due.
    fn reap(&self, container: &Container) -> Result<bool, JobError> {
        let now = self.env().now();
        let mut due = expiry::due(&*self.snapshot(), container, now).map_err(WriteError::Engine)?;
        due.sort_by(|a, b| a.epk.cmp(&b.epk));
        for partition in due.chunk_by(|a, b| a.epk == b.epk) {
            // The current policy: it may have changed since the round began.
            let catalog = self.catalog();
            let Some(container) = catalog.container_by_number(container.number()) else { break };
            let scope = Scope::Partition { container: container.number(), epk: &partition[0].epk };
            match self.write_blocking(scope, |txn| expiry::reap(txn, container, partition, now)) {
                Ok(_) | Err(WriteError::PreconditionFailed) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(!due.is_empty())
    }
}

/// Takes one step for each; true if any has more to do. Fails with the first error, after all steps.
fn every<T>(
    all: impl IntoIterator<Item = T>,
    mut step: impl FnMut(T) -> Result<bool, JobError>,
) -> Result<Progress, JobError> {
    let (mut more, mut failure) = (false, None);
    for one in all {
        match step(one) {
            Ok(has_more) => more |= has_more,
            Err(error) => failure = failure.or(Some(error)),
        }
    }
    failure.map_or(Ok(Progress::more_if(more)), Err)
}

fn has_more(step: Step) -> bool {
    step == Step::More
}

/// Settling a container fails only with an engine error.
fn engine_error(error: CatalogError) -> Error {
    match error {
        CatalogError::Store(error) => error,
        other => Error::Corrupt(other.to_string()),
    }
}
