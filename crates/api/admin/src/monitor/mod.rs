//! Watching the server: measurements told to others, alerts, what is busy, and what it would cost (`docs/monitoring.md`).
//!
//! ```text
//! counters (documents, ──┐            ┌─> families ─> /metrics, OTLP
//!   tables, queues)       ├─ look ─────┼─> window ─> readings ─> alerts ─> /v1/alerts, /readyz, log
//! sizes, offers, engine ─┘  a second  └─> metering ─> an hourly row on the disk ─> /v1/cost
//! ```
//!
//! A look happens every second on a thread of its own, when the clock is moved by hand, and when somebody asks. The time
//! is the server's clock, so a test walks through hours; only latencies are taken by a stopwatch.

pub mod alerts;
mod calendar;
mod cost;
pub mod family;
mod gather;
mod metering;
pub mod otlp;
mod prometheus;
mod routes;
mod sizes;
pub(crate) mod storage;
mod throughput;
mod top;
mod window;

pub use routes::{answer, has};
pub use storage::resource::StorageStores;

use crate::limits;
use alerts::reading::{Known, readings};
use alerts::rule::{Kind, Rule};
use alerts::{Alerts, Change, whom};
use family::Family;
use metering::Metering;
use orrery_api_cosmos::Cosmos;
use orrery_core::{Lsn, Timestamp};
use orrery_document_store::Store;
use serde_json::Value;
use sizes::Sizes;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use storage::families::{self as storage_families, ToldStorage};
use storage::resource::AllContents;
use storage::tracker::Tracker;
use throughput::{Provisioned, provisioned};
use window::{Look, Looks};

pub struct Options {
    pub rules: Vec<Rule>,
    pub partition_bytes_max: u64,
    pub is_serverless: bool,
    /// Whether requests beyond the provisioned throughput are turned away.
    pub is_throttling: bool,
}

/// A cheap handle.
#[derive(Clone)]
pub struct Watch(Arc<Inner>);

struct Inner {
    store: Store,
    cosmos: Cosmos,
    storage: StorageStores,
    options: Options,
    state: Mutex<State>,
    /// The rules that have alerts, for who cannot wait while a look writes or reads.
    firing: Mutex<Vec<&'static str>>,
    /// What services count.
    also: OnceLock<Box<dyn Fn() -> Vec<Family> + Send + Sync>>,
}

#[derive(Default)]
struct State {
    looks: Looks,
    alerts: Alerts,
    metering: Metering,
    provisioned: Provisioned,
    sizes: Sizes,
    /// When sizes were looked up, and of which state.
    sized: Option<(Timestamp, Lsn)>,
    storage: Tracker,
    storage_counted: Option<Timestamp>,
    storage_contents: AllContents,
    /// When those were looked up. Messages become visible while nothing is written.
    storage_looked_at: Option<Timestamp>,
    is_in_trouble: bool,
}

impl Watch {
    pub fn new(store: Store, cosmos: Cosmos, storage: StorageStores, options: Options) -> Self {
        Self(Arc::new(Inner {
            store,
            cosmos,
            storage,
            options,
            state: Mutex::default(),
            firing: Mutex::default(),
            also: OnceLock::new(),
        }))
    }

    /// Tells these measurements too; said once, before the first look.
    pub fn tell_also(&self, families: impl Fn() -> Vec<Family> + Send + Sync + 'static) {
        let _ = self.0.also.set(Box::new(families));
    }

    pub fn now(&self) -> Timestamp {
        self.0.store.env().now()
    }

    pub fn started(&self) -> Timestamp {
        self.0.cosmos.store().monitor().started()
    }

    /// Looks at everything once. It may write and read many rows, so it is not for a thread that others wait for.
    pub fn look(&self) {
        let mut state = self.state();
        self.look_at(&mut state, false);
        let due = state.metering.write_when_due(&self.0.store, self.now());
        state.complain("what was used could not be written down; it is tried again", due.err());
    }

    /// Writes down what was used and is not written yet.
    pub fn finish(&self) {
        let mut state = self.state();
        self.look_at(&mut state, true);
        let written = state.metering.write(&self.0.store, self.now());
        state.complain("what was used last could not be written down", written.err());
    }

    fn look_at(&self, state: &mut State, force: bool) {
        let (now, catalog, options) = (self.now(), self.0.store.catalog(), &self.0.options);
        let look = Look::of(&self.0.cosmos.store().monitor().meters(), now);
        state.provisioned = provisioned(&catalog, options.is_serverless);
        self.look_up_sizes(state, now);
        state.metering.look(&look, &state.provisioned, &state.sizes, force);
        self.look_up_storage(state, now);
        let resources = self.0.storage.resources();
        let deltas = state.storage.look(&resources, &state.storage_contents);
        // What was asked since the last look belongs to its hour.
        let since = state.storage_counted.replace(now).unwrap_or(now);
        state.metering.look_at_storage(deltas, since);
        let longest = options.rules.iter().map(|rule| rule.window_seconds).max().unwrap_or(1);
        state.looks.keep(&look, longest);
        let known = Known {
            provisioned: &state.provisioned,
            sizes: &state.sizes,
            partition_bytes_max: options.partition_bytes_max,
            resources: &resources,
            contents: &state.storage_contents,
            as_of: state.storage_looked_at.unwrap_or(now),
        };
        // What is provisioned means nothing to a server that holds nobody to it.
        let applies = |rule: &&Rule| rule.kind != Kind::RequestUnits || options.is_throttling;
        let read = options.rules.iter().filter(applies).flat_map(|rule| {
            let between = state.looks.within(rule.window_seconds, &look);
            readings(rule, between.as_ref(), &known)
        });
        let read: Vec<_> = read.collect();
        state.alerts.step(&options.rules, &read, now).iter().for_each(tell);
        *self.0.firing.lock().unwrap_or_else(PoisonError::into_inner) = state.alerts.firing_names();
        self.0.cosmos.store().monitor().forget_dropped(&catalog);
    }

    fn look_up_sizes(&self, state: &mut State, now: Timestamp) {
        let lsn = self.0.store.durable_lsn();
        let is_fresh = |(at, seen): (Timestamp, Lsn)| {
            let until = at.millis() + limits::MONITOR_SIZES_EVERY_SECONDS * 1000;
            seen == lsn || (at.millis()..until).contains(&now.millis())
        };
        if state.sized.is_some_and(is_fresh) {
            return;
        }
        let snapshot = self.0.store.snapshot();
        match sizes::look(&snapshot, &self.0.store.catalog()) {
            Ok(sizes) => (state.sizes, state.sized) = (sizes, Some((now, lsn))),
            Err(error) => tracing::warn!(%error, "the sizes of containers could not be looked up"),
        }
    }

    fn look_up_storage(&self, state: &mut State, now: Timestamp) {
        let is_fresh = |at: Timestamp| {
            let until = at.millis() + limits::MONITOR_SIZES_EVERY_SECONDS * 1000;
            (at.millis()..until).contains(&now.millis())
        };
        if state.storage_looked_at.is_some_and(is_fresh) {
            return;
        }
        match self.0.storage.contents() {
            Ok(contents) => (state.storage_contents, state.storage_looked_at) = (contents, Some(now)),
            Err(error) => tracing::warn!(%error, "the sizes of tables and queues could not be looked up"),
        }
    }

    /// The alerts, as of now.
    pub fn alerts(&self) -> Value {
        self.look();
        self.state().alerts.shown()
    }

    /// The tables and queues of the process.
    pub(crate) fn storage(&self) -> &StorageStores {
        &self.0.storage
    }

    /// The rules that have alerts, as of the last look.
    pub fn firing(&self) -> Vec<&'static str> {
        self.0.firing.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Everything that is measured; with the names of partitions if they may be told.
    pub fn families(&self, with_partitions: bool) -> Vec<Family> {
        self.look();
        let counted = self.0.cosmos.store().monitor().counted();
        let state = self.state();
        let told = gather::Told {
            counted: &counted,
            provisioned: &state.provisioned,
            sizes: &state.sizes,
            alerts: &state.alerts,
            partition_bytes_max: self.0.options.partition_bytes_max,
            lsn: self.0.store.durable_lsn(),
            engine: self.0.store.engine_measures(),
            query_memory: self.0.store.query_memory(),
        };
        let mut families = gather::families(&told, with_partitions);
        let resources = self.0.storage.resources();
        let (contents, tracker) = (&state.storage_contents, &state.storage);
        let as_of = state.storage_looked_at.unwrap_or_default();
        let told = ToldStorage { resources: &resources, contents, tracker, as_of };
        families.extend(storage_families::families(&told, with_partitions));
        families.extend(self.0.also.get().into_iter().flat_map(|also| also()));
        families
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Said once until it is well again.
    fn complain(&mut self, what: &str, trouble: Option<impl std::fmt::Display>) {
        if let Some(error) = trouble.as_ref().filter(|_| !self.is_in_trouble) {
            tracing::warn!(%error, "{what}");
        }
        self.is_in_trouble = trouble.is_some();
    }
}

/// Each change is logged once.
fn tell(change: &Change) {
    match change {
        Change::Fired { kind, subject, value } => {
            let value = format!("{value:.2} {}", kind.unit());
            tracing::warn!(rule = kind.name(), whom = whom(subject), value, "alert: {}", kind.advice());
        }
        Change::Resolved { kind, subject } => {
            tracing::info!(rule = kind.name(), whom = whom(subject), "alert resolved");
        }
    }
}
