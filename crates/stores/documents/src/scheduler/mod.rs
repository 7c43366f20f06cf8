//! The scheduler of queries: a limited number runs at once, within a limited memory, and none for a client that has gone.
//!
//! ```text
//! host             the world as a query sees it, and who waits for it
//! lanes            the slots in which queries run
//! memory           the bytes that all queries may hold
//! latency_hints    how long queries took the last time
//! ```
//!
//! A query goes to a thread that may block, once it has a slot. One that was very short the last time is run at once where
//! its request is: to wake a thread and be woken by it takes longer than such a query. All others begin in the brief lane.
//! One that is still running after a short time there is begun again in the long lane, where it may take all the time
//! that a query may take; so a short query never waits behind a long one. A query that needs memory when none is left
//! gives back what it has, waits, and is begun again with memory of its own. Nothing waits while it holds memory, or for
//! a slot while it has one, so none waits for another in a circle ([ADR 26](../../../../../docs/adr/0026-memory-budgets-and-two-lanes.md)).

mod host;
mod lanes;
mod latency_hints;
mod memory;

pub use host::{QueryHost, Waiting};
pub use latency_hints::QueryKey;
pub use memory::MemoryUse;

use crate::Store;
use crate::limits;
use host::Cut;
use lanes::{Lane, Lanes};
use latency_hints::LatencyHints;
use memory::Memory;
use orrery_documents::index::IndexStatistics;
use orrery_query::ParseCache;
use std::time::Duration;
use tokio::sync::OwnedSemaphorePermit;

const SHORT: Duration = Duration::from_micros(limits::QUERY_SHORT_MICROS_MAX);
const BRIEF: Duration = Duration::from_millis(limits::QUERY_BRIEF_MILLIS_MAX);

/// What all queries of a process share.
pub(crate) struct QueryScheduler {
    lanes: Lanes,
    memory: Memory,
    latency_hints: LatencyHints,
    statistics: IndexStatistics,
    parse_cache: ParseCache,
    /// How long a query may take in the brief lane.
    brief: Duration,
}

impl QueryScheduler {
    /// With so much memory for all of them.
    pub fn new(bytes: usize) -> Self {
        Self {
            lanes: Lanes::default(),
            memory: Memory::new(bytes),
            latency_hints: LatencyHints::default(),
            statistics: IndexStatistics::default(),
            parse_cache: ParseCache::default(),
            brief: BRIEF,
        }
    }
}

/// Work ended without an answer: it panicked, or the runtime stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the work broke off; look into the server's log")]
pub struct BrokeOff;

/// Why a query has no answer, not even a refusal of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotRun {
    #[error(transparent)]
    BrokeOff(#[from] BrokeOff),
    #[error("too many queries that take long are waiting; try again")]
    Busy,
    #[error(
        "the memory for queries is used up by others; try again, or start the server with a larger --memory-mb"
    )]
    NoMemory,
}

/// Runs what may read many rows where it keeps nobody waiting.
pub async fn on_a_thread<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, BrokeOff> {
    tokio::task::spawn_blocking(work).await.map_err(|_| BrokeOff)
}

impl Store {
    /// What queries counted, for those after them.
    pub fn statistics(&self) -> &IndexStatistics {
        &self.0.scheduler.statistics
    }

    /// Texts that were asked before.
    pub fn parse_cache(&self) -> &ParseCache {
        &self.0.scheduler.parse_cache
    }

    /// Memory that queries hold.
    pub fn query_memory(&self) -> MemoryUse {
        self.0.scheduler.memory.in_use()
    }

    /// A slot for work that takes as long as a long query.
    pub async fn turn(&self) -> Result<OwnedSemaphorePermit, NotRun> {
        self.0.scheduler.lanes.enter(Lane::Long).await
    }

    /// Runs a query that is unlike others before it. See [`run_known_query`](Self::run_known_query).
    pub async fn run_query<T: Send + 'static>(
        &self,
        work: impl Fn(&QueryHost) -> T + Send + 'static,
    ) -> Result<T, NotRun> {
        match self.run_in_lane(Lane::Brief, work).await? {
            Attempt { cut: None, answer, .. } => Ok(answer),
            Attempt { cut: Some(cut), work, .. } => self.run_at_length(cut, work).await,
        }
    }

    /// Whatever it is asked for, a text over a container is one query.
    pub fn query_key(&self, container: u32, text: &str) -> QueryKey {
        self.0.scheduler.latency_hints.query_key(container, text)
    }

    /// Runs a query that has a query_key. The work may be begun several times; what it gives is worth nothing once its host
    /// [has spent its inline budget](QueryHost::inline_budget_spent).
    pub async fn run_known_query<T: Send + 'static>(
        &self,
        query_key: QueryKey,
        work: impl Fn(&QueryHost) -> T + Send + 'static,
    ) -> Result<T, NotRun> {
        orrery_core::tour_step!();
        let QueryScheduler { latency_hints, memory, .. } = &self.0.scheduler;
        let took = latency_hints.of(query_key);
        if took.is_some_and(|took| took <= SHORT) {
            let host = QueryHost::impatient(self.env()).within(memory.share());
            let answer = work(&host);
            if host.cut().is_none() {
                latency_hints.note(query_key, host.elapsed());
                return Ok(answer);
            }
        }
        let store = self.clone();
        let timed = move |host: &QueryHost| {
            let answer = work(host);
            // What a query had done when it was ended is the least that it takes.
            store.0.scheduler.latency_hints.note(query_key, host.elapsed());
            answer
        };
        if took.is_some_and(|took| took > BRIEF) {
            return self.run_at_length(Cut::Time, timed).await;
        }
        self.run_query(timed).await
    }

    /// Goes on with a query that was ended for its length, or for want of memory.
    async fn run_at_length<T: Send + 'static>(
        &self,
        mut cut: Cut,
        mut work: impl Fn(&QueryHost) -> T + Send + 'static,
    ) -> Result<T, NotRun> {
        if cut == Cut::Time {
            let attempt = self.run_in_lane(Lane::Long, work).await?;
            match attempt.cut {
                None => return Ok(attempt.answer),
                Some(again) => (cut, work) = (again, attempt.work),
            }
        }
        debug_assert_eq!(cut, Cut::Memory, "nothing else ends a query in the long lane");
        self.run_in_lane(Lane::Roomy, work).await.map(|attempt| attempt.answer)
    }

    async fn run_in_lane<T: Send + 'static, W: Fn(&QueryHost) -> T + Send + 'static>(
        &self,
        lane: Lane,
        work: W,
    ) -> Result<Attempt<T, W>, NotRun> {
        let QueryScheduler { lanes, memory, brief, .. } = &self.0.scheduler;
        let turn = lanes.enter(lane).await?;
        let host = match lane {
            Lane::Brief => QueryHost::patient_for(self.env(), *brief)
                .after_looks(limits::QUERY_BRIEF_LOOKS_MIN)
                .within(memory.share()),
            Lane::Long => QueryHost::new(self.env()).within(memory.share()),
            Lane::Roomy => QueryHost::new(self.env()).within(memory.own()),
        };
        // Dropped with this future, which is dropped when nobody waits for the answer any more.
        let _waiting = host.waiting();
        let run = move || {
            let _turn = turn;
            host.begin();
            let answer = work(&host);
            Attempt { cut: host.cut(), answer, work }
        };
        Ok(on_a_thread(run).await?)
    }
}

/// What came of running a query once.
struct Attempt<T, W> {
    /// Why the answer is worth nothing.
    cut: Option<Cut>,
    answer: T,
    work: W,
}

#[cfg(test)]
mod tests;
