//! The store of this process, without HTTP: calls the same functions as the protocol's handlers.
//!
//! ```text
//! ensure    the database and its containers
//! items     read, single writes, batches
//! query     pages of rows
//! changes   the change feed
//! errors    the store's errors as the port's
//! ```

mod changes;
mod ensure;
mod errors;
mod items;
mod query;

use super::types::{Changes, Cursor, Item, ItemKey, ItemsFound, Layout, Page, Query, StoreError, Write};
use orrery_document_store::Store;
use orrery_documents::catalog::Container;
use orrery_documents::limits;
use orrery_keys::{Epk, epk};
use orrery_value::Value as Datum;
use std::sync::Arc;

/// A database of the process's own store. A cheap handle.
#[derive(Clone)]
pub struct Embedded(Arc<Inner>);

struct Inner {
    store: Store,
    database: String,
}

impl Embedded {
    pub fn new(store: Store, database: &str) -> Self {
        Self(Arc::new(Inner { store, database: database.to_owned() }))
    }

    fn store(&self) -> &Store {
        &self.0.store
    }

    fn database(&self) -> &str {
        &self.0.database
    }

    fn container(&self, name: &str) -> Result<Arc<Container>, StoreError> {
        self.0.store.container(&self.0.database, name).map_err(errors::store)
    }

    pub async fn ensure(&self, layout: &[Layout]) -> Result<(), StoreError> {
        ensure::run(self, layout).await
    }

    pub fn has(&self, container: &str) -> bool {
        self.container(container).is_ok()
    }

    pub async fn read(&self, container: &str, partition: &str, id: &str) -> Result<Option<Item>, StoreError> {
        items::read(self, container, partition, id).await
    }

    pub async fn read_many(&self, container: &str, keys: &[&ItemKey]) -> Result<ItemsFound, StoreError> {
        items::read_many(self, container, keys).await
    }

    pub async fn write(
        &self,
        container: &str,
        partition: &str,
        write: Write,
    ) -> Result<Option<Item>, StoreError> {
        items::write(self, container, partition, write).await
    }

    pub async fn batch(
        &self,
        container: &str,
        partition: &str,
        writes: Vec<Write>,
    ) -> Result<Vec<Option<Item>>, StoreError> {
        items::batch(self, container, partition, writes).await
    }

    pub async fn query(
        &self,
        container: &str,
        partition: Option<&str>,
        query: &Query,
    ) -> Result<Page, StoreError> {
        query::page(self, container, partition, query).await
    }

    pub async fn changes(
        &self,
        container: &str,
        partition: Option<&str>,
        since: Option<&Cursor>,
        items_max: usize,
    ) -> Result<Changes, StoreError> {
        changes::page(self, container, partition, since, items_max).await
    }

    pub fn end_of_changes(&self, container: &str, partition: Option<&str>) -> Result<Cursor, StoreError> {
        changes::end(self, container, partition)
    }
}

/// The location of a partition's items.
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
