//! The world as a query sees it, and as the steps of a batch do.

use orrery_core::Env;
use orrery_query::QueryError;
use orrery_query::execute::Host;
use orrery_value::Value;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

pub struct World {
    env: Env,
    now_ms: u64,
    started: Instant,
    gone: Arc<AtomicBool>,
}

/// Held by whoever waits for the answer; when it goes, a query ends at its next look at the clock.
pub struct Waiting(Arc<AtomicBool>);

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl World {
    pub fn new(env: &Env) -> Self {
        let gone = Arc::new(AtomicBool::new(false));
        Self { env: env.clone(), now_ms: env.now().millis(), started: Instant::now(), gone }
    }

    pub fn waiting(&self) -> Waiting {
        Waiting(self.gone.clone())
    }
}

impl Host for World {
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
        self.started.elapsed().as_millis() as u64
    }

    fn udf(&self, name: &str, _args: &[Value]) -> Result<Value, QueryError> {
        Err(QueryError::Refused(format!("A service cannot call the user-defined function '{name}'.")))
    }
}
