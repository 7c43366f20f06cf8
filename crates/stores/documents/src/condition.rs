//! The host of a patch's condition: a short time limit, because a partition waits for it.

use crate::limits;
use orrery_core::{Env, Timestamp};
use orrery_query::QueryError;
use orrery_query::execute::Host;
use orrery_value::Value;
use std::time::Instant;

pub struct ConditionHost<'a> {
    env: &'a Env,
    now: Timestamp,
    started: Instant,
}

impl<'a> ConditionHost<'a> {
    /// For all conditions of one transaction; `now` is the time of its writes.
    pub fn new(env: &'a Env, now: Timestamp) -> Self {
        Self { env, now, started: Instant::now() }
    }
}

impl Host for ConditionHost<'_> {
    fn now_ms(&self) -> u64 {
        self.now.millis()
    }

    fn random(&self) -> f64 {
        // A double holds 53 bits.
        (self.env.random_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Beyond the limit of any query, as soon as it is beyond this one's.
    fn elapsed_ms(&self) -> u64 {
        let elapsed = self.started.elapsed().as_millis() as u64;
        if elapsed > limits::PATCH_CONDITIONS_MILLIS_MAX { u64::MAX } else { elapsed }
    }

    fn udf(&self, name: &str, _args: &[Value]) -> Result<Value, QueryError> {
        Err(QueryError::Refused(format!("The condition of a patch cannot call the function 'udf.{name}'.")))
    }
}
