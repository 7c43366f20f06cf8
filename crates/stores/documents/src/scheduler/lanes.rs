//! The slots in which queries run.

use super::{BrokeOff, NotRun};
use crate::limits;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

/// How long a query waits for a slot in which it may take long.
const WAIT: Duration = Duration::from_secs(limits::QUERY_WAIT_SECONDS_MAX);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lane {
    /// For a short time, whatever the query is.
    Brief,
    Long,
    /// Alone, with memory of its own.
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
    /// First come, first served, within each lane.
    pub async fn enter(&self, lane: Lane) -> Result<OwnedSemaphorePermit, NotRun> {
        match lane {
            // Whoever is before leaves soon.
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
