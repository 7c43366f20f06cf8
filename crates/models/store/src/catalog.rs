//! The catalog of the newest durable state, kept in memory.

use crate::newest::Newest;
use arc_swap::ArcSwap;
use orrery_documents::catalog::Catalog;
use orrery_kv::{Db, Error};
use std::sync::{Arc, Mutex, PoisonError};

pub(crate) struct CatalogCache {
    current: ArcSwap<Catalog>,
    newest: Newest,
    refreshing: Mutex<()>,
}

impl CatalogCache {
    pub fn load(db: &Db) -> Result<Self, Error> {
        let snapshot = db.snapshot();
        let catalog = Catalog::default().refreshed(&*snapshot)?;
        let newest = Newest::new(&catalog, snapshot.lsn());
        Ok(Self { current: ArcSwap::from_pointee(catalog), newest, refreshing: Mutex::new(()) })
    }

    pub fn current(&self) -> Arc<Catalog> {
        self.current.load_full()
    }

    /// The newest commits of the ranges of the catalog's containers.
    pub fn newest(&self) -> &Newest {
        &self.newest
    }

    /// Reads the catalog from the newest snapshot. One at a time, so that an older one never replaces a newer.
    pub fn refresh(&self, db: &Db) -> Result<(), Error> {
        let _one = self.refreshing.lock().unwrap_or_else(PoisonError::into_inner);
        let snapshot = db.snapshot();
        let next = self.current.load().refreshed(&*snapshot)?;
        self.newest.follow(&next, snapshot.lsn());
        self.current.store(Arc::new(next));
        Ok(())
    }
}
