//! A dropped container's rows are removed, and nobody else's.

use crate::audit::{Tally, audit};
use crate::world::World;
use orrery_catalog as catalog;
use orrery_catalog::jobs::Step;
use orrery_catalog::jobs::{self, JobKind};
use orrery_catalog::limits;
use orrery_documents::item::Preconditions;
use orrery_documents::limits::TEXT_APART_BYTES_MIN;
use orrery_documents::spaces::{DOCUMENTS, INDEX, LOG, OVERFLOW};
use orrery_documents::sweep;
use orrery_kv::{KeyRange, META, Order, Read, Row, Space};

const MEMBERS: &str = r#""defaultTtl":60,"uniqueKeyPolicy":{"uniqueKeys":[{"paths":["/n"]}]}"#;
/// The place and the entries of an item: its id, key, number and filler, and when it was written.
const INDEX_ROWS: usize = 6;
/// One item in so many has a text that lies apart.
const LARGE_EVERY: usize = 8;

/// Every row of the containers' spaces.
fn rows(world: &World) -> Vec<(Space, Row)> {
    let snapshot = world.snapshot();
    let of = |space| {
        snapshot.range(space, &KeyRange::all(), Order::Ascending).map(move |row| (space, row.unwrap()))
    };
    [DOCUMENTS, INDEX, LOG, OVERFLOW].into_iter().flat_map(of).collect()
}

#[test]
fn a_sweep_removes_every_row_of_its_container_and_nothing_else() {
    let mut world = World::new();
    let before = world.named_container("before", MEMBERS);
    let doomed = world.named_container("doomed", MEMBERS);
    let after = world.named_container("after", MEMBERS);
    let much = |n: usize| {
        if n.is_multiple_of(LARGE_EVERY) { "x".repeat(TEXT_APART_BYTES_MIN) } else { String::new() }
    };
    let body = |n: usize| format!(r#"{{"id":"{n}","pk":{},"n":{n},"much":"{}"}}"#, n % 3, much(n));
    world.create_all(&before, (0..20).map(body));
    world.create_all(&after, (0..20).map(body));
    let others = rows(&world);
    let count = limits::SWEEP_ROWS_MAX + 20;
    world.create_all(&doomed, (0..count).map(body));
    let partitions = 3;
    let texts = count.div_ceil(LARGE_EVERY);
    let expected = others.len() + (4 + INDEX_ROWS) * count + texts + partitions + 1;
    assert_eq!(rows(&world).len(), expected, "what each item has, and the partitions' rows and the tally");

    world.txn(|txn| catalog::delete_container(txn, "db", "doomed", Preconditions::default())).unwrap();
    assert_eq!(orrery_catalog::jobs::jobs(&*world.snapshot()).unwrap(), [(JobKind::Sweep, doomed.number())]);
    let (mut steps, mut places) = (1, Vec::new());
    while world.txn(|txn| sweep::step(txn, doomed.number())).unwrap() == Step::More {
        world = world.restarted();
        audit(&*world.snapshot(), world.db.tip().lsn);
        let job = jobs::key(JobKind::Sweep, doomed.number());
        let reached = world.snapshot().get(META, &job).unwrap().unwrap();
        assert!(places.last() < Some(&reached), "a step begins where the one before ended");
        places.push(reached);
        steps += 1;
    }
    let index = ((2 + INDEX_ROWS) * count + partitions + 1).div_ceil(limits::SWEEP_ROWS_MAX);
    assert_eq!(steps, 2 + index + 2 + 1, "documents, index, log, and the end");
    assert_eq!(rows(&world), others);
    assert_eq!(orrery_catalog::jobs::jobs(&*world.snapshot()).unwrap(), []);
    let tally = audit(&*world.snapshot(), world.db.tip().lsn);
    assert_eq!(tally, Tally { items: 40, unique: 40, expiring: 40, log: 40 });
}

#[test]
fn a_container_of_the_same_name_is_not_the_one_that_was_dropped() {
    let mut world = World::new();
    let first = world.container(MEMBERS);
    world.create(&first, r#"{"id":"a","pk":1}"#).unwrap();
    world.txn(|txn| catalog::delete_container(txn, "db", "c", Preconditions::default())).unwrap();
    let second = world.container(MEMBERS);
    assert_ne!(first.number(), second.number());
    world.create(&second, r#"{"id":"a","pk":1}"#).unwrap();
    while world.txn(|txn| sweep::step(txn, first.number())).unwrap() == Step::More {}
    assert_eq!(audit(&*world.snapshot(), world.db.tip().lsn).items, 1);
}
