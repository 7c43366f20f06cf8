//! Operations on tables themselves. Reads are answered from memory, which shows a change as soon as it is answered here.

use crate::error::Error;
use crate::handle::TableHandle;
use crate::scope;
use crate::store::TableStore;
use orrery_catalog::storage::{AccountName, SignedIdentifiers, TableName};
use orrery_kv::Txn;
use orrery_tables::{Filter, TableError, limits, table};
use orrery_txn::{Scope, WriteError};

#[derive(Clone, Debug, Default)]
pub struct TableListRequest {
    /// Of `TableName` alone.
    pub filter: Option<Filter>,
    /// Tables of a page; at most [`limits::PAGE_ROWS_MAX`], which is also what there are without it.
    pub top: Option<usize>,
    /// Where the page before ended.
    pub from: Option<String>,
}

#[derive(Clone, Debug)]
pub struct TableList {
    /// In the order of their names in lower case.
    pub tables: Vec<TableHandle>,
    pub next: Option<String>,
}

impl TableStore {
    /// A table by its name, whatever the case.
    pub fn table(&self, account: &AccountName, name: &TableName) -> Result<TableHandle, Error> {
        self.0.catalog.get(account, name).ok_or(Error::TableNotFound)
    }

    /// Every table of every account.
    pub fn all_tables(&self) -> Vec<TableHandle> {
        self.0.catalog.all()
    }

    pub fn list_tables(&self, account: &AccountName, request: &TableListRequest) -> TableList {
        let top = request.top.unwrap_or(limits::PAGE_ROWS_MAX).min(limits::PAGE_ROWS_MAX);
        let from = request.from.as_deref().unwrap_or_default().to_ascii_lowercase();
        let is_wanted = |name: &str| request.filter.as_ref().is_none_or(|filter| filter.matches_table(name));
        let mut list = TableList { tables: Vec::new(), next: None };
        if top == 0 {
            return list;
        }
        self.0.catalog.scan(account, &from, |folded_name, table| {
            if !is_wanted(table.name.as_str()) {
                return true;
            }
            if list.tables.len() == top {
                list.next = Some(folded_name.to_owned());
                return false;
            }
            list.tables.push(table.clone());
            true
        });
        list
    }

    pub async fn create_table(&self, account: &AccountName, name: &TableName) -> Result<TableHandle, Error> {
        let now = self.env().now();
        let create = move |txn: &mut Txn<'_>, account: &AccountName, name: &TableName| {
            table::create(txn, account, name, now).map(drop)
        };
        // It may have been dropped at once.
        self.change_table(account, name, create).await?.ok_or(Error::TableNotFound)
    }

    /// At once; the rows are removed in the background.
    pub async fn delete_table(&self, account: &AccountName, name: &TableName) -> Result<(), Error> {
        self.change_table(account, name, table::delete).await?;
        Ok(())
    }

    pub async fn set_access_policies(
        &self,
        account: &AccountName,
        name: &TableName,
        policies: SignedIdentifiers,
    ) -> Result<(), Error> {
        let set = move |txn: &mut Txn<'_>, account: &AccountName, name: &TableName| {
            table::set_access_policies(txn, account, name, policies.clone())
        };
        self.change_table(account, name, set).await?;
        Ok(())
    }

    /// Changes a definition and answers when the change is durable and shown. Runs to its end on a thread of its own even
    /// if the caller stops waiting, so that the two never part.
    async fn change_table(
        &self,
        account: &AccountName,
        name: &TableName,
        body: impl Fn(&mut Txn<'_>, &AccountName, &TableName) -> Result<(), TableError> + Send + 'static,
    ) -> Result<Option<TableHandle>, Error> {
        let (store, account, name) = (self.clone(), account.clone(), name.clone());
        let task = tokio::task::spawn_blocking(move || {
            let change = |txn: &mut Txn<'_>| body(txn, &account, &name);
            store.txns().write_blocking(Scope::new(&scope::CATALOG), change)?;
            store.0.catalog.refresh(&account, &name, || store.snapshot()).map_err(WriteError::Engine)
        });
        Ok(task.await.unwrap_or(Err(WriteError::Stopping))?)
    }
}
