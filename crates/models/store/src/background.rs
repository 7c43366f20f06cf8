//! Work that nobody waits for: expired items, rows of dropped containers, expiry rows after a policy change.
//!
//! One round does a little of each and says whether there is more. Every step is a small transaction in the
//! partition it concerns, so writers are never kept waiting for longer than one of their own.

use crate::{Scope, Store, WriteError};
use orrery_documents::catalog::Container;
use orrery_documents::expiry::{self, Step};
use orrery_documents::row::{JobKind, Row};
use orrery_documents::sweep;
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
        self.probe()?;
        let mut progress = Progress::Idle;
        // Damage in one container does not keep the others from being looked after.
        let mut trouble = None;
        for (kind, container) in sweep::jobs(&*self.snapshot()).map_err(WriteError::Engine)? {
            match self.job_step(kind, container) {
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

    fn job_step(&self, kind: JobKind, container: u32) -> Result<Step, WriteError<Error>> {
        let now = self.env().now();
        let scope = match kind {
            JobKind::Sweep => Scope::Partition { container, epk: &[] },
            // So that a second policy change starts the job over and not under it.
            JobKind::Expiry => Scope::Catalog,
        };
        let catalog = self.catalog();
        let step =
            self.write_blocking(scope, |txn| match (kind, catalog.container_by_number(container)) {
                (JobKind::Sweep, _) => sweep::step(txn, container),
                (JobKind::Expiry, Some(container)) => expiry::rebuild_step(txn, container, now),
                (JobKind::Expiry, None) => {
                    expiry::forget_rebuild(txn, container);
                    Ok(Step::Done)
                }
            })?;
        Ok(step.value)
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
