//! Limits concurrent scripts. A long-running script moves to a slot for long ones, so that scripts which never end
//! delay a short one by half a second, not until they are killed.

use crate::limits;
use orrery_script::limits::SCRIPT_SHORT_MILLIS_MAX;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{AcquireError, OwnedSemaphorePermit, Semaphore};
use tokio::time::sleep;

pub struct Slots {
    short: Arc<Semaphore>,
    long: Arc<Semaphore>,
}

impl Default for Slots {
    fn default() -> Self {
        let slots = |count| Arc::new(Semaphore::new(count));
        Self { short: slots(limits::SCRIPTS_MAX), long: slots(limits::SCRIPTS_LONG_MAX) }
    }
}

impl Slots {
    /// Waits for a slot for a short script.
    pub async fn take(&self) -> Result<Slot, AcquireError> {
        let held = self.short.clone().acquire_owned().await?;
        Ok(Slot { held, long: self.long.clone() })
    }
}

pub struct Slot {
    held: OwnedSemaphorePermit,
    long: Arc<Semaphore>,
}

impl Slot {
    /// Holds the slot while `work` runs, and exchanges it for one for long scripts if it takes long. If none of those
    /// is free, it keeps its slot.
    pub async fn hold<T>(mut self, work: impl Future<Output = T>) -> T {
        let mut work = std::pin::pin!(work);
        tokio::select! {
            biased;
            done = &mut work => return done,
            () = sleep(Duration::from_millis(SCRIPT_SHORT_MILLIS_MAX)) => {}
        }
        if let Ok(long) = self.long.clone().try_acquire_owned() {
            self.held = long;
        }
        let done = work.await;
        drop(self.held);
        done
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::pending;

    #[tokio::test(start_paused = true)]
    async fn a_script_passes_as_many_endless_ones_as_there_are_slots() {
        let slots = Slots::default();
        for _ in 0..limits::SCRIPTS_MAX {
            tokio::spawn(slots.take().await.unwrap().hold(pending::<()>()));
        }
        assert_eq!(slots.short.available_permits(), 0);
        let began = tokio::time::Instant::now();
        slots.take().await.unwrap().hold(async {}).await;
        assert_eq!(began.elapsed().as_millis() as u64, SCRIPT_SHORT_MILLIS_MAX);
        assert_eq!(slots.short.available_permits(), limits::SCRIPTS_MAX);
    }

    #[tokio::test(start_paused = true)]
    async fn long_scripts_are_bounded_too_and_give_their_slots_back() {
        let slots = Slots::default();
        let work = || tokio::time::sleep(Duration::from_secs(5));
        let all = limits::SCRIPTS_MAX + limits::SCRIPTS_LONG_MAX;
        let mut running = Vec::new();
        for _ in 0..all {
            running.push(tokio::spawn(slots.take().await.unwrap().hold(work())));
        }
        sleep(Duration::from_secs(1)).await;
        assert_eq!((slots.short.available_permits(), slots.long.available_permits()), (0, 0));
        for script in running {
            script.await.unwrap();
        }
        assert_eq!(slots.short.available_permits(), limits::SCRIPTS_MAX);
        assert_eq!(slots.long.available_permits(), limits::SCRIPTS_LONG_MAX);
    }
}
