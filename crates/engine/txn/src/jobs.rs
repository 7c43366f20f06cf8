//! Background jobs: stores register theirs, and one thread runs a round of all of them now and then.
//!
//! A job does a little work per round and says whether there is more, so that no job keeps the others waiting. One that
//! fails does not keep the others from running: damage in one container must not stop the rest from being looked after,
//! and a full disk must not stop what makes room.

use crate::WriteError;
use orrery_kv::Error;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// Nothing is left to do until time passes or somebody writes.
    Idle,
    More,
}

impl Progress {
    pub fn more_if(has_more: bool) -> Self {
        if has_more { Self::More } else { Self::Idle }
    }

    /// More if either has more.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        if self == Self::More { self } else { other }
    }
}

pub type JobError = WriteError<Error>;

type Run = Box<dyn Fn() -> Result<Progress, JobError> + Send + Sync>;

/// The jobs of a process, in the order of their registration.
#[derive(Default)]
pub struct Jobs(Vec<Job>);

struct Job {
    name: &'static str,
    run: Run,
}

impl Jobs {
    /// Adds a job; `run` does one small step on the calling thread.
    pub fn register(
        &mut self,
        name: &'static str,
        run: impl Fn() -> Result<Progress, JobError> + Send + Sync + 'static,
    ) {
        self.0.push(Job { name, run: Box::new(run) });
    }

    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.0.iter().map(|job| job.name)
    }

    /// One step of every job. Fails with the first error, after all jobs have run.
    pub fn round(&self) -> Result<Progress, JobError> {
        let (mut progress, mut failure) = (Progress::Idle, None);
        for job in &self.0 {
            match (job.run)() {
                Ok(step) => progress = progress.and(step),
                Err(error) => {
                    tracing::debug!(job = job.name, %error, "a background job failed");
                    failure = failure.or(Some(error));
                }
            }
        }
        failure.map_or(Ok(progress), Err)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn a_job_that_fails_does_not_keep_the_others_from_running() {
        let runs = Arc::new(AtomicUsize::new(0));
        let mut jobs = Jobs::default();
        jobs.register("fails", || Err(WriteError::Engine(Error::Halted)));
        let counted = runs.clone();
        jobs.register("counts", move || {
            counted.fetch_add(1, Ordering::Relaxed);
            Ok(Progress::More)
        });
        assert!(matches!(jobs.round(), Err(WriteError::Engine(Error::Halted))));
        assert_eq!(runs.load(Ordering::Relaxed), 1);
        assert_eq!(jobs.names().collect::<Vec<_>>(), ["fails", "counts"]);
    }

    #[test]
    fn a_round_has_more_if_any_job_has() {
        let mut jobs = Jobs::default();
        assert_eq!(jobs.round().ok(), Some(Progress::Idle));
        jobs.register("more", || Ok(Progress::More));
        jobs.register("idle", || Ok(Progress::Idle));
        assert_eq!(jobs.round().ok(), Some(Progress::More));
    }
}
