//! The catalog of the newest durable state, kept in memory.

use arc_swap::ArcSwap;
use orrery_documents::catalog::Catalog;
use orrery_kv::{Db, Error};
use std::sync::{Arc, Mutex, PoisonError};

pub(crate) struct CatalogCache {
    current: ArcSwap<Catalog>,
    refreshing: Mutex<()>,
}

impl CatalogCache {
    pub fn load(db: &Db) -> Result<Self, Error> {
        let current = ArcSwap::from_pointee(Catalog::default().refreshed(&*db.snapshot())?);
        Ok(Self { current, refreshing: Mutex::new(()) })
    }

    pub fn current(&self) -> Arc<Catalog> {
        self.current.load_full()
    }

    /// Reads the catalog from the newest snapshot. One at a time, so that an older one never replaces a newer.
    pub fn refresh(&self, db: &Db) -> Result<(), Error> {
        let _one = self.refreshing.lock().unwrap_or_else(PoisonError::into_inner);
        let next = self.current.load().refreshed(&*db.snapshot())?;
        self.current.store(Arc::new(next));
        Ok(())
    }
}
