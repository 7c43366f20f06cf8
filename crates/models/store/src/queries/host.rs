//! The world as a query sees it.

use super::memory::{Share, Short};
use orrery_core::{Env, limits};
use orrery_query::QueryError;
use orrery_query::execute::Host;
use orrery_value::Value;
use std::cell::{Cell, RefCell};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

pub struct QueryHost {
    env: Env,
    now_ms: u64,
    started: Instant,
    /// Whoever waits for the answer has gone.
    gone: Arc<AtomicBool>,
    /// How long it may take here; the query ends at its next look at the clock after that.
    patience: Duration,
    memory: RefCell<Share>,
    cut: Cell<Option<Cut>>,
}

/// Why a query was ended here, to be begun again elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cut {
    Time,
    Memory,
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
        Self::patient_for(env, Duration::MAX)
    }

    /// For one that is expected to be short: its answer is worth nothing once this [is tired](Self::is_tired).
    pub(super) fn impatient(env: &Env) -> Self {
        Self::patient_for(env, Duration::from_millis(limits::QUERY_PATIENCE_MILLIS))
    }

    pub(super) fn patient_for(env: &Env, patience: Duration) -> Self {
        Self {
            env: env.clone(),
            now_ms: env.now().millis(),
            started: Instant::now(),
            gone: Arc::new(AtomicBool::new(false)),
            patience,
            memory: RefCell::new(Share::Unlimited),
            cut: Cell::new(None),
        }
    }

    /// With memory that is shared with others.
    pub(super) fn within(self, memory: Share) -> Self {
        Self { memory: RefCell::new(memory), ..self }
    }

    pub(super) fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    pub(super) fn cut(&self) -> Option<Cut> {
        self.cut.get()
    }

    /// Whether the query was ended here, so that it is run again elsewhere, or that nobody waits for it.
    pub fn is_tired(&self) -> bool {
        self.cut.get().is_some() || self.gone.load(Ordering::Relaxed)
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
        if self.is_tired() {
            return u64::MAX;
        }
        let elapsed = self.elapsed();
        if elapsed > self.patience {
            self.cut.set(Some(Cut::Time));
            return u64::MAX;
        }
        elapsed.as_millis() as u64
    }

    fn reserve(&self, bytes: usize) -> Result<(), QueryError> {
        self.memory.borrow_mut().grow_to(bytes).map_err(|short| match short {
            Short::OfShared => {
                self.cut.set(Some(Cut::Memory));
                QueryError::Busy("The memory for queries is used up by others; try again.".to_owned())
            }
            Short::OfAll { bytes_max } => QueryError::Refused(format!(
                "The query needs more than the {} MB that a query may have here; narrow it with a filter, or start the server with a larger --memory-mb.",
                bytes_max / 1024 / 1024
            )),
        })
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
        let host = QueryHost::patient_for(&env, Duration::ZERO);
        assert!(!host.is_tired());
        assert_eq!(host.elapsed_ms(), u64::MAX);
        assert!(host.is_tired());
        assert_eq!(host.cut(), Some(Cut::Time));
        let patient = QueryHost::new(&env);
        assert!(patient.elapsed_ms() < u64::MAX && !patient.is_tired());
    }

    #[test]
    fn a_query_for_whom_nobody_waits_ends_and_is_not_begun_again() {
        let host = QueryHost::new(&Env::system().expect("a clock"));
        drop(host.waiting());
        assert_eq!(host.elapsed_ms(), u64::MAX);
        assert_eq!(host.cut(), None);
    }
}
