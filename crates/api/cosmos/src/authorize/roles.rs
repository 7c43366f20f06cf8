//! The roles of the newest durable state, kept in memory, and changing them.

use crate::failure::Failure;
use crate::service::Cosmos;
use arc_swap::ArcSwapOption;
use orrery_document_store::{EngineError, Scope, Store, Txn};
use orrery_documents::roles::{RoleError, Roles};
use std::sync::{Arc, Mutex, PoisonError};

#[derive(Default)]
pub struct RoleCache {
    current: ArcSwapOption<Roles>,
    refreshing: Mutex<()>,
}

impl RoleCache {
    pub fn current(&self, store: &Store) -> Result<Arc<Roles>, EngineError> {
        match self.current.load_full() {
            Some(roles) => Ok(roles),
            None => self.refresh(store),
        }
    }

    /// Reads the roles from the newest snapshot. One at a time, so that older ones never replace newer.
    fn refresh(&self, store: &Store) -> Result<Arc<Roles>, EngineError> {
        let _one = self.refreshing.lock().unwrap_or_else(PoisonError::into_inner);
        let roles = Arc::new(Roles::load(&*store.snapshot())?);
        self.current.store(Some(roles.clone()));
        Ok(roles)
    }
}

/// Runs a change of roles, durably; from its answer on requests are judged by it. Gives the roles as they are then.
pub async fn change_roles<T>(
    cosmos: &Cosmos,
    change: impl Fn(&mut Txn<'_>) -> Result<T, RoleError>,
) -> Result<(T, Arc<Roles>), Failure> {
    let done = cosmos.store().write(Scope::Catalog, change).await?;
    Ok((done.value, cosmos.access().roles.refresh(cosmos.store())?))
}
