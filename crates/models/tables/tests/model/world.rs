//! A store with one writer and a clock that stands still.

use orrery_catalog::storage::{AccountName, TableName};
use orrery_core::{Lsn, Timestamp};
use orrery_kv::{Batch, Db, MemoryEngine, Order, Outcome, Overlay, Read, Snapshot, Sync, Txn};
use orrery_tables::query::{self, Query, QueryPage};
use orrery_tables::spaces::{ENTITIES, LOG, SPACES};
use orrery_tables::{
    Entity, EntityBuilder, EntityError, EntityKey, EntityOperation, EntityRow, GroupError, GroupTransaction,
    Stamp, Table, Ticks, Value, Written, group, operations, row, table,
};
use std::sync::Arc;

pub const START: Timestamp = Timestamp::from_seconds(1_000_000);

pub struct World {
    db: Db,
    pub now: Timestamp,
    next_lsn: u64,
    pub table: Table,
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

pub fn entity(partition_key: &str, row_key: &str, properties: &[(&str, Value)]) -> Entity {
    let mut entity = EntityBuilder::new();
    properties.iter().for_each(|(name, value)| entity.push(name, value.as_ref()).unwrap());
    entity.finish(key(partition_key, row_key)).unwrap()
}

impl World {
    /// A store with one table.
    pub fn new() -> Self {
        let engine = MemoryEngine::new(&SPACES);
        let db = Db::open(Box::new(engine), Sync::Data).unwrap();
        let snapshot = db.snapshot();
        let nothing = Overlay::default();
        let mut txn = Txn::new(&snapshot, &nothing);
        let table = table::create(&mut txn, &account(), &name("Runs"), START).unwrap();
        let batch = txn.into_batch();
        let mut world = Self { db, now: START, next_lsn: 1, table };
        assert_eq!(world.commit(batch), Outcome::Committed);
        world
    }

    pub fn commit(&mut self, batch: Batch) -> Outcome {
        let lsn = Lsn(self.next_lsn);
        self.next_lsn += 1;
        self.db.commit(vec![batch.stamp(lsn)]).unwrap()[0]
    }

    /// Leaves out so many numbers of commits, as those that fail do.
    pub fn skip_commits(&mut self, count: u64) {
        self.next_lsn += count;
    }

    pub fn snapshot(&self) -> Arc<Snapshot> {
        self.db.snapshot()
    }

    /// One transaction; committed if it says so, forgotten if not.
    pub fn txn<T, E>(&mut self, body: impl FnOnce(&mut Txn<'_>) -> Result<T, E>) -> Result<T, E> {
        let (snapshot, nothing) = (self.db.snapshot(), Overlay::default());
        let mut txn = Txn::new(&snapshot, &nothing);
        let said = body(&mut txn)?;
        assert_eq!(self.commit(txn.into_batch()), Outcome::Committed);
        Ok(said)
    }

    fn stamp(&self) -> Stamp {
        Stamp { now: self.now, ticks: Ticks::at(self.now) }
    }

    pub fn apply(&mut self, operation: &EntityOperation) -> Result<Written, EntityError> {
        let (table, stamp) = (self.table.clone(), self.stamp());
        self.txn(|txn| operations::apply(txn, &table, operation, stamp))
    }

    pub fn insert(&mut self, entity: Entity) {
        self.apply(&EntityOperation::Insert(entity)).unwrap();
    }

    /// Inserts all in one transaction, which no client could do.
    pub fn fill(&mut self, entities: impl Iterator<Item = Entity>) {
        let (table, stamp) = (self.table.clone(), self.stamp());
        let filled = self.txn(|txn| {
            for entity in entities {
                operations::apply(txn, &table, &EntityOperation::Insert(entity), stamp)?;
            }
            Ok::<_, EntityError>(())
        });
        filled.unwrap();
    }

    pub fn apply_group(&mut self, group: &GroupTransaction) -> Result<Vec<Written>, GroupError> {
        let (table, stamp) = (self.table.clone(), self.stamp());
        self.txn(|txn| group::apply_group(txn, &table, group, stamp))
    }

    pub fn get(&self, partition_key: &str, row_key: &str) -> Option<EntityRow> {
        operations::get(&*self.snapshot(), self.table.number(), &key(partition_key, row_key)).unwrap()
    }

    pub fn query(&self, query: &Query) -> QueryPage {
        query::run(&*self.snapshot(), self.table.number(), query).unwrap()
    }

    /// Rows of entities, and entries of the log.
    pub fn counts(&self) -> (usize, usize) {
        let snapshot = self.snapshot();
        let entities =
            snapshot.range(ENTITIES, &row::entities(self.table.number()), Order::Ascending).count();
        (entities, snapshot.range(LOG, &orrery_kv::KeyRange::all(), Order::Ascending).count())
    }
}

/// The properties of an entity, by themselves.
pub fn properties(entity: &EntityRow) -> Vec<(String, Value)> {
    entity.properties().map(|(name, value)| (name.to_owned(), value.to_value())).collect()
}
