//! The tables of the newest durable state, kept in memory: every request looks one up.

use crate::handle::TableHandle;
use orrery_catalog::storage::{AccountName, TableName};
use orrery_kv::{Error, Snapshot};
use orrery_tables::table;
use std::collections::{BTreeMap, HashMap};
use std::ops::Bound::{Included, Unbounded};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};

/// The tables of each account, by their names in lower case.
type Tables = HashMap<AccountName, BTreeMap<String, TableHandle>>;

pub(crate) struct CatalogCache(RwLock<Tables>);

impl CatalogCache {
    pub fn load(snapshot: &Snapshot) -> Result<Self, Error> {
        let mut tables = Tables::default();
        for table in table::all(snapshot)? {
            let of_account = tables.entry(table.account.clone()).or_default();
            of_account.insert(table.name.folded(), TableHandle::new(table, Arc::default()));
        }
        Ok(Self(RwLock::new(tables)))
    }

    pub fn get(&self, account: &AccountName, name: &TableName) -> Option<TableHandle> {
        self.read().get(account)?.get(&name.folded()).cloned()
    }

    /// The tables of an account from a name on, in order, as long as `take` wants more.
    pub fn scan(&self, account: &AccountName, from: &str, mut take: impl FnMut(&str, &TableHandle) -> bool) {
        let tables = self.read();
        let Some(of_account) = tables.get(account) else { return };
        for (name, table) in of_account.range::<str, _>((Included(from), Unbounded)) {
            if !take(name, table) {
                return;
            }
        }
    }

    pub fn all(&self) -> Vec<TableHandle> {
        self.read().values().flat_map(BTreeMap::values).cloned().collect()
    }

    /// Reads one table from the newest snapshot. One at a time, so that an older definition never replaces a newer.
    pub fn refresh(
        &self,
        account: &AccountName,
        name: &TableName,
        newest: impl Fn() -> Arc<Snapshot>,
    ) -> Result<Option<TableHandle>, Error> {
        let mut tables = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let found = table::load(&*newest(), account, name)?;
        let of_account = tables.entry(account.clone()).or_default();
        let Some(table) = found else {
            of_account.remove(&name.folded());
            return Ok(None);
        };
        let known = of_account.get(&name.folded()).filter(|known| known.number() == table.number());
        let usage = known.map(|known| known.usage().clone()).unwrap_or_default();
        let handle = TableHandle::new(table, usage);
        of_account.insert(name.folded(), handle.clone());
        Ok(Some(handle))
    }

    fn read(&self) -> RwLockReadGuard<'_, Tables> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }
}
