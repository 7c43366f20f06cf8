//! The log of changes: pre-images are in it, and what is old goes.

use crate::world::{World, entity, key, properties};
use orrery_core::Lsn;
use orrery_kv::limits::LOG_VERIFY_COMMITS;
use orrery_tables::changes::{self, Change};
use orrery_tables::{EntityError, EntityOperation, EntityRow, IfMatch, Value, limits};
use std::time::Duration;

fn numbered(n: i32) -> orrery_tables::Entity {
    entity("p", "r", &[("n", Value::Int32(n))])
}

#[test]
fn every_change_has_the_entity_that_it_replaced() {
    let mut world = World::new();
    world.insert(numbered(1));
    let first = world.get("p", "r").unwrap();
    world.apply(&EntityOperation::InsertOrReplace(numbered(2))).unwrap();
    let second = world.get("p", "r").unwrap();
    world.apply(&EntityOperation::Merge(entity("p", "r", &[("m", Value::Int32(3))]), IfMatch::Any)).unwrap();
    let third = world.get("p", "r").unwrap();
    world.apply(&EntityOperation::Delete(key("p", "r"), IfMatch::Any)).unwrap();

    let snapshot = world.snapshot();
    let entries: Vec<changes::Entry> =
        changes::after(&*snapshot, world.table.number(), Lsn(0)).collect::<Result<_, _>>().unwrap();
    let kinds: Vec<Change> = entries.iter().map(changes::Entry::change).collect();
    assert_eq!(kinds, [Change::Create, Change::Replace, Change::Replace, Change::Delete]);
    let replaced: Vec<Option<EntityRow>> =
        entries.iter().map(|entry| changes::replaced(entry).unwrap()).collect();
    assert_eq!(replaced, [None, Some(first), Some(second), Some(third)]);
    assert!(entries.iter().all(|entry| entry.at() == world.now));
}

/// What is undone from the end is what there was.
#[test]
fn undoing_the_log_gives_every_earlier_state() {
    let mut world = World::new();
    let mut states: Vec<(Lsn, Vec<(String, Value)>)> = Vec::new();
    let state = |world: &World| world.get("p", "r").map(|entity| properties(&entity)).unwrap_or_default();
    for n in 0..20 {
        let operation = match n % 5 {
            4 => EntityOperation::Delete(key("p", "r"), IfMatch::Any),
            3 => EntityOperation::InsertOrMerge(entity("p", "r", &[("m", Value::Int32(n))])),
            _ => EntityOperation::InsertOrReplace(numbered(n)),
        };
        states.push((world.snapshot().lsn(), state(&world)));
        world.apply(&operation).unwrap();
    }
    let snapshot = world.snapshot();
    for (lsn, expected) in states {
        let first = changes::after(&*snapshot, world.table.number(), lsn).next().unwrap().unwrap();
        let before = changes::replaced(&first).unwrap().map(|entity| properties(&entity)).unwrap_or_default();
        assert_eq!(before, expected, "as of {lsn}");
    }
}

fn write(world: &mut World, count: i32) {
    for n in 0..count {
        world.apply(&EntityOperation::InsertOrReplace(numbered(n))).unwrap();
    }
}

fn trim(world: &mut World) -> usize {
    let (table, now) = (world.table.number(), world.now);
    let Some(step) = changes::plan_trimming(&world.snapshot(), table, now).unwrap() else { return 0 };
    let trimmed = world.txn(|txn| {
        changes::apply_trimming(txn, table, &step);
        Ok::<_, EntityError>(step.entries())
    });
    trimmed.unwrap()
}

#[test]
fn entries_past_their_retention_go_except_the_newest() {
    let mut world = World::new();
    let retention = Duration::from_secs(limits::LOG_RETENTION_SECONDS);
    write(&mut world, 10);
    world.now = world.now.plus(retention / 2);
    write(&mut world, 5);
    world.skip_commits(LOG_VERIFY_COMMITS + 1);
    world.insert(entity("p", "other", &[]));
    assert_eq!(trim(&mut world), 0, "all are young");

    world.now = world.now.plus(retention / 2);
    assert_eq!(trim(&mut world), 10);
    assert_eq!(trim(&mut world), 0);
    assert_eq!(world.counts(), (2, 6));
    world.now = world.now.plus(retention);
    assert_eq!(trim(&mut world), 5);
    assert_eq!(world.counts(), (2, 1), "the next entry is linked to the newest");
    assert_eq!(changes::horizon(&*world.snapshot(), world.table.number()).unwrap(), Lsn(16));
}

#[test]
fn entries_that_opening_verifies_stay() {
    let mut world = World::new();
    write(&mut world, 10);
    world.now = world.now.plus(Duration::from_secs(2 * limits::LOG_RETENTION_SECONDS));
    assert_eq!(trim(&mut world), 0);
}
