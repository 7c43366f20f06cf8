//! The handle: the catalog and the transactions of documents.

use crate::catalog_cache::CatalogCache;
use crate::queries::Queries;
use crate::scope::Scope;
use crate::trimming::TrimmingDue;
use orrery_core::{Env, Lsn};
use orrery_documents::catalog::Catalog;
use orrery_kv::{Engine, Error as EngineError, Measure, Snapshot, Sync, Txn};
use orrery_txn::{Committed, OpenError, Options, TxnManager, WriteError};
use std::sync::Arc;
use std::time::Duration;

/// A cheap handle on the documents of a process.
#[derive(Clone)]
pub struct Store(pub(crate) Arc<Inner>);

pub(crate) struct Inner {
    pub(crate) txns: TxnManager,
    catalog: CatalogCache,
    pub(crate) trimming_due: TrimmingDue,
    pub(crate) queries: Queries,
}

impl Store {
    /// `query_bytes` is the memory for all queries that run.
    pub fn open(txns: TxnManager, query_bytes: usize) -> Result<Self, EngineError> {
        let inner = Inner {
            catalog: CatalogCache::load(&txns.snapshot())?,
            trimming_due: TrimmingDue::default(),
            queries: Queries::new(query_bytes),
            txns,
        };
        Ok(Self(Arc::new(inner)))
    }

    /// A store with transactions of its own and small caches, for simulations, tools and tests. A commit that does not
    /// end stops the process.
    pub fn standalone(engine: impl Engine + 'static, env: Env, sync: Sync) -> Result<Self, OpenError> {
        let on_stuck = || std::process::abort();
        let options = Options { sync, accept_loss: false, cache_bytes: 1 << 20, on_stuck };
        Ok(Self::open(TxnManager::open(Box::new(engine), env, &options)?, 64 << 20)?)
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

    /// Waits until a commit is durable, at most for `within`; false if it is not by then.
    pub async fn wait_until_durable(&self, lsn: Lsn, within: Duration) -> bool {
        self.0.txns.wait_until_durable(lsn, within).await
    }

    /// The LSN that a session token gives for a range to a reader of the state as of `seen`: never older than what that
    /// state shows of the range, and never newer than the state.
    pub fn range_lsn(&self, container: u32, range: u32, seen: Lsn) -> Lsn {
        self.0.catalog.range_lsns().as_seen(container, range, seen)
    }

    /// Lets the engine move what is only in memory to files; for a moment in which nobody writes.
    pub fn rest(&self) -> Result<(), EngineError> {
        self.0.txns.rest()
    }

    /// Measurements of the engine.
    pub fn engine_measures(&self) -> Vec<Measure> {
        self.0.txns.engine_measures()
    }

    /// Why the last commit failed, if it did. Background jobs try again every round, unless only a restart helps.
    pub fn commit_failure(&self) -> Option<EngineError> {
        self.0.txns.commit_failure()
    }

    /// The databases and containers of the newest durable state.
    pub fn catalog(&self) -> Arc<Catalog> {
        self.0.catalog.current()
    }

    /// A number that no item has, above all earlier ones.
    pub fn next_ordinal(&self) -> u64 {
        self.0.txns.next_ordinal()
    }

    /// Runs `body` as one transaction in `scope` and answers when it is durable. `body` may run more than
    /// once; it must do nothing but read and write `txn`.
    pub async fn write<T, E>(
        &self,
        scope: Scope<'_>,
        body: impl Fn(&mut Txn<'_>) -> Result<T, E>,
    ) -> Result<Committed<T>, WriteError<E>> {
        let (bytes, newest) = (scope.to_bytes(), self.0.catalog.range_lsns().cell_of(scope));
        self.0.txns.write(orrery_txn::Scope::new(&bytes).tracked(newest.as_ref()), body).await
    }

    /// [`write`](Self::write) for a thread that may block and runs no tasks, such as a background job's.
    pub fn write_blocking<T, E>(
        &self,
        scope: Scope<'_>,
        body: impl Fn(&mut Txn<'_>) -> Result<T, E>,
    ) -> Result<Committed<T>, WriteError<E>> {
        let (bytes, newest) = (scope.to_bytes(), self.0.catalog.range_lsns().cell_of(scope));
        self.0.txns.write_blocking(orrery_txn::Scope::new(&bytes).tracked(newest.as_ref()), body)
    }

    /// Runs `body`, which may take seconds and holds no lock meanwhile, as one transaction in `scope`. It may run more
    /// than once. Blocks its thread.
    pub fn write_optimistic<T, E>(
        &self,
        scope: Scope<'_>,
        body: impl FnMut(&mut Txn<'_>) -> Result<T, E>,
    ) -> Result<Committed<T>, WriteError<E>> {
        let (bytes, newest) = (scope.to_bytes(), self.0.catalog.range_lsns().cell_of(scope));
        self.0.txns.write_optimistic(orrery_txn::Scope::new(&bytes).tracked(newest.as_ref()), body)
    }

    /// Changes the catalog and answers when the change is durable and [`catalog`](Self::catalog) shows it. Runs
    /// to its end on a thread of its own even if the caller stops waiting, so that the two never part.
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

    /// The catalog as of now, even if whoever changed it has not shown it yet.
    pub fn refresh_catalog(&self) -> Result<Arc<Catalog>, EngineError> {
        self.0.catalog.refresh(|| self.snapshot())?;
        Ok(self.catalog())
    }

    /// Commits what waits and stops the threads. Later writes are refused; reads go on.
    pub fn close(&self) {
        self.0.txns.close();
    }
}
