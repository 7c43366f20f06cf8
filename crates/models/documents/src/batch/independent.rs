//! Each step for itself.

use super::{Deps, Done, Step, StepError};
use crate::item::ItemError;
use orrery_core::limits;
use orrery_kv::{Error, Txn};

/// What happens to the steps behind one that was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnRefusal {
    GoOn,
    Stop,
}

/// What the first steps came to, at least one of them: there may be fewer than steps because one was refused, or
/// because the transaction has become large enough.
pub fn independent(
    txn: &mut Txn<'_>,
    steps: &[Step],
    on_refusal: OnRefusal,
    deps: Deps<'_>,
) -> Result<Vec<Result<Done, StepError>>, Error> {
    let (mut outcomes, mut bytes) = (Vec::with_capacity(steps.len()), 0);
    for step in steps {
        let before = txn.mark();
        let outcome = step.run(txn, deps);
        let is_refused = match &outcome {
            Ok(done) => {
                bytes += done.bytes();
                false
            }
            Err(StepError::Item(ItemError::Store(error))) => return Err(error.clone()),
            Err(_) => {
                txn.undo(before);
                true
            }
        };
        outcomes.push(outcome);
        let stops = is_refused && on_refusal == OnRefusal::Stop;
        if stops || bytes > limits::BULK_TRANSACTION_BYTES_MAX {
            break;
        }
    }
    Ok(outcomes)
}
