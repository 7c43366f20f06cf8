//! All steps or none.

use super::{Deps, Done, Step, StepError};
use orrery_kv::Txn;

/// The step that failed, counted from 0, and why. The transaction must not be committed.
#[derive(Debug)]
pub struct Culprit {
    pub index: usize,
    pub error: StepError,
}

pub fn atomic(txn: &mut Txn<'_>, steps: &[Step], deps: Deps<'_>) -> Result<Vec<Done>, Culprit> {
    let mut done = Vec::with_capacity(steps.len());
    for (index, step) in steps.iter().enumerate() {
        done.push(step.run(txn, deps).map_err(|error| Culprit { index, error })?);
    }
    Ok(done)
}
