//! The closed loop: each worker does its operation again as soon as the last one was answered.

use crate::error::Error;
use crate::sample::Sample;
use std::future::Future;
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;

/// How long after its span a run may still wait for answers.
const GRACE: Duration = Duration::from_secs(60);

/// One connection's worth of load.
pub trait Worker: Send + 'static {
    /// Does the operation once. An error is text for the report; the worker then stops.
    fn once(&mut self) -> impl Future<Output = Result<(), String>> + Send;
}

/// The one thread that all load comes from.
pub fn runtime() -> Result<Runtime, Error> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.map_err(|e| Error::Io("no runtime", e))
}

/// Runs all workers for `span`.
pub async fn drive<W: Worker>(workers: Vec<W>, span: Duration) -> Sample {
    let began = Instant::now();
    let tasks: Vec<_> = workers.into_iter().map(|worker| tokio::spawn(run(worker, began, span))).collect();
    let mut sample = Sample::default();
    for task in tasks {
        match tokio::time::timeout(span + GRACE, task).await {
            Ok(Ok(part)) => sample.merge(part),
            Ok(Err(panicked)) => sample.fail(panicked.to_string()),
            Err(_) => sample.fail("an operation was not answered in a minute".to_owned()),
        }
    }
    sample
}

async fn run<W: Worker>(mut worker: W, began: Instant, span: Duration) -> Sample {
    let mut sample = Sample::default();
    let mut now = began;
    while now - began < span {
        let sent = now;
        let outcome = worker.once().await;
        now = Instant::now();
        match outcome {
            Ok(()) => sample.note((now - sent).as_micros().min(u128::from(u32::MAX)) as u32),
            Err(error) => {
                sample.fail(error);
                break;
            }
        }
    }
    sample.elapsed = now - began;
    sample
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Counting {
        left: u32,
    }

    impl Worker for Counting {
        async fn once(&mut self) -> Result<(), String> {
            tokio::task::yield_now().await;
            self.left = self.left.checked_sub(1).ok_or("refused")?;
            Ok(())
        }
    }

    #[test]
    fn a_worker_that_fails_is_counted_and_stops() {
        let workers = vec![Counting { left: 3 }, Counting { left: 5 }];
        let sample = runtime().unwrap().block_on(drive(workers, Duration::from_secs(5)));
        assert_eq!((sample.done, sample.errors), (8, 2));
        assert_eq!(sample.first_error.as_deref(), Some("refused"));
        assert!(sample.elapsed < Duration::from_secs(5));
    }

    #[test]
    fn a_run_lasts_its_span() {
        let workers = vec![Counting { left: u32::MAX }];
        let sample = runtime().unwrap().block_on(drive(workers, Duration::from_millis(20)));
        assert!(sample.elapsed >= Duration::from_millis(20));
        assert_eq!(sample.micros.len() as u64, sample.done);
    }
}
