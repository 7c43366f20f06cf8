//! The containers of the newest durable state, kept in memory: every request looks one up.

use orrery_blobs::ContainerId;
use orrery_blobs::containers::{self, Container};
use orrery_catalog::storage::AccountName;
use orrery_kv::{Error, Snapshot};
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};

type Containers = HashMap<AccountName, BTreeMap<String, Arc<Container>>>;

pub(crate) struct ContainerCache(RwLock<Containers>);

impl ContainerCache {
    pub fn load(snapshot: &Snapshot) -> Result<Self, Error> {
        let mut all = Containers::default();
        for container in containers::all(snapshot)? {
            let of_account = all.entry(container.id.account.clone()).or_default();
            of_account.insert(container.id.name.as_str().to_owned(), Arc::new(container));
        }
        Ok(Self(RwLock::new(all)))
    }

    pub fn get(&self, id: &ContainerId) -> Option<Arc<Container>> {
        self.read().get(&id.account)?.get(id.name.as_str()).cloned()
    }

    /// The containers of an account from a name on, in order.
    pub fn of_account(&self, account: &AccountName, from: &str) -> Vec<Arc<Container>> {
        let all = self.read();
        let Some(of_account) = all.get(account) else { return Vec::new() };
        of_account
            .range::<str, _>((std::ops::Bound::Included(from), std::ops::Bound::Unbounded))
            .map(|(_, found)| found.clone())
            .collect()
    }

    pub fn all(&self) -> Vec<Arc<Container>> {
        self.read().values().flat_map(BTreeMap::values).cloned().collect()
    }

    /// Reads one container from the newest snapshot. One at a time, so that an older definition never replaces a newer.
    pub fn refresh(&self, id: &ContainerId, newest: impl Fn() -> Arc<Snapshot>) -> Result<(), Error> {
        let mut all = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let found = containers::load(&*newest(), id)?;
        let of_account = all.entry(id.account.clone()).or_default();
        match found {
            Some(container) => drop(of_account.insert(id.name.as_str().to_owned(), Arc::new(container))),
            None => drop(of_account.remove(id.name.as_str())),
        }
        Ok(())
    }

    fn read(&self) -> RwLockReadGuard<'_, Containers> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }
}
