//! The catalog of the newest durable state, kept in memory.

use crate::range_lsns::RangeLsns;
use arc_swap::ArcSwap;
use orrery_documents::catalog::Catalog;
use orrery_kv::{Error, Snapshot};
use std::sync::{Arc, Mutex, PoisonError};

pub(crate) struct CatalogCache {
    current: ArcSwap<Catalog>,
    range_lsns: RangeLsns,
    refreshing: Mutex<()>,
}

impl CatalogCache {
    pub fn load(snapshot: &Snapshot) -> Result<Self, Error> {
        let catalog = Catalog::default().refreshed(snapshot)?;
        let range_lsns = RangeLsns::new(&catalog, snapshot.lsn());
        Ok(Self { current: ArcSwap::from_pointee(catalog), range_lsns, refreshing: Mutex::new(()) })
    }

    pub fn current(&self) -> Arc<Catalog> {
        self.current.load_full()
    }

    /// The newest commits of the ranges of the catalog's containers.
    pub fn range_lsns(&self) -> &RangeLsns {
        &self.range_lsns
    }

    /// Reads the catalog from the newest snapshot, under a lock, so that an older one never replaces a newer
    /// one.
    pub fn refresh(&self, newest: impl Fn() -> Arc<Snapshot>) -> Result<(), Error> {
        let _one = self.refreshing.lock().unwrap_or_else(PoisonError::into_inner);
        let snapshot = newest();
        let next = self.current.load().refreshed(&*snapshot)?;
        self.range_lsns.follow(&next, snapshot.lsn());
        self.current.store(Arc::new(next));
        Ok(())
    }
}
