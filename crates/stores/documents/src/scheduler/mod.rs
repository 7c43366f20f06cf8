//! The query scheduler: bounds the number of running queries and their memory, and stops those whose client has gone.
//!
//! ```text
//! host             the world as a query sees it, and who waits for it
//! lanes            the slots in which queries run
//! memory           the bytes that all queries may hold
//! latency_hints    how long queries took the last time
//! ```
//!
//! A query runs on a blocking thread, once it has a slot. One that was very short the last time runs at once on its
//! request's own thread: two thread hand-overs take longer than such a query. All others start in the brief lane. One
//! that is still running there after a short time restarts in the long lane, with the full time limit of a query; so a
//! short query never waits behind a long one. A query that finds no memory left releases what it holds, waits, and
//! restarts with reserved memory. No query waits for anything while it holds memory, or for a second slot, so there is
//! no deadlock ([ADR 26](../../../../../docs/adr/0026-memory-budgets-and-two-lanes.md)).

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

/// The state shared by all queries of a process.
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
    /// With this memory budget for all queries.
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

/// Why a query was not run to an answer or an error of its own.
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

/// Runs work that may read many rows on a blocking thread.
pub async fn on_a_thread<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, BrokeOff> {
    tokio::task::spawn_blocking(work).await.map_err(|_| BrokeOff)
}

impl Store {
    /// Index statistics that earlier queries collected.
    pub fn statistics(&self) -> &IndexStatistics {
        &self.0.scheduler.statistics
    }

    /// Syntax trees of recent query texts.
    pub fn parse_cache(&self) -> &ParseCache {
        &self.0.scheduler.parse_cache
    }

    /// The memory held by running queries.
    pub fn query_memory(&self) -> MemoryUse {
        self.0.scheduler.memory.in_use()
    }

    /// A slot in the long lane, for other work that takes as long.
    pub async fn long_slot(&self) -> Result<OwnedSemaphorePermit, NotRun> {
        self.0.scheduler.lanes.enter(Lane::Long).await
    }

    /// Runs a query without a latency hint. See [`run_known_query`](Self::run_known_query).
    pub async fn run_query<T: Send + 'static>(
        &self,
        work: impl Fn(&QueryHost) -> T + Send + 'static,
    ) -> Result<T, NotRun> {
        match self.run_in_lane(Lane::Brief, work).await? {
            Attempt { cut: None, answer, .. } => Ok(answer),
            Attempt { cut: Some(cut), work, .. } => self.run_at_length(cut, work).await,
        }
    }

    /// Requests with the same text over the same container are one query.
    pub fn query_key(&self, container: u32, text: &str) -> QueryKey {
        self.0.scheduler.latency_hints.query_key(container, text)
    }

    /// Runs a query with a latency hint. The work may be started several times; its result is discarded if its host
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
            // The time until it was ended is a lower bound of its duration.
            store.0.scheduler.latency_hints.note(query_key, host.elapsed());
            answer
        };
        if took.is_some_and(|took| took > BRIEF) {
            return self.run_at_length(Cut::Time, timed).await;
        }
        self.run_query(timed).await
    }

    /// Restarts a query that was ended for its length or for lack of memory.
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
        // Dropped with this future, which is dropped when the caller stops waiting.
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

/// The result of one attempt to run a query.
struct Attempt<T, W> {
    /// Why the attempt's answer is discarded.
    cut: Option<Cut>,
    answer: T,
    work: W,
}

#[cfg(test)]
mod tests;
