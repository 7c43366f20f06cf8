//! A background job that looks at many things, one step for each, once in a period.

use crate::jobs::{JobError, Progress};
use orrery_core::Timestamp;
use std::sync::atomic::{AtomicU64, Ordering};

/// When such a job is due. While a round finds work, the next round looks again at once.
pub struct Periodic {
    every_seconds: u64,
    /// The second from which the job is due.
    due: AtomicU64,
}

impl Periodic {
    /// Due at once.
    pub fn new(every_seconds: u64) -> Self {
        Self { every_seconds, due: AtomicU64::new(0) }
    }

    /// If it is time, one step for each of `all`, which says whether it did something. Fails with the first error, after all
    /// steps.
    pub fn step_each<T, I: IntoIterator<Item = T>>(
        &self,
        now: Timestamp,
        all: impl FnOnce() -> I,
        mut step: impl FnMut(T) -> Result<bool, JobError>,
    ) -> Result<Progress, JobError> {
        if !self.is_due(now.seconds()) {
            return Ok(Progress::Idle);
        }
        let (mut has_more, mut failure) = (false, None);
        for one in all() {
            match step(one) {
                Ok(did_something) => has_more |= did_something,
                Err(error) => failure = failure.or(Some(error)),
            }
        }
        if !has_more {
            self.due.store(now.seconds() + self.every_seconds, Ordering::Relaxed);
        }
        failure.map_or(Ok(Progress::more_if(has_more)), Err)
    }

    /// Also after the clock was set back: at most one period from now.
    fn is_due(&self, now: u64) -> bool {
        let due = self.due.load(Ordering::Relaxed);
        now >= due || due - now > self.every_seconds
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::WriteError;
    use orrery_kv::Error;

    fn steps(periodic: &Periodic, second: u64, did_something: bool) -> usize {
        let mut steps = 0;
        let progress = periodic.step_each(
            Timestamp::from_seconds(second),
            || 0..3,
            |_| {
                steps += 1;
                Ok(did_something)
            },
        );
        let expected = if did_something { Progress::More } else { Progress::Idle };
        assert!(steps == 0 || progress.is_ok_and(|progress| progress == expected));
        steps
    }

    #[test]
    fn a_round_without_work_is_the_last_of_its_period() {
        let periodic = Periodic::new(60);
        assert_eq!(steps(&periodic, 1000, true), 3);
        assert_eq!(steps(&periodic, 1000, false), 3, "there was more to do");
        assert_eq!(steps(&periodic, 1059, true), 0);
        assert_eq!(steps(&periodic, 1060, false), 3);
        assert_eq!(steps(&periodic, 1061, true), 0);
        assert_eq!(steps(&periodic, 500, true), 3, "the clock was set back");
    }

    #[test]
    fn a_step_that_fails_does_not_keep_the_others_from_running() {
        let mut steps = 0;
        let outcome = Periodic::new(60).step_each(
            Timestamp::from_seconds(1),
            || 0..3,
            |n| {
                steps += 1;
                if n == 0 { Err(WriteError::Engine(Error::Halted)) } else { Ok(false) }
            },
        );
        assert!(outcome.is_err() && steps == 3);
    }
}
