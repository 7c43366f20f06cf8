//! A store with a clock that stands still, and short names for what tests do with it.

use orrery_catalog::storage::{AccountName, SignedIdentifiers, TableName};
use orrery_core::{Env, Timestamp};
use orrery_kv::{Engine, KeyRange, MemoryEngine, Order, Read, Sync};
use orrery_table_store::model::spaces::{ENTITIES, LOG, SPACES};
use orrery_table_store::model::{
    Entity, EntityBuilder, EntityKey, EntityOperation, EntityRow, Filter, GroupTransaction, Query, QueryPage,
    Value, Written,
};
use orrery_table_store::{Error, TableHandle, TableStore};
use orrery_txn::{JobError, Jobs, Progress};
use std::time::Duration;

pub const START: Timestamp = Timestamp::from_seconds(1_000_000);

pub struct Harness {
    pub store: TableStore,
    pub runtime: tokio::runtime::Runtime,
}

pub fn account() -> AccountName {
    AccountName::parse("devstoreaccount1").unwrap()
}

pub fn name(name: &str) -> TableName {
    TableName::parse(name).unwrap()
}

pub fn key(partition_key: &str, row_key: &str) -> EntityKey {
    EntityKey::parse(partition_key, row_key).unwrap()
}

/// With one number in it.
pub fn entity(partition_key: &str, row_key: &str, n: i64) -> Entity {
    let mut entity = EntityBuilder::new();
    entity.push("n", Value::Int64(n).as_ref()).unwrap();
    entity.finish(key(partition_key, row_key)).unwrap()
}

pub fn number(entity: &EntityRow) -> i64 {
    match entity.property("n").unwrap().to_value() {
        Value::Int64(n) => n,
        other => panic!("{other:?}"),
    }
}

impl Harness {
    pub fn new() -> Self {
        Self::over(MemoryEngine::new(&SPACES), Sync::Data, Env::seeded(START, 1))
    }

    pub fn over(engine: impl Engine + 'static, sync: Sync, env: Env) -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        Self { store: TableStore::standalone(engine, env, sync).unwrap(), runtime }
    }

    pub fn create(&self, table: &str) -> TableHandle {
        self.runtime.block_on(self.store.create_table(&account(), &name(table))).unwrap()
    }

    pub fn drop_table(&self, table: &str) -> Result<(), Error> {
        self.runtime.block_on(self.store.delete_table(&account(), &name(table)))
    }

    pub fn set_policies(&self, table: &str, policies: SignedIdentifiers) -> Result<(), Error> {
        self.runtime.block_on(self.store.set_access_policies(&account(), &name(table), policies))
    }

    pub fn write(&self, table: &TableHandle, operation: &EntityOperation) -> Result<Written, Error> {
        self.runtime.block_on(self.store.write(table, operation))
    }

    pub fn insert(&self, table: &TableHandle, entity: Entity) -> Written {
        self.write(table, &EntityOperation::Insert(entity)).unwrap()
    }

    pub fn transact(
        &self,
        table: &TableHandle,
        operations: Vec<EntityOperation>,
    ) -> Result<Vec<Written>, Error> {
        let group = GroupTransaction::new(operations).unwrap();
        self.runtime.block_on(self.store.transact(table, &group))
    }

    pub fn query(&self, table: &TableHandle, filter: &str) -> QueryPage {
        let filter = (!filter.is_empty()).then(|| Filter::parse(filter).unwrap());
        self.store.query(table, &Query { filter, ..Query::default() }).unwrap()
    }

    pub fn advance(&self, seconds: u64) {
        self.store.env().advance(Duration::from_secs(seconds)).unwrap();
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

    /// Rows of entities, and entries of the log.
    pub fn counts(&self) -> (usize, usize) {
        let snapshot = self.store.snapshot();
        let count = |space| snapshot.range(space, &KeyRange::all(), Order::Ascending).count();
        (count(ENTITIES), count(LOG))
    }
}
