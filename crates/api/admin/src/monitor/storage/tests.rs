//! What is told of tables and queues, over stores in memory.

use super::families::{ToldStorage, families};
use super::readings::readings;
use super::resource::{AllContents, Resource, StorageStores, transactions};
use super::tracker::{OTHERS, Tracker};
use crate::limits;
use crate::monitor::alerts::rule::Kind;
use crate::monitor::prometheus;
use crate::monitor::storage::busiest::busiest;
use orrery_catalog::change_log;
use orrery_catalog::storage::metering::OperationClass;
use orrery_catalog::storage::{AccountName, QueueName, ServiceKind, TableName};
use orrery_core::{Env, Timestamp};
use orrery_kv::{MemoryEngine, SpaceSet, Sync};
use orrery_queue_store::{
    MessageCount, MessageText, Metadata, NewMessage, Options as QueueOptions, QueueId, QueueStore,
    TimeToLive, VisibilityTimeout,
};
use orrery_table_store::model::{EntityBuilder, EntityKey, EntityOperation, Filter, Query};
use orrery_table_store::{Options as TableOptions, TableHandle, TableStore};
use orrery_txn::{Options as TxnOptions, TxnManager};
use std::time::Duration;

/// One sequence numbers the resources of both, as in a server.
static SPACES: SpaceSet =
    SpaceSet::new(&[change_log::SPECS, orrery_tables::spaces::SPECS, orrery_queues::spaces::SPECS]);

struct World {
    stores: StorageStores,
    runtime: tokio::runtime::Runtime,
}

fn account() -> AccountName {
    AccountName::parse("devstoreaccount1").expect("a name")
}

fn queue_id(name: &str) -> QueueId {
    QueueId { account: account(), name: QueueName::parse(name).expect("a name") }
}

impl World {
    fn new() -> Self {
        let env = Env::seeded(Timestamp::from_seconds(1_000_000), 1);
        let options = TxnOptions {
            sync: Sync::Data,
            accept_loss: false,
            cache_bytes: 1 << 20,
            on_stuck: || std::process::abort(),
        };
        let engine = Box::new(MemoryEngine::new(&SPACES));
        let txns = TxnManager::open(engine, env, &options).expect("transactions");
        let stores = StorageStores {
            tables: TableStore::open(txns.clone(), TableOptions::default()).expect("a store"),
            queues: QueueStore::open(txns, QueueOptions::default()).expect("a store"),
        };
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        Self { stores, runtime }
    }

    fn table(&self, name: &str) -> TableHandle {
        let name = TableName::parse(name).expect("a name");
        self.runtime.block_on(self.stores.tables.create_table(&account(), &name)).expect("a table")
    }

    fn drop_table(&self, name: &str) {
        let name = TableName::parse(name).expect("a name");
        self.runtime.block_on(self.stores.tables.delete_table(&account(), &name)).expect("it goes");
    }

    fn insert(&self, table: &TableHandle, partition_key: &str, row_key: &str) {
        let key = EntityKey::parse(partition_key, row_key).expect("a key");
        let entity = EntityBuilder::new().finish(key).expect("an entity");
        let insert = EntityOperation::Insert(entity);
        self.runtime.block_on(self.stores.tables.write(table, &insert)).expect("an insert");
    }

    fn query(&self, table: &TableHandle, filter: &str) {
        let filter = Some(Filter::parse(filter).expect("a filter"));
        self.stores.tables.query(table, &Query { filter, ..Query::default() }).expect("a page");
    }

    fn queue(&self, name: &str) -> QueueId {
        let id = queue_id(name);
        self.runtime.block_on(self.stores.queues.create_queue(&id, Metadata::default())).expect("a queue");
        id
    }

    fn put(&self, queue: &QueueId, text: &str) {
        let new = NewMessage {
            text: MessageText::new(text.to_owned()).expect("a text"),
            visibility: VisibilityTimeout::for_put(0).expect("seconds"),
            time_to_live: TimeToLive::parse(-1).expect("seconds"),
        };
        self.runtime.block_on(self.stores.queues.put(queue, new)).expect("a put");
    }

    fn get(&self, queue: &QueueId) {
        let hidden = VisibilityTimeout::for_get(1).expect("seconds");
        let got = self.runtime.block_on(self.stores.queues.get(queue, MessageCount::ONE, hidden));
        got.expect("an answer");
    }

    fn advance(&self, seconds: u64) {
        self.stores.queues.env().advance(Duration::from_secs(seconds)).expect("a manual clock");
    }

    fn now(&self) -> Timestamp {
        self.stores.queues.env().now()
    }

    /// Resources and what they hold.
    fn seen(&self) -> (Vec<Resource>, AllContents) {
        (self.stores.resources(), self.stores.contents().expect("the engine works"))
    }

    fn told(&self, tracker: &mut Tracker) -> String {
        let (resources, contents) = self.seen();
        tracker.look(&resources, &contents);
        let told = ToldStorage { resources: &resources, contents: &contents, tracker, as_of: self.now() };
        prometheus::write(&families(&told, true))
    }
}

#[track_caller]
fn has(text: &str, line: &str) {
    assert!(text.lines().any(|it| it == line), "no {line} in\n{text}");
}

/// Some work: three entities in two partitions, a scan; three messages of which one is got twice, and an empty get.
fn worked() -> World {
    let world = World::new();
    let (runs, turns) = (world.table("Runs"), world.queue("turns"));
    for (partition_key, row_key) in [("hot", "1"), ("hot", "2"), ("cold", "1")] {
        world.insert(&runs, partition_key, row_key);
    }
    world.query(&runs, "RowKey eq '1'");
    world.queue("empty");
    world.get(&queue_id("empty"));
    world.put(&turns, "four");
    world.get(&turns);
    world.advance(2);
    world.get(&turns);
    world.put(&turns, "more");
    world.advance(30);
    world
}

#[test]
fn measurements_name_every_table_and_queue() {
    let text = worked().told(&mut Tracker::default());
    let table = r#"service="table",account="devstoreaccount1",resource="Runs""#;
    has(&text, &format!(r#"storage_requests_total{{{table},operation="insert",type="write"}} 3"#));
    has(&text, &format!(r#"storage_requests_total{{{table},operation="query",type="query"}} 1"#));
    // Each: 4 bytes and two a character of both keys.
    has(&text, &format!("storage_stored_bytes{{{table}}} {}", 3 * 4 + 2 * (4 + 4 + 5)));
    has(&text, &format!("storage_refused_total{{{table}}} 0"));
    let table = r#"account="devstoreaccount1",table="Runs""#;
    has(&text, &format!("tables_entities{{{table}}} 3"));
    has(&text, &format!("tables_entities_read_total{{{table}}} 3"));
    has(&text, &format!("tables_entities_returned_total{{{table}}} 2"));
    has(&text, &format!("tables_scans_total{{{table}}} 1"));
    has(&text, &format!(r#"tables_partition_requests_total{{{table},partition="hot"}} 2"#));
    let queue = r#"service="queue",account="devstoreaccount1",resource="turns""#;
    has(&text, &format!(r#"storage_requests_total{{{queue},operation="get",type="read"}} 2"#));
    has(&text, &format!("storage_stored_bytes{{{queue}}} 8"));
    let queue = r#"account="devstoreaccount1",queue="turns""#;
    has(&text, &format!("queues_messages{{{queue}}} 2"));
    has(&text, &format!("queues_oldest_message_seconds{{{queue}}} 30"));
    has(&text, &format!("queues_messages_put_total{{{queue}}} 2"));
    has(&text, &format!("queues_messages_got_total{{{queue}}} 2"));
    has(&text, &format!("queues_messages_got_again_total{{{queue}}} 1"));
    has(&text, r#"queues_empty_gets_total{account="devstoreaccount1",queue="empty"} 1"#);
    has(&text, r#"queues_oldest_message_seconds{account="devstoreaccount1",queue="empty"} 0"#);
}

#[test]
fn the_busiest_are_first_with_what_they_hold() {
    let world = worked();
    let (resources, contents) = world.seen();
    let (tables, queues) = busiest(&resources, &contents, world.now());
    assert_eq!(tables.len(), 1);
    let runs = &tables[0];
    assert_eq!((runs.table.as_str(), runs.requests, runs.writes, runs.queries), ("Runs", 4, 3, 1));
    assert_eq!((runs.scans, runs.entities_read, runs.entities), (1, 3, Some(3)));
    let names: Vec<&str> = queues.iter().map(|queue| queue.queue.as_str()).collect();
    assert_eq!(names, ["turns", "empty"]);
    let turns = &queues[0];
    assert_eq!((turns.puts, turns.messages_got, turns.messages_got_again), (2, 2, 1));
    assert_eq!((turns.messages, turns.bytes, turns.waiting_seconds), (Some(2), Some(8), Some(30)));
}

#[test]
fn only_so_many_are_told_apart_and_the_sum_of_the_others_never_falls() {
    let world = World::new();
    let mut tracker = Tracker::default();
    let max = limits::MONITOR_RESOURCES_MAX;
    let tables: Vec<TableHandle> = (0..max + 2).map(|at| world.table(&format!("tab{at}"))).collect();
    let others = format!(
        r#"storage_requests_total{{service="table",account="{OTHERS}",resource="{OTHERS}",operation="insert",type="write"}}"#
    );
    world.insert(&tables[0], "p", "r");
    world.insert(&tables[max], "p", "r");
    world.insert(&tables[max + 1], "p", "r");
    let text = world.told(&mut tracker);
    has(&text, &format!("{others} 2"));
    assert_eq!(text.lines().filter(|line| line.starts_with("storage_stored_bytes")).count(), max);
    // One of the others goes, and one gets a seat.
    world.drop_table(&format!("tab{}", max + 1));
    world.drop_table("tab5");
    world.insert(&tables[max], "p", "s");
    let text = world.told(&mut tracker);
    has(&text, &format!("{others} 2"));
    let seated = format!(r#"resource="tab{max}",operation="insert",type="write"}} 2"#);
    assert!(text.lines().any(|line| line.ends_with(&seated)), "{text}");
}

#[test]
fn between_two_looks_is_what_was_asked_between_them() {
    let world = World::new();
    let mut tracker = Tracker::default();
    let (runs, turns) = (world.table("Runs"), world.queue("turns"));
    let mut look = || {
        let (resources, contents) = world.seen();
        let deltas = tracker.look(&resources, &contents).into_iter();
        deltas
            .map(|(service, _, used)| {
                let writes = used.transactions.get(OperationClass::Write);
                (service, used.name, writes, used.transactions.total(), used.bytes)
            })
            .collect::<Vec<_>>()
    };
    world.insert(&runs, "p", "r");
    world.put(&turns, "four");
    let (queue, table) = (ServiceKind::Queue, ServiceKind::Table);
    let bytes = 4 + 2 * 2;
    assert_eq!(look(), [(queue, "turns".into(), 1, 1, 4), (table, "Runs".into(), 1, 1, bytes)]);
    world.get(&turns);
    assert_eq!(look(), [(queue, "turns".into(), 0, 1, 4), (table, "Runs".into(), 0, 0, bytes)]);
    // Another table of that name begins anew.
    world.drop_table("Runs");
    let runs = world.table("Runs");
    world.insert(&runs, "p", "r");
    assert_eq!(look()[1], (table, "Runs".into(), 1, 1, bytes));
}

#[test]
fn alerts_look_at_messages_that_wait_and_at_those_that_nobody_gets_done() {
    let world = World::new();
    let turns = world.queue("turns");
    world.queue("empty");
    world.put(&turns, "poison");
    let read = |kind| {
        let (resources, contents) = world.seen();
        let found = readings(kind, &resources, &contents, world.now());
        found.into_iter().map(|reading| reading.value).collect::<Vec<f64>>()
    };
    world.advance(700);
    assert_eq!((read(Kind::MessageWait), read(Kind::MessageGets)), (vec![700.0], vec![]));
    for _ in 0..6 {
        world.get(&turns);
        world.advance(2);
    }
    assert_eq!((read(Kind::MessageWait), read(Kind::MessageGets)), (vec![1.0], vec![6.0]));
    assert_eq!(read(Kind::Throttled), [0.0; 0]);
}

#[test]
fn every_operation_is_of_a_class() {
    let world = worked();
    for resource in world.stores.resources() {
        let operations = resource.operations();
        let sum: u64 = operations.iter().map(|operation| operation.count).sum();
        assert_eq!(transactions(&operations).total(), sum);
        let names: std::collections::BTreeSet<&str> =
            operations.iter().map(|operation| operation.name).collect();
        assert_eq!(names.len(), operations.len());
    }
}
