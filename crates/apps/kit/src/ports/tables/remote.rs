//! The tables of an account over the wire: another Orrery's, or Azure's. What is sent, how often it is tried, and what is
//! read of the answers is `crates/client`.
//!
//! A write that was tried twice may answer `Conflict` or `Changed` although its first run was what was wanted: services use
//! keys that follow from their input and read again.

use super::types::{FoundEntity, Page, Query, Write, continuation, read_continuation};
use crate::ports::StoreError;
use crate::ports::storage::{StorageOptions, refused, store_error};
use orrery_client::storage::tables::{Continuation, EntityQuery, Tables};
use orrery_core::Env;
use orrery_protocol::storage::Service;
use std::time::Duration;

/// A cheap handle.
#[derive(Clone)]
pub struct Remote(Tables);

impl Remote {
    pub fn new(options: StorageOptions, env: Env) -> Result<Self, String> {
        Ok(Self(Tables::new(options.endpoint(Service::Table, env)?)))
    }

    /// The same with another bound on how long one operation goes on trying.
    pub fn with_patience(&self, patience: Duration) -> Self {
        Self(Tables::new(self.0.endpoint().with_patience(patience)))
    }

    pub async fn ensure(&self, tables: &[&str]) -> Result<(), StoreError> {
        for table in tables {
            match self.0.create(table).await {
                Err(error) if error.code() != "TableAlreadyExists" => return Err(store_error(error)),
                _ => {}
            }
        }
        Ok(())
    }

    pub async fn read(
        &self,
        table: &str,
        partition_key: &str,
        row_key: &str,
    ) -> Result<Option<FoundEntity>, StoreError> {
        match self.0.get(table, partition_key, row_key, &[]).await.map_err(store_error) {
            Ok(found) => Ok(Some(found)),
            Err(StoreError::Missing) => Ok(None),
            Err(error) => Err(error),
        }
    }

    pub async fn write(&self, table: &str, write: &Write) -> Result<Option<String>, StoreError> {
        self.0.write(table, write).await.map_err(store_error)
    }

    pub async fn batch(&self, table: &str, writes: &[Write]) -> Result<Vec<Option<String>>, StoreError> {
        self.0.transact(table, writes).await.map_err(store_error)
    }

    pub async fn query(&self, table: &str, query: &Query) -> Result<Page, StoreError> {
        let from = query.continuation.as_deref().map(|text| {
            let read = read_continuation(text);
            let (partition_key, row_key) =
                read.ok_or_else(|| refused(400, "the continuation is none that a page gave"))?;
            Ok(Continuation { partition_key, row_key })
        });
        let query = EntityQuery {
            filter: query.filter.clone(),
            select: query.select.clone(),
            top: (query.entities_max > 0).then_some(query.entities_max),
            from: from.transpose()?,
        };
        let page = self.0.query(table, &query).await.map_err(store_error)?;
        let next = page.next.map(|next| continuation(&next.partition_key, next.row_key.as_deref()));
        Ok(Page { entities: page.entities, continuation: next })
    }
}
