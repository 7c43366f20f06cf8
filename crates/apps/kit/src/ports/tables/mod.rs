//! The port for tables: what a service may ask of the tables of a storage account, which is what Azure promises and no
//! more.
//!
//! ```text
//! types      entities, writes, queries, pages
//! embedded   the store of this process
//! remote     an account over the wire: another Orrery's, or Azure's
//! ```

mod embedded;
mod remote;
mod types;

pub use super::StoreError;
pub use embedded::Embedded;
pub use remote::Remote;
pub use types::{DateTime, Entity, FoundEntity, Guid, Page, Query, Ticks, Value, Write};

/// Where a service keeps its entities: one account, by either adapter. A cheap handle.
///
/// What a request over the wire needs is large and would be part of every future that may make one, so it is boxed.
#[derive(Clone)]
pub enum Tables {
    Embedded(Embedded),
    Remote(Remote),
}

impl Tables {
    /// Makes the tables that are missing.
    pub async fn ensure(&self, tables: &[&str]) -> Result<(), StoreError> {
        match self {
            Self::Embedded(store) => store.ensure(tables).await,
            Self::Remote(store) => Box::pin(store.ensure(tables)).await,
        }
    }

    pub async fn read(
        &self,
        table: &str,
        partition_key: &str,
        row_key: &str,
    ) -> Result<Option<FoundEntity>, StoreError> {
        match self {
            Self::Embedded(store) => store.read(table, partition_key, row_key),
            Self::Remote(store) => Box::pin(store.read(table, partition_key, row_key)).await,
        }
    }

    /// One write. Gives the version that it made; none after a delete.
    pub async fn write(&self, table: &str, write: &Write) -> Result<Option<String>, StoreError> {
        match self {
            Self::Embedded(store) => store.write(table, write).await,
            Self::Remote(store) => Box::pin(store.write(table, write)).await,
        }
    }

    /// All of the writes or none, in one partition, each of another entity; at most 100. The error is that of the first that
    /// was refused.
    pub async fn batch(&self, table: &str, writes: &[Write]) -> Result<Vec<Option<String>>, StoreError> {
        match self {
            Self::Embedded(store) => store.batch(table, writes).await,
            Self::Remote(store) => Box::pin(store.batch(table, writes)).await,
        }
    }

    /// One page of entities in the order of their keys. A page may be empty and go on.
    pub async fn query(&self, table: &str, query: &Query) -> Result<Page, StoreError> {
        match self {
            Self::Embedded(store) => store.query(table, query),
            Self::Remote(store) => Box::pin(store.query(table, query)).await,
        }
    }
}
