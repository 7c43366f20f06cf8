//! The store of this process, without HTTP: the same functions that the protocol's handlers call.
//!
//! ```text
//! ensure    the database and its containers
//! items     read, single writes, batches: on the caller's task, since they take microseconds and wait for a sync
//! query     as the store runs queries, at once or on a thread that may block
//! changes   on such a thread
//! token     continuations, under a MAC, because they go out to clients
//! errors    what the layers below say, as the port says it
//! ```
//!
//! Nothing of request units: who is in the process is not throttled. Charges are told all the same.

mod changes;
mod ensure;
mod errors;
mod items;
mod query;
mod token;

use super::types::{Changes, Cursor, Item, Layout, Page, Query, StoreError, Write};
use orrery_core::{ETag, limits};
use orrery_document_store::Store;
use orrery_documents::Stamp;
use orrery_documents::catalog::Container;
use orrery_keys::{Epk, epk};
use orrery_value::Value as Datum;
use std::sync::Arc;
use token::Tokens;

/// A database of the process's own store. A cheap handle.
#[derive(Clone)]
pub struct Embedded(Arc<Inner>);

#[derive(Clone)]
struct Inner {
    store: Store,
    database: String,
    tokens: Tokens,
    partition_bytes_max: u64,
    is_serverless: bool,
}

impl Embedded {
    /// `secret` is one of this data folder, for continuations; `partition_bytes_max` is what one logical partition may hold.
    pub fn new(store: Store, database: &str, secret: [u8; 32], partition_bytes_max: u64) -> Self {
        Self(Arc::new(Inner {
            store,
            database: database.to_owned(),
            tokens: Tokens::new(&secret),
            partition_bytes_max,
            is_serverless: false,
        }))
    }

    /// The same in an account that provisions nothing: new containers get no throughput of their own.
    pub fn serverless(self) -> Self {
        Self(Arc::new(Inner { is_serverless: true, ..(*self.0).clone() }))
    }

    pub async fn ensure(&self, layout: &[Layout]) -> Result<(), StoreError> {
        ensure::run(&self.0, layout).await
    }

    pub fn has(&self, container: &str) -> bool {
        self.0.container(container).is_ok()
    }

    pub async fn read(&self, container: &str, partition: &str, id: &str) -> Result<Option<Item>, StoreError> {
        items::read(&self.0, container, partition, id)
    }

    pub async fn write(
        &self,
        container: &str,
        partition: &str,
        write: Write,
    ) -> Result<Option<Item>, StoreError> {
        items::write(&self.0, container, partition, write).await
    }

    pub async fn batch(
        &self,
        container: &str,
        partition: &str,
        writes: Vec<Write>,
    ) -> Result<Vec<Option<Item>>, StoreError> {
        items::batch(&self.0, container, partition, writes).await
    }

    pub async fn query(
        &self,
        container: &str,
        partition: Option<&str>,
        query: &Query,
    ) -> Result<Page, StoreError> {
        query::page(&self.0, container, partition, query).await
    }

    pub async fn changes(
        &self,
        container: &str,
        partition: Option<&str>,
        since: Option<&Cursor>,
        items_max: usize,
    ) -> Result<Changes, StoreError> {
        changes::page(&self.0, container, partition, since, items_max).await
    }

    pub fn end_of_changes(&self, container: &str, partition: Option<&str>) -> Result<Cursor, StoreError> {
        changes::end(&self.0, container, partition)
    }
}

impl Inner {
    fn container(&self, name: &str) -> Result<Arc<Container>, StoreError> {
        let catalog = self.store.catalog();
        let database = catalog.database(&self.database);
        let found = database.and_then(|database| catalog.container(database.rid, name)).cloned();
        found.ok_or_else(|| errors::no_container(&self.database, name))
    }

    /// The moment and the tag of a new version.
    fn stamp(&self) -> Stamp {
        let env = self.store.env();
        let etag = ETag::from_u128(env.random_u128());
        Stamp { now: env.now(), etag, partition_bytes_max: self.partition_bytes_max }
    }

    /// Whether the container of a write that was refused because of it is still there. Then it came to be indexed in another
    /// way or to have another schema meanwhile, and the write is decided again.
    fn is_there(&self, container: &Container) -> Result<bool, StoreError> {
        let catalog = self.store.refresh_catalog().map_err(errors::engine)?;
        Ok(catalog.container_by_number(container.number()).is_some())
    }
}

/// Where the items of a partition lie.
fn place(container: &Container, partition: &str) -> Result<Epk, StoreError> {
    if container.definition().partition_key().paths().len() != 1 {
        return Err(errors::refused(
            400,
            "the container's partition key has several levels; services use one",
        ));
    }
    if partition.len() > limits::PARTITION_KEY_BYTES_MAX {
        return Err(errors::refused(400, "the partition key is too long"));
    }
    Ok(epk(container.hashing(), &[Datum::String(partition.to_owned())]))
}
