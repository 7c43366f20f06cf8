//! The slots in which queries run.

use super::{BrokeOff, NotRun};
use crate::limits;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

/// How long a query waits for a slot in the long lane.
const WAIT: Duration = Duration::from_secs(limits::QUERY_WAIT_SECONDS_MAX);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lane {
    /// The lane in which every query starts, for a short time.
    Brief,
    Long,
    /// One query at a time, with reserved memory.
    Roomy,
}

pub(super) struct Lanes {
    brief: Arc<Semaphore>,
    long: Arc<Semaphore>,
    roomy: Arc<Semaphore>,
}

impl Default for Lanes {
    fn default() -> Self {
        let slots = |count| Arc::new(Semaphore::new(count));
        Self {
            brief: slots(limits::QUERIES_BRIEF_MAX),
            long: slots(limits::QUERIES_LONG_MAX),
            roomy: slots(1),
        }
    }
}

impl Lanes {
    /// Each lane is first come, first served.
    pub async fn enter(&self, lane: Lane) -> Result<OwnedSemaphorePermit, NotRun> {
        match lane {
            // The queries ahead leave soon.
            Lane::Brief => slot(&self.brief).await,
            Lane::Long => within_time(&self.long, NotRun::Busy).await,
            Lane::Roomy => within_time(&self.roomy, NotRun::NoMemory).await,
        }
    }
}

async fn within_time(slots: &Arc<Semaphore>, late: NotRun) -> Result<OwnedSemaphorePermit, NotRun> {
    timeout(WAIT, slot(slots)).await.unwrap_or(Err(late))
}

async fn slot(slots: &Arc<Semaphore>) -> Result<OwnedSemaphorePermit, NotRun> {
    Ok(slots.clone().acquire_owned().await.map_err(|_| BrokeOff)?)
}
