//! A database over the wire: another Orrery, or Azure Cosmos DB. `crates/client` sends, signs and parses;
//! this module handles retries, session tokens, and the positions of queries and feeds.
//!
//! ```text
//! call       sends a request, repeats it where that is safe, within a time limit
//! session    what was seen of each container, so that reads see the writes of this process
//! ranges     the physical partitions of a container
//! parts      a position in each of them, as they split
//! errors     statuses as the port's errors
//! ensure, items, read_many, query, changes   the operations
//! merged     queries whose ranges must be merged, by the store or here
//! ```
//!
//! Requests that may be repeated: reads, and writes whose second execution would be refused (a create,
//! anything under an etag, a batch with one of these). A repeated write may return `Conflict` or `Changed`
//! although its first execution succeeded: services derive ids from their input and read again. Any other
//! request without a response is `Unavailable`, executed or not. 429 and 449 mean that nothing was executed,
//! and any request is repeated.

mod call;
mod changes;
mod ensure;
mod errors;
mod items;
mod merged;
mod parts;
mod query;
mod ranges;
mod read_many;
mod session;

use super::types::{Changes, Cursor, Item, ItemKey, ItemsFound, Layout, Page, Query, StoreError, Write};
use crate::http::{Trust, Versions};
use crate::limits;
use orrery_client::{Account, Address, Host};
use orrery_core::Env;
use ranges::Ranges;
use session::Sessions;
use std::sync::Arc;
use std::time::Duration;

/// How to reach a store.
#[derive(Clone)]
pub struct RemoteOptions {
    /// `https://account.documents.azure.com:443`, `http://127.0.0.1:8081`.
    pub endpoint: String,
    pub database: String,
    pub credential: Credential,
    pub trust: Trust,
}

#[derive(Clone)]
pub enum Credential {
    /// An account key, in Base64.
    Key(String),
    /// A bearer token; requested for every request, so that its source can renew it.
    Token(Arc<dyn Fn() -> String + Send + Sync>),
}

impl Credential {
    fn signer(self) -> Result<orrery_client::Credential, String> {
        match self {
            Self::Token(token) => Ok(orrery_client::Credential::Token(token)),
            Self::Key(key) => orrery_client::Credential::key(&key)
                .map_err(|_| "the store's key is not Base64; copy it as the account shows it".to_owned()),
        }
    }
}

/// A database over the wire. A cheap handle.
#[derive(Clone)]
pub struct Remote {
    inner: Arc<Inner>,
    /// The time limit of one operation including its retries.
    patience: Duration,
    /// Whether an Orrery store is asked to merge ranges itself.
    has_shortcut: bool,
}

struct Inner {
    account: Account,
    env: Env,
    database: String,
    sessions: Sessions,
    ranges: Ranges,
}

impl Remote {
    /// Connects with the first operation. `env` supplies the signed dates, which a store compares with
    /// its own clock.
    pub fn new(options: RemoteOptions, env: Env) -> Result<Self, String> {
        let RemoteOptions { endpoint, database, credential, trust } = options;
        let address = Address::parse("the endpoint", &endpoint)?;
        let host = Host::trusting(address, trust, Versions::Any)?;
        let inner = Inner {
            account: Account::at(host, credential.signer()?),
            env,
            database,
            sessions: Sessions::default(),
            ranges: Ranges::default(),
        };
        let patience = Duration::from_secs(limits::SERVICE_STORE_SECONDS_MAX);
        Ok(Self { inner: Arc::new(inner), patience, has_shortcut: true })
    }

    /// Variant with another time limit for one operation.
    pub fn with_time_limit(self, patience: Duration) -> Self {
        Self { patience, ..self }
    }

    /// Variant that always merges ranges itself, as it must on Azure.
    pub fn merging(self) -> Self {
        Self { has_shortcut: false, ..self }
    }

    pub async fn ensure(&self, layout: &[Layout]) -> Result<(), StoreError> {
        ensure::run(self, layout).await
    }

    pub async fn read(&self, container: &str, partition: &str, id: &str) -> Result<Option<Item>, StoreError> {
        items::read(self, container, partition, id).await
    }

    pub async fn read_many(&self, container: &str, keys: &[&ItemKey]) -> Result<ItemsFound, StoreError> {
        read_many::run(self, container, keys).await
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
        items::batch(self, container, partition, &writes).await
    }

    /// Across partitions the rows of the ranges are concatenated; `ORDER BY`, `TOP`, `OFFSET`,
    /// `DISTINCT`, `GROUP BY` and aggregates are merged, by the store if it can or here.
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

    pub async fn end_of_changes(
        &self,
        container: &str,
        partition: Option<&str>,
    ) -> Result<Cursor, StoreError> {
        changes::end(self, container, partition).await
    }
}
