//! Create, replace, upsert, delete, rename: what is there afterwards and what the log says.

use crate::audit::audit;
use crate::world::{Change, World, Written, prepared, said, target};
use orrery_catalog as catalog;
use orrery_documents::item::{self, Preconditions};
use orrery_kv::{Outcome, Overlay, Txn};

const ALWAYS: Preconditions = Preconditions { if_match: None, if_none_match: None };

fn changes(log: &[(Change, String)]) -> Vec<(Change, &str)> {
    log.iter().map(|(change, id)| (*change, id.as_str())).collect()
}

#[test]
fn an_item_is_created_once() {
    let mut world = World::new();
    let container = world.container("");
    let a = target(&container, "1", "a");
    assert_eq!(world.read(&container, &a), None);
    let created = world.create(&container, r#"{"id":"a","pk":1,"n":1}"#).unwrap();
    assert_eq!(world.read(&container, &a).unwrap().text(), created.text());
    assert_eq!(said(&world.create(&container, r#"{"id":"a","pk":1,"n":2}"#)), "Exists");
    assert_eq!(said(&world.create(&container, r#"{"id":"a","pk":2}"#)), "ok");
    assert_eq!(said(&world.create(&container, r#"{"id":"A","pk":1}"#)), "ok");
    assert_eq!(world.read(&container, &a).unwrap().text(), r#"{"id":"a","pk":1,"n":1}"#);
}

#[test]
fn an_upsert_creates_and_then_replaces_under_the_same_rid() {
    let mut world = World::new();
    let container = world.container("");
    let Ok(Written::Created(first)) = world.upsert(&container, r#"{"id":"a","pk":1}"#, ALWAYS) else {
        panic!("created")
    };
    let second = world.upsert(&container, r#"{"id":"a","pk":1,"n":2}"#, ALWAYS);
    let Ok(Written::Replaced(second)) = second else { panic!("replaced") };
    assert_eq!(first.ordinal(), second.ordinal());
    assert_eq!(changes(&world.log(&container)), [(Change::Create, "a"), (Change::Replace, "a")]);
    audit(&*world.snapshot(), world.db.tip().lsn);
}

#[test]
fn a_deleted_item_is_gone_and_may_come_back_as_another() {
    let mut world = World::new();
    let container = world.container("");
    let a = target(&container, "1", "a");
    let first = world.create(&container, r#"{"id":"a","pk":1}"#).unwrap();
    assert_eq!(world.delete(&container, &a, ALWAYS).unwrap().text(), first.text());
    assert_eq!(world.read(&container, &a), None);
    assert_eq!(said(&world.delete(&container, &a, ALWAYS)), "Missing");
    let second = world.create(&container, r#"{"id":"a","pk":1}"#).unwrap();
    assert_ne!(first.ordinal(), second.ordinal(), "it is not the item that was deleted");
    audit(&*world.snapshot(), world.db.tip().lsn);
}

#[test]
fn a_replace_with_another_id_renames() {
    let mut world = World::new();
    let container = world.container(r#""defaultTtl":10"#);
    let (a, b) = (target(&container, "1", "a"), target(&container, "1", "b"));
    let first = world.create(&container, r#"{"id":"a","pk":1}"#).unwrap();
    let renamed = world.replace(&container, &a, r#"{"id":"b","pk":1,"n":1}"#, ALWAYS).unwrap();
    assert_eq!(renamed.ordinal(), first.ordinal(), "it is the same item");
    assert_eq!(world.read(&container, &a), None);
    assert_eq!(world.read(&container, &b).unwrap().text(), r#"{"id":"b","pk":1,"n":1}"#);
    let expected = [(Change::Create, "a"), (Change::Delete, "a"), (Change::Create, "b")];
    assert_eq!(changes(&world.log(&container)), expected);
    audit(&*world.snapshot(), world.db.tip().lsn);
}

#[test]
fn a_rename_does_not_take_an_id_that_is_there() {
    let mut world = World::new();
    let container = world.container("");
    let a = target(&container, "1", "a");
    world.create(&container, r#"{"id":"a","pk":1}"#).unwrap();
    world.create(&container, r#"{"id":"b","pk":1}"#).unwrap();
    world.create(&container, r#"{"id":"c","pk":2}"#).unwrap();
    assert_eq!(said(&world.replace(&container, &a, r#"{"id":"b","pk":1}"#, ALWAYS)), "Exists");
    assert_eq!(said(&world.replace(&container, &a, r#"{"id":"c","pk":1}"#, ALWAYS)), "ok");
}

#[test]
fn a_rename_may_take_the_id_of_an_expired_item() {
    let mut world = World::new();
    let container = world.container(r#""defaultTtl":-1"#);
    world.create(&container, r#"{"id":"a","pk":1}"#).unwrap();
    world.create(&container, r#"{"id":"b","pk":1,"ttl":5}"#).unwrap();
    world.at(5);
    world.replace(&container, &target(&container, "1", "a"), r#"{"id":"b","pk":1}"#, ALWAYS).unwrap();
    let log = world.log(&container);
    assert_eq!(changes(&log)[2..], [(Change::Expire, "b"), (Change::Delete, "a"), (Change::Create, "b")]);
    audit(&*world.snapshot(), world.db.tip().lsn);
}

#[test]
fn a_replace_cannot_change_the_partition_key() {
    let mut world = World::new();
    let container = world.container("");
    let a = target(&container, "1", "a");
    world.create(&container, r#"{"id":"a","pk":1}"#).unwrap();
    assert_eq!(said(&world.replace(&container, &a, r#"{"id":"a","pk":2}"#, ALWAYS)), "PartitionKeyChanged");
    assert_eq!(said(&world.replace(&container, &a, r#"{"id":"a","pk":1.0}"#, ALWAYS)), "ok");
    let elsewhere = target(&container, "3", "a");
    assert_eq!(said(&world.replace(&container, &elsewhere, r#"{"id":"a","pk":1}"#, ALWAYS)), "Missing");
}

#[test]
fn a_write_into_a_container_that_was_dropped_meanwhile_is_refused() {
    let mut world = World::new();
    let container = world.container("");
    world.create(&container, r#"{"id":"a","pk":1}"#).unwrap();
    let (snapshot, nothing, stamp) = (world.snapshot(), Overlay::default(), world.stamp());
    let mut late = Vec::new();
    for id in ["a", "b"] {
        let mut txn = Txn::new(&snapshot, &nothing);
        if id == "a" {
            item::delete(&mut txn, &container, &target(&container, "1", "a"), ALWAYS, stamp).unwrap();
        } else {
            item::create(&mut txn, &container, &prepared(&container, r#"{"id":"b","pk":1}"#), stamp, || 9)
                .unwrap();
        }
        late.push(txn.into_batch());
    }
    world.txn(|txn| catalog::delete_container(txn, "db", "c", ALWAYS)).unwrap();
    for batch in late {
        assert_eq!(world.commit(batch), Outcome::Refused);
    }
    audit(&*world.snapshot(), world.db.tip().lsn);
}
