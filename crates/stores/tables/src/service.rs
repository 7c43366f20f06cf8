//! The properties of an account's table service, kept in memory: each request of a web page asks for the CORS rules.

use crate::error::Error;
use crate::limits;
use crate::scope;
use crate::store::TableStore;
use orrery_catalog::storage::{
    AccountName, ServiceKind, ServiceProperties, load_service_properties, save_service_properties,
};
use orrery_kv::{Error as EngineError, Snapshot};
use orrery_txn::{Scope, WriteError};
use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

#[derive(Default)]
pub(crate) struct ServiceCache(RwLock<HashMap<AccountName, Arc<ServiceProperties>>>);

impl ServiceCache {
    fn get(&self, account: &AccountName) -> Option<Arc<ServiceProperties>> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).get(account).cloned()
    }

    /// Reads them from the newest snapshot. One at a time, so that older ones never replace newer.
    fn refresh(
        &self,
        account: &AccountName,
        newest: impl Fn() -> Arc<Snapshot>,
    ) -> Result<Arc<ServiceProperties>, EngineError> {
        let mut cached = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let found = Arc::new(load_service_properties(&*newest(), account, ServiceKind::Table)?);
        if cached.len() < limits::SERVICE_PROPERTIES_CACHED_MAX || cached.contains_key(account) {
            cached.insert(account.clone(), found.clone());
        }
        Ok(found)
    }
}

impl TableStore {
    pub fn service_properties(&self, account: &AccountName) -> Result<Arc<ServiceProperties>, Error> {
        match self.0.service.get(account) {
            Some(known) => Ok(known),
            None => Ok(self.0.service.refresh(account, || self.snapshot())?),
        }
    }

    /// Replaces them. The caller has checked them.
    pub async fn set_service_properties(
        &self,
        account: &AccountName,
        properties: ServiceProperties,
    ) -> Result<(), Error> {
        let (store, account) = (self.clone(), account.clone());
        let task = tokio::task::spawn_blocking(move || {
            let save = |txn: &mut orrery_kv::Txn<'_>| {
                save_service_properties(txn, &account, ServiceKind::Table, &properties);
                Ok::<_, EngineError>(())
            };
            store.txns().write_blocking(Scope::new(&scope::CATALOG), save)?;
            store.0.service.refresh(&account, || store.snapshot()).map(drop).map_err(WriteError::Engine)
        });
        Ok(task.await.unwrap_or(Err(WriteError::Stopping))?)
    }
}
