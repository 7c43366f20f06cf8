//! Running queries beside everything else: so many at once and no more, and none for whoever has gone.
//!
//! ```text
//! host    the world as a query sees it, and who waits for it
//! pace    how long queries took the last time
//! ```
//!
//! A query goes to a thread that may block, after it got its turn. One that was short the last time is run at once where
//! it is: to wake a thread and be woken by it takes longer than such a query. What turns out not to be short after all is
//! begun again on a thread, so that nobody waits for another's query.

mod host;
mod pace;

pub use host::{QueryHost, Waiting};
pub use pace::Track;

use crate::Store;
use orrery_core::limits;
use orrery_documents::index::Counts;
use orrery_query::Texts;
use pace::Pace;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

const SHORT: Duration = Duration::from_micros(limits::QUERY_SHORT_MICROS_MAX);

/// What all queries of a process share.
pub(crate) struct Queries {
    turns: Arc<Semaphore>,
    pace: Pace,
    counts: Counts,
    texts: Texts,
}

impl Default for Queries {
    fn default() -> Self {
        let turns = Arc::new(Semaphore::new(limits::QUERIES_MAX));
        Self { turns, pace: Pace::default(), counts: Counts::default(), texts: Texts::default() }
    }
}

/// Work ended without an answer: it panicked, or the runtime stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the work broke off; look into the server's log")]
pub struct BrokeOff;

/// Runs what may read many rows where it keeps nobody waiting.
pub async fn on_a_thread<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, BrokeOff> {
    tokio::task::spawn_blocking(work).await.map_err(|_| BrokeOff)
}

impl Store {
    /// What queries counted, for those after them.
    pub fn counts(&self) -> &Counts {
        &self.0.queries.counts
    }

    /// Texts that were asked before.
    pub fn texts(&self) -> &Texts {
        &self.0.queries.texts
    }

    /// Held while something of the size of a query runs.
    pub async fn turn(&self) -> Result<OwnedSemaphorePermit, BrokeOff> {
        self.0.queries.turns.clone().acquire_owned().await.map_err(|_| BrokeOff)
    }

    /// Runs work of a kind that says nothing of how long it will take.
    pub async fn run_query<T: Send + 'static>(
        &self,
        work: impl FnOnce(&QueryHost) -> T + Send + 'static,
    ) -> Result<T, BrokeOff> {
        let host = QueryHost::new(self.env());
        // Dropped with this future, which is dropped when nobody waits for the answer any more.
        let _waiting = host.waiting();
        let turn = self.turn().await?;
        let work = move || {
            let _turn = turn;
            work(&host)
        };
        on_a_thread(work).await
    }

    /// Whatever it is asked for, a text over a container is one query.
    pub fn track(&self, container: u32, text: &str) -> Track {
        self.0.queries.pace.track(container, text)
    }

    /// Runs a query that has a track, at once if it was short the last time. The work may be begun twice; what it gives
    /// is worth nothing once its host [is tired](QueryHost::is_tired).
    pub async fn run_tracked<T: Send + 'static>(
        &self,
        track: Track,
        work: impl Fn(&QueryHost) -> T + Send + 'static,
    ) -> Result<T, BrokeOff> {
        let pace = &self.0.queries.pace;
        if pace.of(track).is_some_and(|took| took <= SHORT) {
            let host = QueryHost::impatient(self.env());
            let answer = work(&host);
            if !host.is_tired() {
                pace.note(track, host.elapsed());
                return Ok(answer);
            }
        }
        let store = self.clone();
        let timed = move |host: &QueryHost| {
            // Waiting for a turn says nothing of the query.
            let before = host.elapsed();
            let answer = work(host);
            store.0.queries.pace.note(track, host.elapsed().saturating_sub(before));
            answer
        };
        self.run_query(timed).await
    }
}
