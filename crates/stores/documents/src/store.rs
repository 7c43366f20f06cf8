//! The handle: the catalog and the transactions of documents.

use crate::catalog::cache::CatalogCache;
use crate::catalog::roles::RoleCache;
use crate::continuation::Tokens;
use crate::error::Error;
use crate::limits::LOG_TRIM_EVERY_SECONDS;
use crate::monitor::Monitor;
use crate::plan_cache::PlanCache;
use crate::scheduler::QueryScheduler;
use crate::scope::Scope;
use crate::scripts::slots::Slots;
use crate::throttle::{Throttle, Throttling};
use crate::usage::Usage;
use orrery_core::{ETag, Env, Lsn, limits};
use orrery_documents::Stamp;
use orrery_documents::catalog::{Catalog, Container};
use orrery_kv::{Engine, Error as EngineError, Measure, Snapshot, Sync, Txn};
use orrery_script::{Isolation, Scripts};
use orrery_txn::{Committed, OpenError, Periodic, TxnManager, WriteError};
use std::sync::Arc;
use std::time::Duration;

/// A cheap handle on the documents of a process.
#[derive(Clone)]
pub struct Store(pub(crate) Arc<Inner>);

pub(crate) struct Inner {
    pub(crate) txns: TxnManager,
    catalog: CatalogCache,
    roles: RoleCache,
    pub(crate) trimming: Periodic,
    pub(crate) scheduler: QueryScheduler,
    tokens: Tokens,
    partition_bytes_max: u64,
    plan_cache: PlanCache,
    scripts: Scripts,
    script_slots: Slots,
    throttle: Throttle,
    usage: Usage,
    monitor: Monitor,
}

pub struct Options {
    /// Memory for all queries that run.
    pub query_bytes: usize,
    /// A secret of this data folder, for continuation tokens.
    pub secret: [u8; 32],
    /// The size limit of a logical partition.
    pub partition_bytes_max: u64,
    pub throttling: Throttling,
    /// Runs stored procedures, triggers and user-defined functions.
    pub scripts: Scripts,
}

impl Options {
    /// Small caches, no throttling, scripts in this process; for simulations, tools and tests.
    pub fn standalone() -> Self {
        Self {
            query_bytes: 64 << 20,
            secret: [0; 32],
            partition_bytes_max: limits::PARTITION_BYTES_MAX,
            throttling: Throttling::default(),
            scripts: Scripts::new(Isolation::Thread).expect("a thread needs no worker process"),
        }
    }
}

impl Store {
    pub fn open(txns: TxnManager, options: Options) -> Result<Self, EngineError> {
        let now = txns.env().now();
        let inner = Inner {
            catalog: CatalogCache::load(&txns.snapshot())?,
            roles: RoleCache::default(),
            trimming: Periodic::new(LOG_TRIM_EVERY_SECONDS),
            scheduler: QueryScheduler::new(options.query_bytes),
            tokens: Tokens::new(&options.secret),
            partition_bytes_max: options.partition_bytes_max,
            plan_cache: PlanCache::default(),
            scripts: options.scripts,
            script_slots: Slots::default(),
            throttle: Throttle::new(&options.throttling, now.millis()),
            usage: Usage::new(now),
            monitor: Monitor::new(now),
            txns,
        };
        Ok(Self(Arc::new(inner)))
    }

    /// A store with transactions of its own, for simulations, tools and tests. A commit that does not end stops the
    /// process.
    pub fn standalone(engine: impl Engine + 'static, env: Env, sync: Sync) -> Result<Self, OpenError> {
        Self::standalone_with(engine, env, sync, Options::standalone())
    }

    pub fn standalone_with(
        engine: impl Engine + 'static,
        env: Env,
        sync: Sync,
        options: Options,
    ) -> Result<Self, OpenError> {
        Ok(Self::open(TxnManager::standalone(engine, env, sync)?, options)?)
    }

    pub fn env(&self) -> &Env {
        self.0.txns.env()
    }

    /// The transactions that this store shares with others.
    pub fn txns(&self) -> &TxnManager {
        &self.0.txns
    }

    /// The newest durable state.
    pub fn snapshot(&self) -> Arc<Snapshot> {
        self.0.txns.snapshot()
    }

    /// The LSN of the newest durable commit.
    pub fn durable_lsn(&self) -> Lsn {
        self.0.txns.durable_lsn()
    }

    /// Waits until a commit is durable, at most for `within`; returns false on timeout.
    pub async fn wait_until_durable(&self, lsn: Lsn, within: Duration) -> bool {
        self.0.txns.wait_until_durable(lsn, within).await
    }

    /// The LSN of a range in the session token of a reader that saw the state as of `seen`: at least the newest commit
    /// of the range in that state, and at most `seen`.
    pub fn range_lsn(&self, container: u32, range: u32, seen: Lsn) -> Lsn {
        self.0.catalog.range_lsns().as_seen(container, range, seen)
    }

    /// Lets the engine flush memtables to files; for idle moments.
    pub fn rest(&self) -> Result<(), EngineError> {
        self.0.txns.rest()
    }

    /// Measurements of the engine.
    pub fn engine_measures(&self) -> Vec<Measure> {
        self.0.txns.engine_measures()
    }

    /// The error of the last commit, if it failed. Background jobs retry every round, unless only a restart helps.
    pub fn commit_failure(&self) -> Option<EngineError> {
        self.0.txns.commit_failure()
    }

    /// Seals and reads continuation tokens.
    pub fn tokens(&self) -> &Tokens {
        &self.0.tokens
    }

    /// The size limit of a logical partition.
    pub fn partition_bytes_max(&self) -> u64 {
        self.0.partition_bytes_max
    }

    /// The cache of query plans.
    pub fn plan_cache(&self) -> &PlanCache {
        &self.0.plan_cache
    }

    pub(crate) fn role_cache(&self) -> &RoleCache {
        &self.0.roles
    }

    pub(crate) fn scripts(&self) -> &Scripts {
        &self.0.scripts
    }

    pub(crate) fn script_slots(&self) -> &Slots {
        &self.0.script_slots
    }

    /// Provisioned throughput and its consumption.
    pub(crate) fn throttle(&self) -> &Throttle {
        &self.0.throttle
    }

    /// Usage of containers, for `advise`.
    pub fn usage(&self) -> &Usage {
        &self.0.usage
    }

    /// Counts of requests.
    pub fn monitor(&self) -> &Monitor {
        &self.0.monitor
    }

    /// The time and the etag of a new version.
    pub fn stamp(&self) -> Stamp {
        let env = self.env();
        let etag = ETag::from_u128(env.random_u128());
        Stamp { now: env.now(), etag, partition_bytes_max: self.0.partition_bytes_max }
    }

    /// A container by its names.
    pub fn container(&self, database: &str, container: &str) -> Result<Arc<Container>, Error> {
        let catalog = self.catalog();
        let owner = catalog.database(database);
        let found = owner.and_then(|owner| catalog.container(owner.rid, container)).cloned();
        found.ok_or_else(|| Error::ContainerMissing {
            database: database.to_owned(),
            container: container.to_owned(),
        })
    }

    /// The databases and containers of the newest durable state.
    pub fn catalog(&self) -> Arc<Catalog> {
        self.0.catalog.current()
    }

    /// A new ordinal, above all earlier ones.
    pub fn next_ordinal(&self) -> u64 {
        self.0.txns.next_ordinal()
    }

    /// Runs `body` as one transaction in `scope` and answers when it is durable. `body` may run more than once; it must
    /// have no effect but its reads and writes of `txn`.
    pub async fn write<T, E>(
        &self,
        scope: Scope<'_>,
        body: impl Fn(&mut Txn<'_>) -> Result<T, E>,
    ) -> Result<Committed<T>, WriteError<E>> {
        orrery_core::tour_step!();
        let (bytes, newest) = (scope.to_bytes(), self.0.catalog.range_lsns().cell_of(scope));
        self.0.txns.write(orrery_txn::Scope::new(&bytes).tracked(newest.as_ref()), body).await
    }

    /// [`write`](Self::write) for a task with several concurrent writes, so that they share a sync.
    pub(crate) async fn write_concurrently<T, E>(
        &self,
        scope: Scope<'_>,
        body: impl Fn(&mut Txn<'_>) -> Result<T, E>,
    ) -> Result<Committed<T>, WriteError<E>> {
        let (bytes, newest) = (scope.to_bytes(), self.0.catalog.range_lsns().cell_of(scope));
        self.0.txns.write_concurrently(orrery_txn::Scope::new(&bytes).tracked(newest.as_ref()), body).await
    }

    /// [`write`](Self::write) for a blocking thread outside the runtime, such as a background job's.
    pub fn write_blocking<T, E>(
        &self,
        scope: Scope<'_>,
        body: impl Fn(&mut Txn<'_>) -> Result<T, E>,
    ) -> Result<Committed<T>, WriteError<E>> {
        let (bytes, newest) = (scope.to_bytes(), self.0.catalog.range_lsns().cell_of(scope));
        self.0.txns.write_blocking(orrery_txn::Scope::new(&bytes).tracked(newest.as_ref()), body)
    }

    /// Runs `body` as one optimistic transaction in `scope`: it may take seconds, holds no lock meanwhile and may run
    /// more than once. Blocks its thread.
    pub fn write_optimistic<T, E>(
        &self,
        scope: Scope<'_>,
        body: impl FnMut(&mut Txn<'_>) -> Result<T, E>,
    ) -> Result<Committed<T>, WriteError<E>> {
        let (bytes, newest) = (scope.to_bytes(), self.0.catalog.range_lsns().cell_of(scope));
        self.0.txns.write_optimistic(orrery_txn::Scope::new(&bytes).tracked(newest.as_ref()), body)
    }

    /// Changes the catalog and answers when the change is durable and [`catalog`](Self::catalog) shows it. Runs to
    /// completion on a thread of its own even if the caller stops waiting, so that memory and disk never diverge.
    pub async fn write_catalog<T: Send + 'static, E: Send + 'static>(
        &self,
        body: impl Fn(&mut Txn<'_>) -> Result<T, E> + Send + 'static,
    ) -> Result<Committed<T>, WriteError<E>> {
        let store = self.clone();
        let task = tokio::task::spawn_blocking(move || {
            let committed = store.write_blocking(Scope::Catalog, body)?;
            store.refresh_catalog().map_err(WriteError::Engine)?;
            Ok(committed)
        });
        task.await.unwrap_or(Err(WriteError::Stopping))
    }

    /// The catalog of the newest snapshot, even if a concurrent change has not been published yet.
    pub fn refresh_catalog(&self) -> Result<Arc<Catalog>, EngineError> {
        self.0.catalog.refresh(|| self.snapshot())?;
        Ok(self.catalog())
    }

    /// Commits pending writes and stops the threads. Refuses later writes; reads continue.
    pub fn close(&self) {
        self.0.txns.close();
    }
}
