//! The memory for bodies of requests in flight: one budget for all listeners of the process, since they share its memory.
//!
//! A body reserves what has arrived of it, not what it announces. Small bodies are free: there is at most one per
//! connection, and a client that sends large ones must not starve the others. When nothing is left, a body waits a
//! little and is then refused, which releases its memory; so there is no deadlock between bodies.

use crate::limits;
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

/// A semaphore has fewer permits than there are bytes.
const UNIT_BYTES: usize = 16 * 1024;
const WAIT: Duration = Duration::from_millis(limits::BODY_WAIT_MILLIS_MAX);

static OF_PROCESS: OnceLock<BodyBudget> = OnceLock::new();

pub struct BodyBudget {
    room: Arc<Semaphore>,
    units: usize,
}

/// A body's reservation in a budget, released on drop.
#[derive(Debug, Default)]
pub struct BodyHold(Option<OwnedSemaphorePermit>);

/// Nothing is left, and nothing was released in time.
#[derive(Debug, PartialEq, Eq)]
pub struct NoRoom;

impl BodyBudget {
    pub fn new(bytes: usize) -> Self {
        let units = bytes / UNIT_BYTES;
        Self { room: Arc::new(Semaphore::new(units)), units }
    }

    /// The budget of the process.
    pub fn of_process() -> &'static Self {
        let default = || limits::MEMORY_MEGABYTES_DEFAULT * (1 << 20) / limits::MEMORY_FOR_BODIES_DIVISOR;
        OF_PROCESS.get_or_init(|| Self::new(default()))
    }

    /// Sets the budget of the process, before the first read.
    pub fn limit_process(bytes: usize) {
        // A second server in the process, as in tests, shares the budget of the first.
        let _ = OF_PROCESS.set(Self::new(bytes));
    }

    pub fn bytes_used(&self) -> usize {
        (self.units - self.room.available_permits()) * UNIT_BYTES
    }

    pub fn bytes_max(&self) -> usize {
        self.units * UNIT_BYTES
    }

    /// Grows a reservation to this many bytes, if they become available in time.
    pub(crate) async fn grow(&self, hold: &mut BodyHold, bytes: usize) -> Result<(), NoRoom> {
        if bytes <= limits::BODY_FREE_BYTES_MAX {
            return Ok(());
        }
        let has = hold.0.as_ref().map_or(0, OwnedSemaphorePermit::num_permits);
        let more = u32::try_from(bytes.div_ceil(UNIT_BYTES).saturating_sub(has)).map_err(|_| NoRoom)?;
        if more == 0 {
            return Ok(());
        }
        let more = match self.room.clone().try_acquire_many_owned(more) {
            Ok(more) => more,
            Err(_) if more as usize > self.units => return Err(NoRoom),
            Err(_) => match timeout(WAIT, self.room.clone().acquire_many_owned(more)).await {
                Ok(Ok(more)) => more,
                _ => return Err(NoRoom),
            },
        };
        match &mut hold.0 {
            Some(held) => held.merge(more),
            none => *none = Some(more),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LARGE: usize = 1 << 20;

    #[tokio::test(start_paused = true)]
    async fn a_body_that_finds_no_room_waits_and_is_refused() {
        let budget = BodyBudget::new(2 * LARGE);
        let (mut one, mut other) = (BodyHold::default(), BodyHold::default());
        assert_eq!(budget.grow(&mut one, LARGE).await, Ok(()));
        assert_eq!(budget.grow(&mut other, LARGE).await, Ok(()));
        assert_eq!(budget.bytes_used(), budget.bytes_max());
        // Each wants the other's memory: both are refused in time, and nobody waits forever.
        let both = tokio::join!(budget.grow(&mut one, LARGE + 1), budget.grow(&mut other, LARGE + 1));
        assert_eq!(both, (Err(NoRoom), Err(NoRoom)));
        let mut small = BodyHold::default();
        assert_eq!(budget.grow(&mut small, limits::BODY_FREE_BYTES_MAX).await, Ok(()), "a small one is free");
        drop(one);
        assert_eq!(budget.grow(&mut other, 2 * LARGE).await, Ok(()));
        assert_eq!(budget.grow(&mut small, 3 * LARGE).await, Err(NoRoom), "there is never so much");
    }

    #[tokio::test(start_paused = true)]
    async fn a_waiting_body_continues_when_another_is_dropped() {
        let budget = BodyBudget::new(LARGE);
        let (mut one, mut other) = (BodyHold::default(), BodyHold::default());
        assert_eq!(budget.grow(&mut one, LARGE).await, Ok(()));
        let leaves = async {
            tokio::task::yield_now().await;
            drop(one);
        };
        assert_eq!(tokio::join!(budget.grow(&mut other, LARGE), leaves).0, Ok(()));
    }
}
