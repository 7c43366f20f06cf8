//! The host of a query: time, randomness, limits, and whether its caller still waits.

use super::memory::{Share, Short};
use crate::limits;
use orrery_core::Env;
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
    started: Cell<Instant>,
    /// The caller no longer waits for the answer.
    gone: Arc<AtomicBool>,
    /// The time limit of this attempt; the query ends at its first look at the clock after that.
    patience: Duration,
    /// Looks at the clock so far, and the number of them before which no query is ended for its length: each stands for
    /// some work, and on a busy machine much time may pass without any.
    looks: Cell<u32>,
    looks_min: u32,
    memory: RefCell<Share>,
    cut: Cell<Option<Cut>>,
}

/// A query that did so little work in a multiple of its time waits for the disk rather than for a processor.
const STARVED_FACTOR: u32 = 40;

/// Why an attempt was ended, so that the query restarts elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cut {
    Time,
    Memory,
}

/// Held by the waiting caller; when it is dropped, the query ends at its next look at the clock.
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

    /// For a query that is expected to be short: its answer is discarded if it [has spent its inline
    /// budget](Self::inline_budget_spent).
    pub(super) fn impatient(env: &Env) -> Self {
        Self::patient_for(env, Duration::from_millis(limits::QUERY_PATIENCE_MILLIS))
    }

    pub(super) fn patient_for(env: &Env, patience: Duration) -> Self {
        Self {
            env: env.clone(),
            now_ms: env.now().millis(),
            started: Cell::new(Instant::now()),
            gone: Arc::new(AtomicBool::new(false)),
            patience,
            looks: Cell::new(0),
            looks_min: 0,
            memory: RefCell::new(Share::Unlimited),
            cut: Cell::new(None),
        }
    }

    /// With memory from the shared budget.
    pub(super) fn within(self, memory: Share) -> Self {
        Self { memory: RefCell::new(memory), ..self }
    }

    /// Does not end it for its length before it has done some work.
    pub(super) fn after_looks(self, looks_min: u32) -> Self {
        Self { looks_min, ..self }
    }

    /// Starts its time: it has its slot and its thread.
    pub(super) fn begin(&self) {
        self.started.set(Instant::now());
    }

    pub(super) fn elapsed(&self) -> Duration {
        self.started.get().elapsed()
    }

    fn is_out_of_patience(&self, elapsed: Duration) -> bool {
        let looks = self.looks.get() + 1;
        self.looks.set(looks);
        let has_worked = looks >= self.looks_min || elapsed > self.patience.saturating_mul(STARVED_FACTOR);
        elapsed > self.patience && has_worked
    }

    pub(super) fn cut(&self) -> Option<Cut> {
        self.cut.get()
    }

    /// Whether the query was ended, because it restarts elsewhere or because nobody waits for it.
    pub fn inline_budget_spent(&self) -> bool {
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
        // A double holds 53 bits.
        (self.env.random_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    fn elapsed_ms(&self) -> u64 {
        if self.inline_budget_spent() {
            return u64::MAX;
        }
        let elapsed = self.elapsed();
        if self.is_out_of_patience(elapsed) {
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
        assert!(!host.inline_budget_spent());
        assert_eq!(host.elapsed_ms(), u64::MAX);
        assert!(host.inline_budget_spent());
        assert_eq!(host.cut(), Some(Cut::Time));
        let patient = QueryHost::new(&env);
        assert!(patient.elapsed_ms() < u64::MAX && !patient.inline_budget_spent());
    }

    /// On a machine whose processors are busy, a short query takes long and does little.
    #[test]
    fn a_query_that_has_done_little_is_not_taken_for_a_long_one() {
        let env = Env::system().expect("a clock");
        let host = QueryHost::patient_for(&env, Duration::from_secs(10)).after_looks(3);
        let looks = [(); 3].map(|()| host.is_out_of_patience(Duration::from_secs(60)));
        assert_eq!(looks, [false, false, true]);
        let host = QueryHost::patient_for(&env, Duration::from_secs(10)).after_looks(3);
        assert!(host.is_out_of_patience(Duration::from_secs(1_000)), "it waits for something else");
    }

    #[test]
    fn a_query_for_whom_nobody_waits_ends_and_is_not_begun_again() {
        let host = QueryHost::new(&Env::system().expect("a clock"));
        drop(host.waiting());
        assert_eq!(host.elapsed_ms(), u64::MAX);
        assert_eq!(host.cut(), None);
    }
}
