//! The rows of a dropped table go, step by step, and nobody else's.

use crate::world::{START, World, account, entity, name};
use orrery_catalog::jobs::Step;
use orrery_kv::{Error, KeyRange, META, Order, Read};
use orrery_tables::spaces::{ENTITIES, LOG};
use orrery_tables::{TableError, Value, limits, row, sweep, table};

#[test]
fn the_rows_of_a_dropped_table_go_in_steps() {
    let mut world = World::new();
    let one = |n: usize| entity("p", &n.to_string(), &[("n", Value::Int32(1))]);
    world.fill((0..limits::SWEEP_ROWS_MAX + 10).map(one));
    let dropped = world.table.clone();
    world.table = world.txn(|txn| table::create(txn, &account(), &name("Other"), START)).unwrap();
    world.insert(entity("p", "stays", &[]));
    world.txn(|txn| table::delete(txn, &account(), &name("Runs"))).unwrap();

    assert_eq!(sweep::jobs(&*world.snapshot()).unwrap(), [dropped.number()]);
    let step = |world: &mut World| world.txn(|txn| sweep::step(txn, dropped.number())).unwrap();
    let left = |world: &World| {
        world.snapshot().range(ENTITIES, &row::entities(dropped.number()), Order::Ascending).count()
    };
    assert_eq!(step(&mut world), Step::More);
    assert_eq!(left(&world), 10);
    let steps = (0..100).take_while(|_| step(&mut world) == Step::More).count();
    assert_eq!(steps, 3, "the rest of the entities, and two steps for the log");
    assert_eq!(left(&world), 0);
    assert!(sweep::jobs(&*world.snapshot()).unwrap().is_empty());
    assert_eq!(world.counts(), (1, 1), "the other table has what it had");
    let snapshot = world.snapshot();
    let all = |space| snapshot.range(space, &KeyRange::all(), Order::Ascending).count();
    assert_eq!((all(ENTITIES), all(LOG)), (1, 1));
    let mentions = snapshot.range(META, &KeyRange::all(), Order::Ascending);
    let keys: Vec<_> = mentions.map(|row| row.map(|(key, _)| key)).collect::<Result<_, Error>>().unwrap();
    assert!(!keys.iter().any(|key| key.ends_with(&dropped.number().to_be_bytes())), "no row is about it");
}

#[test]
fn a_table_without_rows_is_swept_at_once() {
    let mut world = World::new();
    world.txn(|txn| table::delete(txn, &account(), &name("Runs"))).unwrap();
    let number = world.table.number();
    assert_eq!(world.txn(|txn| sweep::step(txn, number).map_err(TableError::from)).unwrap(), Step::Done);
    assert!(sweep::jobs(&*world.snapshot()).unwrap().is_empty());
}
