//! The port for documents: the operations that a service may use, limited to those that Cosmos DB offers.
//!
//! ```text
//! types      items, writes, queries, pages, errors
//! checks     what is checked whichever adapter executes a request
//! embedded   the store of this process
//! remote     an endpoint over the wire: another Orrery, or Azure
//! ```

mod checks;
mod embedded;
mod remote;
mod types;

pub use embedded::Embedded;
pub use remote::{Credential, Remote, RemoteOptions};
pub use types::{Changes, Cursor, Item, ItemKey, ItemsFound, Layout, Page, Query, StoreError, Write};

/// A service's document store: one database, through either adapter. A cheap handle.
///
/// The futures of requests over the wire are large and would enlarge every future that may contain one, so
/// they are boxed.
#[derive(Clone)]
pub enum Documents {
    Embedded(Embedded),
    Remote(Remote),
}

impl Documents {
    /// Creates the missing parts of the database and its containers; existing ones stay unchanged.
    pub async fn ensure(&self, layout: &[Layout]) -> Result<(), StoreError> {
        match self {
            Self::Embedded(store) => store.ensure(layout).await,
            Self::Remote(store) => Box::pin(store.ensure(layout)).await,
        }
    }

    /// Whether the container may exist. Sends no request: a remote store is assumed to have it.
    pub fn may_have(&self, container: &str) -> bool {
        match self {
            Self::Embedded(store) => store.has(container),
            Self::Remote(_) => true,
        }
    }

    pub async fn read(&self, container: &str, partition: &str, id: &str) -> Result<Option<Item>, StoreError> {
        match self {
            Self::Embedded(store) => store.read(container, partition, id).await,
            Self::Remote(store) => Box::pin(store.read(container, partition, id)).await,
        }
    }

    /// The items of these keys, of any partitions: at most 1,000, and 32 MB of them. A missing item is left out, and
    /// one that is named twice is returned once. Items of one partition are of one state; across partitions that is
    /// not promised.
    pub async fn read_many(&self, container: &str, keys: &[ItemKey]) -> Result<ItemsFound, StoreError> {
        let keys = checks::distinct(keys)?;
        match self {
            _ if keys.is_empty() => Ok(ItemsFound::default()),
            Self::Embedded(store) => store.read_many(container, &keys).await,
            Self::Remote(store) => Box::pin(store.read_many(container, &keys)).await,
        }
    }

    /// One write. Returns the item as it is now; none after a delete.
    pub async fn write(
        &self,
        container: &str,
        partition: &str,
        write: Write,
    ) -> Result<Option<Item>, StoreError> {
        match self {
            Self::Embedded(store) => store.write(container, partition, write).await,
            Self::Remote(store) => Box::pin(store.write(container, partition, write)).await,
        }
    }

    /// Executes all writes or none, in one partition; at most 100. The error is that of the first write
    /// refused.
    pub async fn batch(
        &self,
        container: &str,
        partition: &str,
        writes: Vec<Write>,
    ) -> Result<Vec<Option<Item>>, StoreError> {
        checks::batch(&writes)?;
        match self {
            _ if writes.is_empty() => Ok(Vec::new()),
            Self::Embedded(store) => store.batch(container, partition, writes).await,
            Self::Remote(store) => Box::pin(store.batch(container, partition, writes)).await,
        }
    }

    /// One page of rows, of one partition or of all. A page may be empty although more follow.
    pub async fn query(
        &self,
        container: &str,
        partition: Option<&str>,
        query: &Query,
    ) -> Result<Page, StoreError> {
        match self {
            Self::Embedded(store) => store.query(container, partition, query).await,
            Self::Remote(store) => Box::pin(store.query(container, partition, query)).await,
        }
    }

    /// The items changed since the cursor, each in its current version, in order; of one partition or
    /// of all. Without a cursor, from the beginning. If nothing changed, the page is empty but has a
    /// cursor.
    pub async fn changes(
        &self,
        container: &str,
        partition: Option<&str>,
        since: Option<&Cursor>,
        items_max: usize,
    ) -> Result<Changes, StoreError> {
        match self {
            Self::Embedded(store) => store.changes(container, partition, since, items_max).await,
            Self::Remote(store) => Box::pin(store.changes(container, partition, since, items_max)).await,
        }
    }

    /// A cursor at the current end of the changes, without reading them: it covers changes made after
    /// this call.
    pub async fn end_of_changes(
        &self,
        container: &str,
        partition: Option<&str>,
    ) -> Result<Cursor, StoreError> {
        match self {
            Self::Embedded(store) => store.end_of_changes(container, partition),
            Self::Remote(store) => Box::pin(store.end_of_changes(container, partition)).await,
        }
    }
}
