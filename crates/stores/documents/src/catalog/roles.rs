//! Roles: an in-memory copy of the newest durable state, and the operations that change them.

use crate::scope::Scope;
use crate::store::Store;
use arc_swap::ArcSwapOption;
use orrery_documents::roles::{self, Assignment, Definition, RoleError, Roles};
use orrery_kv::{Error as EngineError, Txn};
use orrery_txn::WriteError;
use std::sync::{Arc, Mutex, PoisonError};

#[derive(Default)]
pub(crate) struct RoleCache {
    current: ArcSwapOption<Roles>,
    refreshing: Mutex<()>,
}

impl RoleCache {
    /// Reads the roles from the newest snapshot, under a lock, so that older ones never replace newer ones.
    fn refresh(&self, store: &Store) -> Result<Arc<Roles>, EngineError> {
        let _one = self.refreshing.lock().unwrap_or_else(PoisonError::into_inner);
        let roles = Arc::new(Roles::load(&*store.snapshot())?);
        self.current.store(Some(roles.clone()));
        Ok(roles)
    }
}

/// The roles as they are after a change.
type RolesResult = Result<Arc<Roles>, WriteError<RoleError>>;

impl Store {
    pub fn roles(&self) -> Result<Arc<Roles>, EngineError> {
        let cache = self.role_cache();
        match cache.current.load_full() {
            Some(roles) => Ok(roles),
            None => cache.refresh(self),
        }
    }

    /// Defines a role, or changes the one that has its id.
    pub async fn define_role(&self, role: Definition) -> RolesResult {
        self.change_roles(move |txn| roles::define(txn, &role)).await
    }

    /// Gives a role to a principal.
    pub async fn assign_role(&self, given: Assignment) -> RolesResult {
        self.change_roles(move |txn| roles::assign(txn, &given).map(drop)).await
    }

    /// Removes the assignment with this id, else the role.
    pub async fn remove_role(&self, id: &str) -> RolesResult {
        let id = id.to_owned();
        self.change_roles(move |txn| match roles::remove_assignment(txn, &id) {
            Err(RoleError::NoAssignment(_)) => roles::remove_definition(txn, &id),
            other => other,
        })
        .await
    }

    /// Requests are authorized by the change from its response on. Like [`write_catalog`](Self::write_catalog) it runs
    /// to completion even if the caller stops waiting, so that no role is removed on disk only.
    async fn change_roles(
        &self,
        change: impl Fn(&mut Txn<'_>) -> Result<(), RoleError> + Send + 'static,
    ) -> RolesResult {
        let store = self.clone();
        let task = tokio::task::spawn_blocking(move || {
            store.write_blocking(Scope::Catalog, change)?;
            store.role_cache().refresh(&store).map_err(WriteError::Engine)
        });
        task.await.unwrap_or(Err(WriteError::Stopping))
    }
}
