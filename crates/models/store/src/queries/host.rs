//! The world as a query sees it.

use orrery_core::{Env, limits};
use orrery_query::QueryError;
use orrery_query::execute::Host;
use orrery_value::Value;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

pub struct QueryHost {
    env: Env,
    now_ms: u64,
    started: Instant,
    gone: Arc<AtomicBool>,
    /// How long it may take here; the query ends at its next look at the clock after that.
    patience: Duration,
}

/// Held by whoever waits for the answer; when it goes, the query ends at its next look at the clock.
pub struct Waiting(Arc<AtomicBool>);

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl QueryHost {
    pub fn new(env: &Env) -> Self {
        Self::with(env, Duration::MAX)
    }

    /// For one that is expected to be short: its answer is worth nothing once this [is tired](Self::is_tired).
    pub(super) fn impatient(env: &Env) -> Self {
        Self::with(env, Duration::from_millis(limits::QUERY_PATIENCE_MILLIS))
    }

    fn with(env: &Env, patience: Duration) -> Self {
        let gone = Arc::new(AtomicBool::new(false));
        Self { env: env.clone(), now_ms: env.now().millis(), started: Instant::now(), gone, patience }
    }

    pub(super) fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    /// Whether the query was ended here for its length, so that it is run again elsewhere.
    pub fn is_tired(&self) -> bool {
        self.gone.load(Ordering::Relaxed)
    }

    pub fn waiting(&self) -> Waiting {
        Waiting(self.gone.clone())
    }
}

impl Host for QueryHost {
    fn now_ms(&self) -> u64 {
        self.now_ms
    }

    fn random(&self) -> f64 {
        // 53 bits are what a double holds.
        (self.env.random_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    fn elapsed_ms(&self) -> u64 {
        if self.gone.load(Ordering::Relaxed) {
            return u64::MAX;
        }
        let elapsed = self.elapsed();
        if elapsed > self.patience {
            self.gone.store(true, Ordering::Relaxed);
            return u64::MAX;
        }
        elapsed.as_millis() as u64
    }

    fn udf(&self, name: &str, _args: &[Value]) -> Result<Value, QueryError> {
        Err(QueryError::Refused(format!("The user-defined function '{name}' is not there; create it first.")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_that_takes_too_long_here_is_ended_and_known_to_be() {
        let env = Env::system().expect("a clock");
        let host = QueryHost::with(&env, Duration::ZERO);
        assert!(!host.is_tired());
        assert_eq!(host.elapsed_ms(), u64::MAX);
        assert!(host.is_tired());
        let patient = QueryHost::new(&env);
        assert!(patient.elapsed_ms() < u64::MAX && !patient.is_tired());
    }
}
