//! The handle: the tables of a process, over transactions that it shares with other stores.

use crate::catalog_cache::CatalogCache;
use crate::limits;
use crate::service::ServiceCache;
use orrery_core::{Env, TickClock};
use orrery_kv::{Engine, Error as EngineError, Snapshot, Sync};
use orrery_tables::Stamp;
use orrery_txn::{OpenError, Periodic, TxnManager};
use std::sync::Arc;

/// A cheap handle on the tables of a process.
#[derive(Clone)]
pub struct TableStore(pub(crate) Arc<Inner>);

pub(crate) struct Inner {
    pub txns: TxnManager,
    pub catalog: CatalogCache,
    pub service: ServiceCache,
    pub trimming: Periodic,
    clock: TickClock,
}

/// There is nothing to choose yet.
#[derive(Clone, Debug, Default)]
pub struct Options {}

impl TableStore {
    pub fn open(txns: TxnManager, _options: Options) -> Result<Self, EngineError> {
        let inner = Inner {
            catalog: CatalogCache::load(&txns.snapshot())?,
            service: ServiceCache::default(),
            trimming: Periodic::new(limits::LOG_TRIM_EVERY_SECONDS),
            clock: TickClock::default(),
            txns,
        };
        Ok(Self(Arc::new(inner)))
    }

    /// A store with transactions of its own, for simulations, tools and tests. A commit that does not end stops the
    /// process.
    pub fn standalone(engine: impl Engine + 'static, env: Env, sync: Sync) -> Result<Self, OpenError> {
        Ok(Self::open(TxnManager::standalone(engine, env, sync)?, Options::default())?)
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

    /// The time, and the Timestamp of a new version.
    pub(crate) fn stamp(&self) -> Stamp {
        let now = self.env().now();
        Stamp { now, ticks: self.0.clock.next(now) }
    }

    /// Commits what waits and stops the threads. Later writes are refused; reads go on.
    pub fn close(&self) {
        self.0.txns.close();
    }
}
