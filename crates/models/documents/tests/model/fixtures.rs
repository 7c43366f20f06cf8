//! Rows as format 2 stores them, kept as bytes: today's code reads them, and still writes them.
//!
//! `tests/fixtures/v2.rows` is a whole small store, a row a line: what it is, its space, key and value in hex.
//! It stays as it is for ever; a new version of a record gets a file of its own beside it. Where there is no
//! file yet, `BLESS=1` writes one.

use crate::audit::{Change, LogEntry, Tally, audit};
use crate::world::{World, definition_body, json, target};
use orrery_catalog::definition::{ContainerDefinition, DefaultTtl, Throughput};
use orrery_catalog::jobs::JobKind;
use orrery_catalog::{self as catalog, OfferTarget};
use orrery_core::{DatabaseName, Lsn, OfferRid};
use orrery_documents::item::{Preconditions, Ttl};
use orrery_documents::spaces::{DOCUMENTS, INDEX, LOG, OVERFLOW, SPACES};
use orrery_kv::{Engine, KeyRange, LogRecord, META, MemoryEngine, Order, Put, Read, Space, Sync};
use std::path::PathBuf;

const MEMBERS: &str = r#""partitionKey":{"paths":["/t","/u"],"kind":"MultiHash","version":2},"defaultTtl":60,
    "uniqueKeyPolicy":{"uniqueKeys":[{"paths":["/email"]}]}"#;

/// The store of the fixture, made by today's code: every kind of row there is.
fn made_today() -> World {
    let always = Preconditions::default();
    let mut world = World::bare();
    let (name, stamp) = (DatabaseName::parse("shop").unwrap(), world.stamp());
    let autoscale = autoscale();
    world.txn(|txn| catalog::create_database(txn, &name, Some(&autoscale), stamp)).unwrap();
    let definition = ContainerDefinition::parse(definition_body("orders", MEMBERS)).unwrap();
    let stamp = world.stamp();
    let manual = Throughput::Manual(400);
    let create = |txn: &mut orrery_kv::Txn<'_>| {
        catalog::create_container(txn, "shop", &definition, Some(&manual), stamp)
    };
    let container = world.txn(create).unwrap();
    let stamp = world.stamp();
    let more = Throughput::Manual(6100);
    world.txn(|txn| catalog::replace_offer(txn, container.offer().unwrap(), &more, always, stamp)).unwrap();
    world.create(&container, r#"{"id":"one","t":"x","u":1,"email":"a@b","ttl":90}"#).unwrap();
    world.at(1);
    let one = target(&container, r#""x",1"#, "one");
    world
        .replace(
            &container,
            &one,
            r#" { "id":"one","t":"x", "u":1.0,"email":"é\u0001","n":[1e5,-0.0] }"#,
            always,
        )
        .unwrap();
    world.create(&container, r#"{"id":"two","ttl":-1}"#).unwrap();
    let stamp = world.stamp();
    let dropped = ContainerDefinition::parse(definition_body("dropped", "")).unwrap();
    world.txn(|txn| catalog::create_container(txn, "shop", &dropped, None, stamp)).unwrap();
    world.txn(|txn| catalog::delete_container(txn, "shop", "dropped", always)).unwrap();
    let (body, stamp) = (definition_body("orders", &MEMBERS.replace("60", "120")), world.stamp());
    world.txn(|txn| catalog::replace_container(txn, "shop", "orders", body, always, stamp)).unwrap();
    world
}

fn autoscale() -> Throughput {
    Throughput::from_headers(None, Some(r#"{"maxThroughput":4000}"#)).unwrap().unwrap()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn unhex(text: &str) -> Vec<u8> {
    text.as_bytes()
        .chunks(2)
        .map(|pair| u8::from_str_radix(str::from_utf8(pair).unwrap(), 16).unwrap())
        .collect()
}

/// What a row is, by its space and the first byte that tells.
fn kind(space: Space, key: &[u8]) -> &'static str {
    match (space, key[0]) {
        (META, 0) => "tip",
        (META, 1) => "numbers",
        (META, 2) => "database",
        (META, 3) => "container",
        (META, 4) => "alive",
        (META, 5) => "offer",
        (META, 6) => "job",
        (DOCUMENTS, _) => "item",
        (INDEX, _) if key[4] == 1 => "unique",
        (INDEX, _) if key[4] == 2 => "expiry",
        (INDEX, _) if key[4] == 3 => "partition",
        (INDEX, _) if key[4] == 4 => "place",
        (INDEX, _) if key[4] == 5 => "entry",
        (INDEX, _) if key[4] == 8 => "successor",
        (INDEX, _) => "tally",
        (LOG, _) => "log",
        (OVERFLOW, _) => "text",
        (_, other) => panic!("{other} is no kind of row"),
    }
}

fn lines(state: &dyn Read) -> String {
    let of = |space: Space| {
        let rows = state.range(space, &KeyRange::all(), Order::Ascending).map(|row| row.unwrap());
        rows.map(|(key, value)| {
            format!("{} {} {} {}\n", kind(space, &key), SPACES.name(space), hex(&key), hex(&value))
        })
        .collect::<String>()
    };
    SPACES.iter().map(|spec| spec.space).map(of).collect()
}

fn file() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/v2.rows")
}

fn fixture() -> String {
    if !file().exists() && std::env::var_os("BLESS").is_some() {
        std::fs::write(file(), lines(&*made_today().snapshot())).unwrap();
    }
    std::fs::read_to_string(file()).expect("the fixture of version 1 is there")
}

/// The store that the fixture holds.
fn stored_then() -> World {
    let put = |line: &str| {
        let parts: Vec<&str> = line.split(' ').collect();
        let space = SPACES.iter().find(|spec| spec.name == parts[1]).unwrap().space;
        Put { space, key: unhex(parts[2]).into(), value: Some(unhex(parts[3]).into()) }
    };
    let engine = MemoryEngine::new(&SPACES);
    engine.write(fixture().lines().map(put).collect(), Sync::Data).unwrap();
    World::over(engine)
}

#[test]
fn the_fixture_has_every_kind_of_row() {
    let text = fixture();
    let found: std::collections::BTreeSet<&str> =
        text.lines().filter_map(|line| line.split(' ').next()).collect();
    let all = [
        "alive",
        "container",
        "database",
        "entry",
        "expiry",
        "item",
        "job",
        "log",
        "numbers",
        "offer",
        "partition",
        "place",
        "successor",
        "tally",
        "tip",
        "unique",
    ];
    assert_eq!(found.into_iter().collect::<Vec<_>>(), all);
}

#[test]
fn the_rows_of_format_2_agree_with_each_other() {
    let world = stored_then();
    let tally = audit(&*world.snapshot(), world.db.tip().lsn);
    assert_eq!(tally, Tally { items: 2, unique: 2, expiring: 0, log: 3 }, "expiry waits for its job");
}

#[test]
fn the_catalog_of_format_2_is_read() {
    let mut world = stored_then();
    let catalog = world.catalog();
    let database = catalog.database("shop").unwrap();
    assert_eq!((database.rid.0, database.offer, database.etag.as_u128()), (1, Some(OfferRid(1)), 1));
    let container = catalog.container(database.rid, "orders").unwrap();
    assert_eq!(container.definition().default_ttl(), Some(DefaultTtl::Seconds(120)));
    assert_eq!(container.definition().unique_keys().len(), 1);
    let ranges: Vec<_> =
        container.ranges().leaves().iter().map(|range| (range.id, range.parents.clone())).collect();
    assert_eq!(ranges, [(1, vec![0]), (2, vec![0])]);
    let offers: Vec<_> =
        catalog.offers().map(|offer| (offer.rid.0, offer.target, offer.throughput)).collect();
    let expected = [
        (1, OfferTarget::Database(database.rid), autoscale()),
        (2, OfferTarget::Container(container.rid()), Throughput::Manual(6100)),
    ];
    assert_eq!(offers, expected);
    let jobs = [(JobKind::Sweep, 2), (JobKind::Expiry, 1)];
    assert_eq!(orrery_catalog::jobs::jobs(&*world.snapshot()).unwrap(), jobs);
    let (name, stamp) = (DatabaseName::parse("next").unwrap(), world.stamp());
    let next = world.txn(|txn| catalog::create_database(txn, &name, None, stamp)).unwrap();
    assert_eq!(next.rid.0, 2, "the numbers go on");
}

#[test]
fn the_items_of_format_2_are_read() {
    let world = stored_then();
    let catalog = world.catalog();
    let container = catalog.all_containers().next().unwrap();
    let one = world.read(container, &target(container, r#""x",1"#, "one")).unwrap();
    assert_eq!(
        one.text(),
        "{ \"id\":\"one\",\"t\":\"x\", \"u\":1.0,\"email\":\"é\\u0001\",\"n\":[1e5,-0.0] }"
    );
    let names: Vec<&str> = one.members().iter().map(|member| member.name.of(one.text())).collect();
    assert_eq!(names, ["id", "t", "u", "email", "n"]);
    assert_eq!((one.lsn(), one.ttl(), one.ordinal(), one.etag().as_u128()), (Lsn(5), Ttl::Default, 1, 5));
    assert_eq!(one.written().seconds(), 1_000_001);
    assert!(json(container, &one).contains(r#""_rid":"AAAAAYAAAAEBAAAAAAAAAA==""#));
    let two = world.read(container, &target(container, r#"{},{}"#, "two")).unwrap();
    assert_eq!((two.text(), two.ttl(), two.ordinal()), (r#"{"id":"two","ttl":-1}"#, Ttl::Never, 2));
}

#[test]
fn the_log_of_format_2_is_read() {
    let world = stored_then();
    let snapshot = world.snapshot();
    let rows = snapshot.range(LOG, &LogRecord::range(1, Lsn(0)), Order::Ascending);
    let records: Vec<LogRecord> = rows.map(|row| LogRecord::read(&row.unwrap()).unwrap()).collect();
    let entries: Vec<LogEntry> = records.iter().map(|record| LogEntry::read(&record.payload)).collect();
    let heads: Vec<_> = entries.iter().map(|entry| (entry.change, entry.id(), entry.at_ms / 1000)).collect();
    let expected = [
        (Change::Create, "one".to_owned(), 1_000_000),
        (Change::Replace, "one".to_owned(), 1_000_001),
        (Change::Create, "two".to_owned(), 1_000_001),
    ];
    assert_eq!(heads, expected);
    let replaced = entries[1].replaced.clone().unwrap().whole(&*snapshot).unwrap();
    assert_eq!((replaced.ttl(), replaced.lsn()), (Ttl::Seconds(90), Lsn(4)));
    assert_eq!(replaced.text(), r#"{"id":"one","t":"x","u":1,"email":"a@b","ttl":90}"#);
}

/// A change of format is a new version, never another meaning of the old one.
#[test]
fn todays_code_still_writes_format_2() {
    let today = lines(&*made_today().snapshot());
    for row in fixture().lines() {
        assert!(today.lines().any(|other| other == row), "no longer written: {row}\n\n{today}");
    }
}
