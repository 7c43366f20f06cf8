//! Containers and items through the store, as a server would.

use crate::audit::{self, Tally};
use orrery_core::{DatabaseName, ETag, Env, Timestamp};
use orrery_document_store::{Committed, JobError, Jobs, Progress, Scope, Store, WriteError};
use orrery_documents::Stamp;
use orrery_documents::catalog::{self, Container};
use orrery_documents::definition::ContainerDefinition;
use orrery_documents::item::{
    self, FeedScope, ItemError, Preconditions, PreparedItem, Target, prepare, read_feed,
};
use orrery_keys::Epk;
use orrery_kv::{Engine, Sync, Txn};
use std::sync::Arc;
use std::time::Duration;

pub const START: Timestamp = Timestamp::from_seconds(1_000_000);

pub struct Shop {
    pub store: Store,
    runtime: tokio::runtime::Runtime,
}

type Answer<T> = Result<Committed<T>, WriteError<ItemError>>;

impl Shop {
    /// An empty store with the database `shop`.
    pub fn new(engine: impl Engine + 'static, sync: Sync, seed: u64) -> Self {
        let shop = Self::over(engine, sync, Env::seeded(START, seed));
        let (name, stamp) = (DatabaseName::parse("shop").unwrap(), shop.stamp());
        shop.change(move |txn| catalog::create_database(txn, &name, None, stamp));
        shop
    }

    /// A store that was there before.
    pub fn over(engine: impl Engine + 'static, sync: Sync, env: Env) -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        Self { store: open_at(engine, sync, env), runtime }
    }

    pub fn change<T: Send + 'static, E: std::fmt::Debug + Send + 'static>(
        &self,
        body: impl Fn(&mut Txn<'_>) -> Result<T, E> + Send + 'static,
    ) -> T {
        self.runtime.block_on(self.store.write_catalog(body)).unwrap().value
    }

    pub fn stamp(&self) -> Stamp {
        let env = self.store.env();
        Stamp { now: env.now(), etag: ETag::from_u128(env.random_u128()), partition_bytes_max: u64::MAX }
    }

    pub fn advance(&self, seconds: u64) {
        self.store.env().advance(Duration::from_secs(seconds)).unwrap();
    }

    pub fn create_container(&self, name: &str, ttl: Option<i64>) -> Arc<Container> {
        let (definition, stamp) = (ContainerDefinition::parse(body(name, ttl)).unwrap(), self.stamp());
        self.change(move |txn| catalog::create_container(txn, "shop", &definition, None, stamp));
        self.container(name)
    }

    pub fn set_ttl(&self, name: &str, ttl: Option<i64>) -> Arc<Container> {
        let (body, stamp, owned) = (body(name, ttl), self.stamp(), name.to_owned());
        let replace = move |txn: &mut Txn<'_>| {
            catalog::replace_container(txn, "shop", &owned, body.clone(), Preconditions::default(), stamp)
        };
        self.change(replace);
        self.container(name)
    }

    pub fn drop_container(&self, name: &str) {
        let name = name.to_owned();
        self.change(move |txn| catalog::delete_container(txn, "shop", &name, Preconditions::default()));
    }

    pub fn container(&self, name: &str) -> Arc<Container> {
        let catalog = self.store.catalog();
        catalog.container(catalog.database("shop").unwrap().rid, name).unwrap().clone()
    }

    pub fn create(&self, container: &Container, item: &PreparedItem) -> Answer<()> {
        let (stamp, ordinal) = (self.stamp(), self.store.next_ordinal());
        self.write(container, &item.epk, |txn| {
            item::create(txn, container, item, stamp, || ordinal).map(drop)
        })
    }

    pub fn upsert(&self, container: &Container, item: &PreparedItem) -> Answer<()> {
        let (stamp, ordinal, always) = (self.stamp(), self.store.next_ordinal(), Preconditions::default());
        self.write(container, &item.epk, |txn| {
            item::upsert(txn, container, item, always, stamp, || ordinal).map(drop)
        })
    }

    pub fn replace(&self, container: &Container, target: &Target, item: &PreparedItem) -> Answer<()> {
        let (stamp, always) = (self.stamp(), Preconditions::default());
        self.write(container, &target.epk, |txn| {
            item::replace(txn, container, target, item, always, stamp).map(drop)
        })
    }

    pub fn delete(&self, container: &Container, target: &Target) -> Answer<()> {
        let (stamp, always) = (self.stamp(), Preconditions::default());
        self.write(container, &target.epk, |txn| {
            item::delete(txn, container, target, always, stamp).map(drop)
        })
    }

    fn write(
        &self,
        container: &Container,
        epk: &Epk,
        body: impl Fn(&mut Txn<'_>) -> Result<(), ItemError>,
    ) -> Answer<()> {
        let scope = Scope::Partition { container: container.number(), epk: epk.as_bytes() };
        self.store.write_blocking(scope, body)
    }

    /// The texts of all items that are there now.
    pub fn texts(&self, container: &Container) -> Vec<String> {
        let everything = FeedScope::Between(Epk::start(), Epk::end());
        let page = orrery_query::execute::Limits { items: 10_000, bytes: usize::MAX };
        let now = self.store.env().now();
        let page = read_feed(&*self.store.snapshot(), container, &everything, None, page, now).unwrap();
        page.items.iter().map(|item| item.text().to_owned()).collect()
    }

    /// One round of background jobs.
    pub fn round(&self) -> Result<Progress, JobError> {
        let mut jobs = Jobs::default();
        self.store.register_jobs(&mut jobs);
        jobs.round()
    }

    /// Rounds of background jobs until nothing is left. Says how many there were.
    pub fn settle(&self) -> usize {
        let round = |_: &usize| self.round().unwrap() == Progress::Idle;
        1 + (0..1000).find(round).expect("the work comes to an end")
    }

    pub fn audit(&self) -> Tally {
        let snapshot = self.store.snapshot();
        audit::audit(&*snapshot, snapshot.lsn())
    }
}

pub fn open_at(engine: impl Engine + 'static, sync: Sync, env: Env) -> Store {
    Store::standalone(engine, env, sync).unwrap()
}

/// A container with a partition key and a unique key.
fn body(name: &str, ttl: Option<i64>) -> serde_json::Map<String, serde_json::Value> {
    let mut body = serde_json::json!({
        "id": name,
        "partitionKey": {"paths": ["/pk"]},
        "uniqueKeyPolicy": {"uniqueKeys": [{"paths": ["/email"]}]},
    });
    if let Some(ttl) = ttl {
        body["defaultTtl"] = ttl.into();
    }
    body.as_object().unwrap().clone()
}

pub fn prepared(container: &Container, body: &str) -> PreparedItem {
    prepare(container, body.as_bytes()).unwrap()
}
