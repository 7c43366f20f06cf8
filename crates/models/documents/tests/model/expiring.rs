//! Time to live: gone at the second, removed by whoever comes first.

use crate::audit::audit;
use crate::world::{Change, World, Written, said, target};
use orrery_catalog::Container;
use orrery_documents::expiry;
use orrery_documents::item::{FeedScope, Preconditions, read_feed};
use orrery_documents::limits;
use orrery_documents::spaces::INDEX;
use orrery_kv::{KeyRange, Order, Read};
use orrery_query::execute::Limits;

const ALWAYS: Preconditions = Preconditions { if_match: None, if_none_match: None };

/// An item written at the start, under these definitions, is there until this second and not at it.
fn check(container_ttl: &str, item_ttl: &str, gone_at: Option<u64>) {
    let mut world = World::new();
    let container = world.container(container_ttl);
    world.create(&container, &format!(r#"{{"id":"a","pk":1{item_ttl}}}"#)).unwrap();
    let a = target(&container, "1", "a");
    let last = gone_at.map_or(u64::from(u32::MAX), |at| at - 1);
    world.at(last);
    assert!(world.read(&container, &a).is_some(), "{container_ttl} {item_ttl} at {last}");
    if let Some(at) = gone_at {
        world.at(at);
        assert!(world.read(&container, &a).is_none(), "{container_ttl} {item_ttl} at {at}");
    }
}

#[test]
fn an_item_is_gone_at_its_second_and_not_before() {
    check(r#""defaultTtl":-1"#, r#","ttl":5"#, Some(5));
    check(r#""defaultTtl":-1"#, "", None);
    check(r#""defaultTtl":5"#, "", Some(5));
    check(r#""defaultTtl":5"#, r#","ttl":7"#, Some(7));
    check(r#""defaultTtl":5"#, r#","ttl":2"#, Some(2));
    check(r#""defaultTtl":5"#, r#","ttl":-1"#, None);
    check(r#""defaultTtl":1"#, "", Some(1));
    check("", r#","ttl":5"#, None);
    check("", "", None);
}

fn written_at(seconds: u64) -> (World, Container) {
    let mut world = World::new();
    let container = world.container(r#""defaultTtl":5"#);
    world.at(seconds);
    (world, container)
}

#[test]
fn a_write_begins_the_time_anew() {
    let (mut world, container) = written_at(0);
    world.create(&container, r#"{"id":"a","pk":1}"#).unwrap();
    world.at(4);
    world.upsert(&container, r#"{"id":"a","pk":1}"#, ALWAYS).unwrap();
    world.at(8);
    assert!(world.read(&container, &target(&container, "1", "a")).is_some());
    world.at(9);
    assert!(world.read(&container, &target(&container, "1", "a")).is_none());
    audit(&*world.snapshot(), world.db.tip().lsn);
}

#[test]
fn an_expired_item_is_missing_to_every_operation() {
    let (mut world, container) = written_at(0);
    world.create(&container, r#"{"id":"a","pk":1}"#).unwrap();
    world.at(5);
    let (a, body) = (target(&container, "1", "a"), r#"{"id":"a","pk":1}"#);
    assert_eq!(said(&world.replace(&container, &a, body, ALWAYS)), "Missing");
    assert_eq!(said(&world.delete(&container, &a, ALWAYS)), "Missing");
    let scope = FeedScope::Partition(a.epk.clone());
    let page = Limits { items: 10, bytes: 1000 };
    assert_eq!(read_feed(&*world.snapshot(), &container, &scope, None, page, world.now()).unwrap().items, []);
    assert!(matches!(world.upsert(&container, body, ALWAYS), Ok(Written::Created(_))));
}

#[test]
fn a_create_over_an_expired_item_logs_both() {
    let (mut world, container) = written_at(0);
    let first = world.create(&container, r#"{"id":"a","pk":1}"#).unwrap();
    world.at(4);
    assert_eq!(said(&world.create(&container, r#"{"id":"a","pk":1}"#)), "Exists");
    world.at(5);
    let second = world.create(&container, r#"{"id":"a","pk":1,"n":2}"#).unwrap();
    assert_ne!(first.ordinal(), second.ordinal());
    let changes: Vec<Change> = world.log(&container).into_iter().map(|(change, _)| change).collect();
    assert_eq!(changes, [Change::Create, Change::Expire, Change::Create]);
    assert_eq!(
        world.read(&container, &target(&container, "1", "a")).unwrap().text(),
        r#"{"id":"a","pk":1,"n":2}"#
    );
    audit(&*world.snapshot(), world.db.tip().lsn);
}

/// One round of the reaper; says how many rows came up and how many items it removed.
pub fn reap(world: &mut World, container: &Container) -> (usize, usize) {
    let now = world.now();
    let due = expiry::due(&*world.snapshot(), container, now).unwrap();
    let removed = due
        .chunk_by(|a, b| a.epk == b.epk)
        .map(|partition| world.txn(|txn| expiry::reap(txn, container, partition, now)).unwrap());
    let removed = removed.sum();
    (due.len(), removed)
}

/// The expiry rows of all containers.
pub fn index_rows(world: &World) -> usize {
    const EXPIRY: u8 = 2;
    let snapshot = world.snapshot();
    let rows = snapshot.range(INDEX, &KeyRange::all(), Order::Ascending);
    rows.filter(|row| row.as_ref().unwrap().0[4] == EXPIRY).count()
}

#[test]
fn the_reaper_removes_what_has_expired_and_logs_it() {
    let (mut world, container) = written_at(0);
    world.create(&container, r#"{"id":"a","pk":1}"#).unwrap();
    world.create(&container, r#"{"id":"b","pk":2,"ttl":6}"#).unwrap();
    world.create(&container, r#"{"id":"c","pk":3,"ttl":-1}"#).unwrap();
    world.at(4);
    assert_eq!(reap(&mut world, &container), (0, 0));
    world.at(5);
    assert_eq!(reap(&mut world, &container), (1, 1));
    world.at(600);
    assert_eq!(reap(&mut world, &container), (1, 1));
    assert_eq!(reap(&mut world, &container), (0, 0));
    let log = world.log(&container);
    assert_eq!(log[3..], [(Change::Expire, "a".to_owned()), (Change::Expire, "b".to_owned())]);
    let tally = audit(&*world.snapshot(), world.db.tip().lsn);
    assert_eq!((tally.items, index_rows(&world)), (1, 0));
}

#[test]
fn an_item_has_one_expiry_row_while_it_is_there() {
    let (mut world, container) = written_at(0);
    let a = target(&container, "1", "a");
    world.create(&container, r#"{"id":"a","pk":1}"#).unwrap();
    world.at(1);
    world.replace(&container, &a, r#"{"id":"a","pk":1,"ttl":9}"#, ALWAYS).unwrap();
    assert_eq!(index_rows(&world), 1);
    world.replace(&container, &a, r#"{"id":"b","pk":1}"#, ALWAYS).unwrap();
    assert_eq!(index_rows(&world), 1);
    world.delete(&container, &target(&container, "1", "b"), ALWAYS).unwrap();
    assert_eq!(index_rows(&world), 0);
}

#[test]
fn the_reaper_drops_stale_rows_and_leaves_the_item() {
    let mut world = World::new();
    let on = world.container(r#""defaultTtl":5"#);
    world.create(&on, r#"{"id":"a","pk":1}"#).unwrap();
    let off = world.replace_container("").unwrap();
    world.at(2);
    world.upsert(&off, r#"{"id":"a","pk":1,"n":2}"#, ALWAYS).unwrap();
    assert_eq!(index_rows(&world), 1, "turned off, the row of the first version is left behind");
    assert_eq!(reap(&mut world, &off), (0, 0), "nothing expires where expiry is off");
    let on = world.replace_container(r#""defaultTtl":5"#).unwrap();
    world.at(6);
    assert_eq!(reap(&mut world, &on), (1, 0));
    assert!(world.read(&on, &target(&on, "1", "a")).is_some());
    assert_eq!(index_rows(&world), 0);
}

#[test]
fn the_reaper_works_in_rounds() {
    let (mut world, container) = written_at(0);
    let count = limits::REAP_ITEMS_MAX + 10;
    world.create_all(&container, (0..count).map(|n| format!(r#"{{"id":"{n}","pk":1}}"#)));
    world.at(5);
    assert_eq!(reap(&mut world, &container), (limits::REAP_ITEMS_MAX, limits::REAP_ITEMS_MAX));
    assert_eq!(reap(&mut world, &container), (10, 10));
    assert_eq!(audit(&*world.snapshot(), world.db.tip().lsn).items, 0);
}

/// The log gets the image of everything that is removed, and one commit must not carry hundreds of large ones.
#[test]
fn a_round_of_the_reaper_ends_when_it_has_removed_enough_bytes() {
    const ITEM_BYTES: usize = 1_000_000;
    let (mut world, container) = written_at(0);
    let text = "x".repeat(ITEM_BYTES);
    let enough = limits::REAP_BYTES_MAX / ITEM_BYTES + 1;
    world.create_all(&container, (0..enough + 2).map(|n| format!(r#"{{"id":"{n}","pk":1,"t":"{text}"}}"#)));
    world.at(5);
    assert_eq!(reap(&mut world, &container), (enough + 2, enough));
    assert_eq!(reap(&mut world, &container), (2, 2), "what was left comes up again");
    assert_eq!(audit(&*world.snapshot(), world.db.tip().lsn).items, 0);
}
