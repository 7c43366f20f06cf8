//! Work that nobody waits for: expired items, partitions to empty, rows of dropped containers, expiry rows and index
//! entries after a policy change, and what the logs no longer need.
//!
//! One round does a little of each and says whether there is more. Every step is a small transaction in the
//! partition it concerns, so writers are never kept waiting for longer than one of their own.

use crate::{Scope, Store, WriteError};
use orrery_core::limits;
use orrery_documents::catalog::jobs::{self, JobKind};
use orrery_documents::catalog::row::Row;
use orrery_documents::catalog::{CatalogError, Container, settle_container};
use orrery_documents::expiry::{self, Step};
use orrery_documents::index::{self, Chunk};
use orrery_documents::subresources;
use orrery_documents::{purge, sweep};
use orrery_kv::Error;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// Nothing is left to do until time passes or somebody writes.
    Idle,
    More,
}

impl Store {
    /// One round of background work, on the calling thread.
    pub fn background_round(&self) -> Result<Progress, WriteError<Error>> {
        let mut progress = Progress::Idle;
        // Damage in one container does not keep the others from being looked after, and a full disk nobody from making room.
        let mut trouble = match self.probe() {
            Err(full @ WriteError::Engine(Error::Full(_))) => Some(full),
            probed => probed.map(|()| None)?,
        };
        for (kind, container) in jobs::jobs(&*self.snapshot()).map_err(WriteError::Engine)? {
            match self.job_step(kind, container) {
                Ok(Step::More) => progress = Progress::More,
                Ok(Step::Waits | Step::Done) => {}
                Err(error) => trouble = trouble.or(Some(error)),
            }
        }
        for (number, epk) in purge::jobs(&*self.snapshot()).map_err(WriteError::Engine)? {
            match self.purge_step(number, &epk) {
                Ok(Step::More) => progress = Progress::More,
                Ok(Step::Waits | Step::Done) => {}
                Err(error) => trouble = trouble.or(Some(error)),
            }
        }
        for container in self.catalog().all_containers() {
            match self.reap(container) {
                Ok(true) => progress = Progress::More,
                Ok(false) => {}
                Err(error) => trouble = trouble.or(Some(error)),
            }
        }
        match self.trim_logs() {
            Ok(true) => progress = Progress::More,
            Ok(false) => {}
            Err(error) => trouble = trouble.or(Some(error)),
        }
        trouble.map_or(Ok(progress), Err)
    }

    /// After a failed commit: a small write, to learn whether the disk takes writes again.
    fn probe(&self) -> Result<(), WriteError<Error>> {
        if self.trouble().is_some() {
            let row = Row::Probe;
            self.write_blocking(Scope::Catalog, |txn| {
                txn.put(row.space(), row.key(), Vec::new());
                Ok(())
            })?;
        }
        Ok(())
    }

    fn job_step(&self, kind: JobKind, number: u32) -> Result<Step, WriteError<Error>> {
        let now = self.env().now();
        let catalog = self.catalog();
        let container = catalog.container_by_number(number);
        // In the catalog's scope, so that a second policy change starts a job over and not under it.
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

    /// Goes on with the removal of a partition that nobody waits for any more.
    fn purge_step(&self, number: u32, epk: &[u8]) -> Result<Step, WriteError<Error>> {
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
            // Dropped meanwhile, or indexed in another way: the next round sees it as it is then.
            Err(WriteError::OwnerGone) => Ok(Step::More),
            Err(error) => Err(error),
        }
    }

    /// Enters some items anew, each partition's in a transaction of its own, several at once under one sync.
    fn index_step(&self, container: &Container) -> Result<Step, WriteError<Error>> {
        let next = index::next(&*self.snapshot(), container).map_err(WriteError::Engine)?;
        let Some(progress) = next else { return Ok(Step::Done) };
        if progress.chunks.is_empty() {
            self.write_blocking(Scope::Catalog, |txn| {
                settle_container(txn, container).map_err(engine_error)
            })?;
            self.newest_catalog().map_err(WriteError::Engine)?;
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
                // Dropped, or its policy changed once more: the next round sees what is to be done.
                Ok(Err(WriteError::OwnerGone)) => return Ok(Step::More),
                Ok(Err(error)) => return Err(error),
                Err(_) => {
                    return Err(WriteError::Engine(Error::Corrupt("an item could not be indexed".into())));
                }
            }
        }
        self.write_blocking(Scope::Catalog, |txn| index::note(txn, container, &progress))?;
        Ok(Step::More)
    }

    fn reenter(&self, container: &Container, chunk: &Chunk) -> Result<(), WriteError<Error>> {
        let scope = Scope::Partition { container: container.number(), epk: &chunk.epk };
        self.write_blocking(scope, |txn| index::reenter(txn, container, chunk)).map(drop)
    }

    /// Removes expired items of a container, partition by partition; true if it found any row due.
    fn reap(&self, container: &Container) -> Result<bool, WriteError<Error>> {
        let now = self.env().now();
        let mut due = expiry::due(&*self.snapshot(), container, now).map_err(WriteError::Engine)?;
        due.sort_by(|a, b| a.epk.cmp(&b.epk));
        for partition in due.chunk_by(|a, b| a.epk == b.epk) {
            // The policy as it is now: it may have been changed since the round began.
            let catalog = self.catalog();
            let Some(container) = catalog.container_by_number(container.number()) else { break };
            let scope = Scope::Partition { container: container.number(), epk: &partition[0].epk };
            match self.write_blocking(scope, |txn| expiry::reap(txn, container, partition, now)) {
                Ok(_) | Err(WriteError::OwnerGone) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(!due.is_empty())
    }
}

/// Settling a container fails only where the store does.
fn engine_error(error: CatalogError) -> Error {
    match error {
        CatalogError::Store(error) => error,
        other => Error::Corrupt(other.to_string()),
    }
}
