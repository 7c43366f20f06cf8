//! The six writes: what each does to an entity that is there, and to one that is not.

use crate::world::{World, account, entity, key, name, properties};
use orrery_kv::{Expect, META, Outcome, Overlay, Txn};
use orrery_tables::row::Row;
use orrery_tables::{
    EntityError, EntityOperation, IfMatch, InvalidEntity, Stamp, TableError, Ticks, Value, limits,
    operations, table,
};
use std::time::Duration;

fn one(value: i32) -> EntityOperation {
    EntityOperation::Insert(entity("p", "r", &[("a", Value::Int32(value)), ("b", Value::Boolean(true))]))
}

fn sent() -> orrery_tables::Entity {
    entity("p", "r", &[("b", Value::String("now a text".to_owned())), ("c", Value::Int64(3))])
}

fn shown(world: &World) -> Vec<(String, Value)> {
    properties(&world.get("p", "r").unwrap())
}

fn merged() -> Vec<(String, Value)> {
    vec![
        ("a".to_owned(), Value::Int32(1)),
        ("b".to_owned(), Value::String("now a text".to_owned())),
        ("c".to_owned(), Value::Int64(3)),
    ]
}

#[test]
fn an_insert_adds_an_entity_once() {
    let mut world = World::new();
    let written = world.apply(&one(1)).unwrap();
    assert!(written.is_new);
    let found = world.get("p", "r").unwrap();
    assert_eq!(written.timestamp, Some(found.timestamp()));
    assert_eq!(found.property("a").unwrap().to_value(), Value::Int32(1));
    assert!(matches!(world.apply(&one(2)), Err(EntityError::Exists)));
    assert_eq!(shown(&world)[0].1, Value::Int32(1));
    assert_eq!(world.counts(), (1, 1));
    assert!(world.get("p", "R").is_none() && world.get("P", "r").is_none());
}

#[test]
fn a_merge_keeps_what_is_not_sent() {
    for operation in [EntityOperation::InsertOrMerge(sent()), EntityOperation::Merge(sent(), IfMatch::Any)] {
        let mut world = World::new();
        world.apply(&one(1)).unwrap();
        assert!(!world.apply(&operation).unwrap().is_new);
        assert_eq!(shown(&world), merged());
    }
}

#[test]
fn a_replace_keeps_nothing() {
    for operation in
        [EntityOperation::InsertOrReplace(sent()), EntityOperation::Replace(sent(), IfMatch::Any)]
    {
        let mut world = World::new();
        world.apply(&one(1)).unwrap();
        assert!(!world.apply(&operation).unwrap().is_new);
        assert_eq!(shown(&world), merged()[1..]);
    }
}

#[test]
fn what_is_not_there_is_inserted_or_not_found() {
    for operation in [EntityOperation::InsertOrMerge(sent()), EntityOperation::InsertOrReplace(sent())] {
        let mut world = World::new();
        assert!(world.apply(&operation).unwrap().is_new);
        assert_eq!(shown(&world), merged()[1..]);
    }
    let any = IfMatch::Any;
    for operation in [
        EntityOperation::Merge(sent(), any),
        EntityOperation::Replace(sent(), any),
        EntityOperation::Delete(key("p", "r"), any),
        EntityOperation::Merge(sent(), IfMatch::NoVersion),
    ] {
        let mut world = World::new();
        assert!(matches!(world.apply(&operation), Err(EntityError::NotFound)), "{operation:?}");
        assert_eq!(world.counts(), (0, 0));
    }
}

#[test]
fn a_condition_names_the_version_that_is_there() {
    let mut world = World::new();
    let version = world.apply(&one(1)).unwrap().timestamp.unwrap();
    let stale = IfMatch::Version(Ticks::from_count(version.count() - 1));
    for if_match in [stale, IfMatch::NoVersion] {
        for operation in [
            EntityOperation::Merge(sent(), if_match),
            EntityOperation::Replace(sent(), if_match),
            EntityOperation::Delete(key("p", "r"), if_match),
        ] {
            assert!(matches!(world.apply(&operation), Err(EntityError::ConditionNotMet)), "{operation:?}");
        }
    }
    assert_eq!(world.counts(), (1, 1));
    let next = world.apply(&EntityOperation::Merge(sent(), IfMatch::Version(version))).unwrap();
    let next = next.timestamp.unwrap();
    let again = EntityOperation::Replace(sent(), IfMatch::Version(version));
    assert!(matches!(world.apply(&again), Err(EntityError::ConditionNotMet)));
    let deleted = world.apply(&EntityOperation::Delete(key("p", "r"), IfMatch::Version(next))).unwrap();
    assert_eq!((deleted.timestamp, deleted.is_new), (None, false));
    assert!(world.get("p", "r").is_none());
}

#[test]
fn timestamps_grow_although_the_clock_stands_still_or_goes_back() {
    let mut world = World::new();
    let mut last = world.apply(&one(1)).unwrap().timestamp.unwrap();
    assert_eq!(last, Ticks::at(world.now));
    for _ in 0..3 {
        let next = world.apply(&EntityOperation::InsertOrMerge(sent())).unwrap().timestamp.unwrap();
        assert_eq!(next, last.next());
        last = next;
    }
    world.now = orrery_core::Timestamp::from_seconds(1);
    let next = world.apply(&EntityOperation::InsertOrReplace(sent())).unwrap().timestamp.unwrap();
    assert_eq!(next, last.next());
    world.now = crate::world::START.plus(Duration::from_secs(1));
    let next = world.apply(&EntityOperation::InsertOrReplace(sent())).unwrap().timestamp.unwrap();
    assert_eq!(next, Ticks::at(world.now));
}

#[test]
fn what_a_merge_makes_is_within_the_limits_too() {
    let numbered = |from: usize, to: usize| -> Vec<(String, Value)> {
        (from..to).map(|number| (format!("p{number}"), Value::Int32(1))).collect()
    };
    let of = |all: &[(String, Value)]| {
        let all: Vec<(&str, Value)> =
            all.iter().map(|(name, value)| (name.as_str(), value.clone())).collect();
        entity("p", "r", &all)
    };
    let mut world = World::new();
    world.insert(of(&numbered(0, limits::PROPERTIES_MAX)));
    let same = EntityOperation::InsertOrMerge(of(&numbered(0, 10)));
    world.apply(&same).unwrap();
    let more =
        EntityOperation::InsertOrMerge(of(&numbered(limits::PROPERTIES_MAX, limits::PROPERTIES_MAX + 1)));
    let refused = world.apply(&more);
    assert!(matches!(refused, Err(EntityError::Invalid(InvalidEntity::TooManyProperties))));

    let large = |from: usize, to: usize| -> Vec<(String, Value)> {
        let value = || Value::Binary(vec![0; 64 * 1024].into());
        (from..to).map(|number| (format!("p{number}"), value())).collect()
    };
    let mut world = World::new();
    world.insert(of(&large(0, 10)));
    let refused = world.apply(&EntityOperation::Merge(of(&large(10, 20)), IfMatch::Any));
    assert!(matches!(refused, Err(EntityError::Invalid(InvalidEntity::EntityTooLarge))));
}

#[test]
fn an_insert_is_a_row_a_log_entry_and_a_condition() {
    let world = World::new();
    let (snapshot, nothing) = (world.snapshot(), Overlay::default());
    let mut txn = Txn::new(&snapshot, &nothing);
    let stamp = Stamp { now: world.now, ticks: Ticks::at(world.now) };
    operations::apply(&mut txn, &world.table, &one(1), stamp).unwrap();
    let stamped = txn.into_batch().stamp(orrery_core::Lsn(99));
    assert_eq!(stamped.puts().len(), 1);
}

#[test]
fn a_dropped_table_takes_no_more_writes() {
    let mut world = World::new();
    let (snapshot, nothing) = (world.snapshot(), Overlay::default());
    let mut late = Txn::new(&snapshot, &nothing);
    let stamp = Stamp { now: world.now, ticks: Ticks::at(world.now) };
    operations::apply(&mut late, &world.table, &one(1), stamp).unwrap();
    let late = late.into_batch();
    world.txn(|txn| table::delete(txn, &account(), &name("rUNS"))).unwrap();
    assert_eq!(world.commit(late), Outcome::Refused);
    let alive = Row::Alive { table: world.table.number() }.key();
    let requires = world.txn(|txn| {
        txn.require(META, alive, Expect::Absent);
        Ok::<_, TableError>(())
    });
    assert!(requires.is_ok());
}

#[test]
fn tables_have_names_whatever_the_case_and_numbers_of_their_own() {
    let mut world = World::new();
    let again = world.txn(|txn| table::create(txn, &account(), &name("RUNS"), crate::world::START));
    assert!(matches!(again, Err(TableError::Exists)));
    let first = world.table.number();
    world.txn(|txn| table::delete(txn, &account(), &name("Runs"))).unwrap();
    let gone = world.txn(|txn| table::delete(txn, &account(), &name("Runs")));
    assert!(matches!(gone, Err(TableError::NotFound)));
    let second = world.txn(|txn| table::create(txn, &account(), &name("RUNS"), crate::world::START)).unwrap();
    assert_ne!(second.number(), first);
    let found = table::load(&*world.snapshot(), &account(), &name("runs")).unwrap().unwrap();
    assert_eq!(found.name.as_str(), "RUNS");
    assert_eq!(table::all(&*world.snapshot()).unwrap(), [found]);
}
