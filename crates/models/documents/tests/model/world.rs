//! A store with one writer, a clock that stands still and tags that count up.

use orrery_catalog::Stamp;
use orrery_catalog::definition::ContainerDefinition;
use orrery_catalog::{self as catalog, Catalog, CatalogError, Container};
use orrery_core::{DatabaseName, ETag, ItemId, Lsn, Timestamp};
use orrery_documents::item::{self, ItemError, ItemRow, Preconditions, PrepareError, PreparedItem, Target};
use orrery_documents::spaces::{LOG, SPACES};
use orrery_keys::Epk;
use orrery_kv::{Batch, Db, LogRecord, MemoryEngine, Order, Outcome, Overlay, Read, Snapshot, Sync, Txn};
use orrery_value::Value;
use std::sync::Arc;

/// The second at which every world begins.
pub const START: u64 = 1_000_000;
pub const DATABASE: &str = "db";

/// What an upsert came to.
#[derive(Debug)]
pub enum Written {
    Created(ItemRow),
    Replaced(ItemRow),
}

pub struct World {
    pub engine: MemoryEngine,
    pub db: Db,
    now: Timestamp,
    tags: u128,
    ordinals: u64,
    next_lsn: u64,
    pub partition_bytes_max: u64,
}

impl World {
    /// An empty store with the one database.
    pub fn new() -> Self {
        let mut world = Self::bare();
        let stamp = world.stamp();
        let name = DatabaseName::parse(DATABASE).unwrap();
        world.txn(|txn| catalog::create_database(txn, &name, None, stamp)).unwrap();
        world
    }

    /// A store with nothing in it.
    pub fn bare() -> Self {
        Self::over(MemoryEngine::new(&SPACES))
    }

    pub fn over(engine: MemoryEngine) -> Self {
        let db = Db::open(Box::new(engine.clone()), Sync::Data).unwrap();
        let next_lsn = db.tip().lsn.0 + 1;
        let (now, partition_bytes_max) = (Timestamp::from_seconds(START), u64::MAX);
        Self { engine, db, now, tags: 0, ordinals: 0, next_lsn, partition_bytes_max }
    }

    /// The same store, found again after a power cut.
    pub fn restarted(&self) -> Self {
        let next = Self::over(self.engine.crash(0));
        let partition_bytes_max = self.partition_bytes_max;
        Self { now: self.now, tags: self.tags, ordinals: self.ordinals, partition_bytes_max, ..next }
    }

    /// One transaction; committed if it says so, forgotten if not.
    pub fn txn<T, E>(&mut self, body: impl FnOnce(&mut Txn<'_>) -> Result<T, E>) -> Result<T, E> {
        let (snapshot, nothing) = (self.db.snapshot(), Overlay::default());
        let mut txn = Txn::new(&snapshot, &nothing);
        let said = body(&mut txn)?;
        assert_eq!(self.commit(txn.into_batch()), Outcome::Committed);
        Ok(said)
    }

    /// A transaction that cannot be refused.
    pub fn edit(&mut self, body: impl FnOnce(&mut Txn<'_>)) {
        let always = |txn: &mut Txn<'_>| {
            body(txn);
            Ok::<_, ItemError>(())
        };
        self.txn(always).unwrap();
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

    pub fn catalog(&self) -> Catalog {
        Catalog::default().refreshed(&*self.snapshot()).unwrap()
    }

    pub fn now(&self) -> Timestamp {
        self.now
    }

    /// Puts the clock at so many seconds after the start.
    pub fn at(&mut self, seconds: u64) {
        self.now = Timestamp::from_seconds(START + seconds);
    }

    pub fn stamp(&mut self) -> Stamp {
        self.tags += 1;
        Stamp {
            now: self.now,
            etag: ETag::from_u128(self.tags),
            partition_bytes_max: self.partition_bytes_max,
        }
    }

    pub fn ordinal(&mut self) -> u64 {
        self.ordinals += 1;
        self.ordinals
    }

    /// A container named `c` in the one database, by the members of its definition besides the name.
    pub fn container(&mut self, members: &str) -> Container {
        self.named_container("c", members)
    }

    pub fn named_container(&mut self, name: &str, members: &str) -> Container {
        let definition = ContainerDefinition::parse(definition_body(name, members)).unwrap();
        let stamp = self.stamp();
        self.txn(|txn| catalog::create_container(txn, DATABASE, &definition, None, stamp)).unwrap()
    }

    pub fn replace_container(&mut self, members: &str) -> Result<Container, CatalogError> {
        let (body, stamp) = (definition_body("c", members), self.stamp());
        self.txn(|txn| catalog::replace_container(txn, DATABASE, "c", body, Preconditions::default(), stamp))
    }

    pub fn create(&mut self, container: &Container, body: &str) -> Result<ItemRow, ItemError> {
        let (item, stamp, ordinal) = (prepared(container, body), self.stamp(), self.ordinal());
        let created = self.txn(|txn| item::create(txn, container, &item, stamp, || ordinal))?;
        Ok(created.item)
    }

    /// Creates many items in one commit.
    pub fn create_all(&mut self, container: &Container, bodies: impl IntoIterator<Item = String>) {
        let items: Vec<_> = bodies
            .into_iter()
            .map(|body| (prepared(container, &body), self.stamp(), self.ordinal()))
            .collect();
        let create = |txn: &mut Txn<'_>| {
            let mut each = items.iter();
            each.try_for_each(|(item, stamp, ordinal)| {
                item::create(txn, container, item, *stamp, || *ordinal).map(drop)
            })
        };
        self.txn(create).unwrap();
    }

    pub fn upsert(
        &mut self,
        container: &Container,
        body: &str,
        when: Preconditions,
    ) -> Result<Written, ItemError> {
        let (item, stamp, ordinal) = (prepared(container, body), self.stamp(), self.ordinal());
        let done = self.txn(|txn| item::upsert(txn, container, &item, when, stamp, || ordinal))?;
        Ok(if done.is_new { Written::Created(done.item) } else { Written::Replaced(done.item) })
    }

    pub fn replace(
        &mut self,
        container: &Container,
        target: &Target,
        body: &str,
        when: Preconditions,
    ) -> Result<ItemRow, ItemError> {
        let (item, stamp) = (prepared(container, body), self.stamp());
        Ok(self.txn(|txn| item::replace(txn, container, target, &item, when, stamp))?.item)
    }

    pub fn delete(
        &mut self,
        container: &Container,
        target: &Target,
        when: Preconditions,
    ) -> Result<ItemRow, ItemError> {
        let stamp = self.stamp();
        Ok(self.txn(|txn| item::delete(txn, container, target, when, stamp))?.item)
    }

    /// The item as it is stored, if it is there now.
    pub fn read(&self, container: &Container, target: &Target) -> Option<ItemRow> {
        item::read(&*self.snapshot(), container, target, self.now).unwrap()
    }

    /// What the log of a container says: each change and the id it concerns.
    pub fn log(&self, container: &Container) -> Vec<(Change, String)> {
        let range = LogRecord::range(u64::from(container.number()), Lsn(0));
        let snapshot = self.snapshot();
        let rows = snapshot.range(LOG, &range, Order::Ascending);
        rows.map(|row| {
            let entry = crate::audit::LogEntry::read(&LogRecord::read(&row.unwrap()).unwrap().payload);
            (entry.change, entry.id())
        })
        .collect()
    }
}

pub use crate::audit::Change;

/// The body of a definition whose partition key, unless it says otherwise, is `/pk`.
pub fn definition_body(name: &str, members: &str) -> serde_json::Map<String, serde_json::Value> {
    let mut body = serde_json::json!({"id": name, "partitionKey": {"paths": ["/pk"]}});
    let members: serde_json::Value = serde_json::from_str(&format!("{{{members}}}")).unwrap();
    let (Some(body), Some(members)) = (body.as_object_mut(), members.as_object()) else {
        panic!("two objects")
    };
    body.extend(members.clone());
    body.clone()
}

pub fn prepare(container: &Container, body: &str) -> Result<PreparedItem, PrepareError> {
    item::prepare(container, body.as_bytes())
}

pub fn prepared(container: &Container, body: &str) -> PreparedItem {
    prepare(container, body).unwrap_or_else(|error| panic!("{body}: {error}"))
}

/// The place of an item, its partition key values as JSON.
pub fn target(container: &Container, key: &str, id: &str) -> Target {
    Target { epk: epk(container, key), id: ItemId::parse(id).unwrap() }
}

/// The effective partition key of values in JSON; nothing at all is a missing value.
pub fn epk(container: &Container, key: &str) -> Epk {
    let values: Vec<Value> = match key {
        "" => vec![Value::Undefined],
        json => match Value::parse(&format!("[{json}]")).unwrap() {
            Value::Array(values) => values,
            other => panic!("{other:?} is no list"),
        },
    };
    orrery_keys::epk(container.hashing(), &values)
}

/// `ok`, or the name of the error.
pub fn said<T, E: std::fmt::Debug>(result: &Result<T, E>) -> String {
    match result {
        Ok(_) => "ok".to_owned(),
        Err(error) => format!("{error:?}"),
    }
}

/// The item as clients see it.
pub fn json(container: &Container, item: &ItemRow) -> String {
    let mut out = Vec::new();
    item.write_json(container, &mut out);
    String::from_utf8(out).unwrap()
}
