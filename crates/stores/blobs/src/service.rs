//! The settings of an account's blob service, kept in memory: every request asks for some of them.

use crate::error::Error;
use crate::limits;
use crate::store::BlobStore;
use orrery_blobs::settings::{BlobSettings, load_settings, save_settings};
use orrery_catalog::scope;
use orrery_catalog::storage::{
    AccountName, ServiceKind, ServiceProperties, load_service_properties, save_service_properties,
};
use orrery_kv::{Error as EngineError, Snapshot, Txn};
use orrery_txn::Scope;
use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

/// What the service properties of storage services have in common, and what is of blobs alone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BlobService {
    pub properties: ServiceProperties,
    pub settings: BlobSettings,
}

#[derive(Default)]
pub(crate) struct ServiceCache(RwLock<HashMap<AccountName, Arc<BlobService>>>);

impl ServiceCache {
    fn get(&self, account: &AccountName) -> Option<Arc<BlobService>> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).get(account).cloned()
    }

    /// Reads them from the newest snapshot. One at a time, so that older ones never replace newer.
    fn refresh(
        &self,
        account: &AccountName,
        newest: impl Fn() -> Arc<Snapshot>,
    ) -> Result<Arc<BlobService>, EngineError> {
        let mut cached = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let snapshot = newest();
        let found = Arc::new(BlobService {
            properties: load_service_properties(&*snapshot, account, ServiceKind::Blob)?,
            settings: load_settings(&*snapshot, account)?,
        });
        if cached.len() < limits::SETTINGS_CACHED_MAX || cached.contains_key(account) {
            cached.insert(account.clone(), found.clone());
        }
        Ok(found)
    }
}

impl BlobStore {
    pub fn service(&self, account: &AccountName) -> Result<Arc<BlobService>, Error> {
        match self.0.service.get(account) {
            Some(known) => Ok(known),
            None => Ok(self.0.service.refresh(account, || self.snapshot())?),
        }
    }

    /// Replaces both. The caller has checked them.
    pub async fn set_service(&self, account: &AccountName, service: BlobService) -> Result<(), Error> {
        let (store, account, now) = (self.clone(), account.clone(), self.env().now());
        let task = tokio::task::spawn_blocking(move || {
            let save = |txn: &mut Txn<'_>| {
                save_service_properties(txn, &account, ServiceKind::Blob, &service.properties);
                let mut settings = service.settings.clone();
                settings.note_tracking(&load_settings(txn, &account)?, now);
                save_settings(txn, &account, &settings);
                Ok::<_, EngineError>(())
            };
            store.txns().write_blocking(Scope::new(&[scope::CATALOG]), save)?;
            store.0.service.refresh(&account, || store.snapshot())?;
            Ok(())
        });
        task.await.unwrap_or(Err(Error::Stopping))
    }
}
