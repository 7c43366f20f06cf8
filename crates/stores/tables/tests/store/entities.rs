//! Entities through the store: each write is durable when it is answered, and errors say what to do.

use crate::harness::{Harness, entity, key, number};
use orrery_table_store::Error;
use orrery_table_store::model::plan::Access;
use orrery_table_store::model::{EntityError, EntityOperation, Filter, IfMatch, Query, Ticks};

#[test]
fn an_entity_is_written_read_changed_and_deleted() {
    let harness = Harness::new();
    let table = harness.create("Runs");
    let written = harness.insert(&table, entity("p", "r", 1));
    let found = harness.store.get(&table, &key("p", "r")).unwrap();
    assert_eq!((number(&found), Some(found.timestamp())), (1, written.timestamp));
    let twice = harness.write(&table, &EntityOperation::Insert(entity("p", "r", 2)));
    assert!(matches!(twice, Err(Error::Entity(EntityError::Exists))));

    let version = IfMatch::Version(found.timestamp());
    harness.write(&table, &EntityOperation::Replace(entity("p", "r", 3), version)).unwrap();
    let stale = harness.write(&table, &EntityOperation::Delete(key("p", "r"), version));
    assert!(matches!(stale, Err(Error::Entity(EntityError::ConditionNotMet))));
    assert_eq!(number(&harness.store.get(&table, &key("p", "r")).unwrap()), 3);
    harness.write(&table, &EntityOperation::Delete(key("p", "r"), IfMatch::Any)).unwrap();
    let gone = harness.store.get(&table, &key("p", "r"));
    assert!(matches!(gone, Err(Error::Entity(EntityError::NotFound))));
}

#[test]
fn no_two_writes_have_one_timestamp() {
    let harness = Harness::new();
    let table = harness.create("Runs");
    let stamps: Vec<Ticks> = (0..50)
        .map(|n| harness.insert(&table, entity(&(n % 3).to_string(), &n.to_string(), n)).timestamp.unwrap())
        .collect();
    assert!(stamps.is_sorted_by(|one, next| one < next));
}

#[test]
fn a_group_is_done_whole_or_not_at_all() {
    let harness = Harness::new();
    let table = harness.create("Runs");
    let insert = |row: &str| EntityOperation::Insert(entity("p", row, 1));
    assert_eq!(harness.transact(&table, vec![insert("a"), insert("b")]).unwrap().len(), 2);
    match harness.transact(&table, vec![insert("c"), insert("b"), insert("d")]) {
        Err(Error::Group(error)) => {
            assert_eq!(error.index, 1);
            assert!(matches!(error.error, EntityError::Exists));
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(harness.query(&table, "").entities.len(), 2);
}

#[test]
fn writes_to_a_dropped_table_find_no_table() {
    let harness = Harness::new();
    let table = harness.create("Runs");
    harness.drop_table("Runs").unwrap();
    let late = harness.write(&table, &EntityOperation::Insert(entity("p", "r", 1)));
    assert!(matches!(late, Err(Error::TableNotFound)), "{late:?}");
    let late = harness.transact(&table, vec![EntityOperation::Insert(entity("p", "r", 1))]);
    assert!(matches!(late, Err(Error::TableNotFound)), "{late:?}");
    assert_eq!(harness.counts(), (0, 0));
}

#[test]
fn a_query_says_what_it_looked_at_and_explain_what_it_would() {
    let harness = Harness::new();
    let table = harness.create("Runs");
    let other = harness.create("Other");
    for n in 0..30 {
        harness.insert(&table, entity(&format!("p{}", n % 3), &format!("r{n:02}"), n));
        harness.insert(&other, entity("p1", &format!("r{n:02}"), n));
    }
    let page = harness.query(&table, "PartitionKey eq 'p1' and n ge 10");
    assert_eq!((page.scanned.rows, page.entities.len()), (10, 7));
    let filter = Filter::parse("PartitionKey eq 'p1' and RowKey ge 'r1' and n ge 10").unwrap();
    let plan = harness.store.explain(&Query { filter: Some(filter), ..Query::default() });
    assert_eq!(plan.access(), Access::RowRange);
    assert_eq!(plan.ranges()[0].to_string(), "rows 'p1' ['r1', end)");
    assert_eq!(plan.residual().as_deref(), Some("n ge 10"));
}
