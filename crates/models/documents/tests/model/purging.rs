//! Emptying a partition: what goes, what stays, and going on after a restart.

use crate::audit::audit;
use crate::patching::ALWAYS;
use crate::world::{Change, World, epk, target};
use orrery_catalog::Container;
use orrery_catalog::jobs::Step;
use orrery_documents::limits;
use orrery_documents::purge;

const MEMBERS: &str = r#""defaultTtl":-1,"uniqueKeyPolicy":{"uniqueKeys":[{"paths":["/n"]}]}"#;

fn fill(world: &mut World, container: &Container, key: u32, ids: std::ops::Range<usize>) {
    world.create_all(container, ids.map(|n| format!(r#"{{"id":"{n:05}","pk":{key},"n":{n}}}"#)));
}

fn begin(world: &mut World, container: &Container) -> Step {
    let (now, bound, epk) = (world.now(), world.ordinal(), epk(container, "1"));
    world.txn(|txn| purge::begin(txn, container, epk.as_bytes(), now, bound)).unwrap()
}

fn step(world: &mut World, container: &Container) -> Step {
    let (now, epk) = (world.now(), epk(container, "1"));
    world.txn(|txn| purge::step(txn, container, epk.as_bytes(), now)).unwrap()
}

fn items(world: &World) -> usize {
    audit(&*world.snapshot(), world.db.tip().lsn).items
}

#[test]
fn a_small_partition_is_empty_at_once_and_others_stay() {
    let mut world = World::new();
    let container = world.container(MEMBERS);
    fill(&mut world, &container, 1, 0..100);
    fill(&mut world, &container, 2, 0..10);
    assert_eq!(begin(&mut world, &container), Step::Done);
    assert_eq!(items(&world), 10);
    assert_eq!(purge::jobs(&*world.snapshot()).unwrap(), []);
    let deletes = world.log(&container).iter().filter(|(change, _)| *change == Change::Delete).count();
    assert_eq!(deletes, 100, "each has its entry in the log");
    assert_eq!(begin(&mut world, &container), Step::Done, "there is nothing to do");
}

#[test]
fn a_larger_one_goes_in_slices_through_restarts() {
    let mut world = World::new();
    let container = world.container(MEMBERS);
    let count = 3 * limits::PURGE_ITEMS_MAX + 10;
    fill(&mut world, &container, 1, 0..count);
    fill(&mut world, &container, 2, 0..10);
    let mut steps = vec![begin(&mut world, &container)];
    let noted = vec![(container.number(), epk(&container, "1").as_bytes().to_vec())];
    while steps.last() == Some(&Step::More) {
        assert_eq!(purge::jobs(&*world.snapshot()).unwrap(), noted);
        let left = (10 + count).saturating_sub(steps.len() * limits::PURGE_ITEMS_MAX).max(10);
        assert_eq!(items(&world), left);
        world = world.restarted();
        steps.push(step(&mut world, &container));
    }
    assert_eq!(steps.len(), 5, "four slices, and a look whether anything is left");
    assert_eq!(items(&world), 10);
    assert_eq!(purge::jobs(&*world.snapshot()).unwrap(), []);
    assert_eq!(step(&mut world, &container), Step::Done, "what is done is done");
}

#[test]
fn large_items_go_a_few_at_a_time() {
    let mut world = World::new();
    let container = world.container("");
    let filler = "x".repeat(1_500_000);
    world.create_all(&container, (0..7).map(|n| format!(r#"{{"id":"{n}","pk":1,"f":"{filler}"}}"#)));
    assert_eq!(begin(&mut world, &container), Step::More);
    assert_eq!(items(&world), 4, "three are more than fits into one commit");
}

#[test]
fn what_is_made_meanwhile_stays_and_what_is_written_meanwhile_goes() {
    let mut world = World::new();
    let container = world.container("");
    let count = 2 * limits::PURGE_ITEMS_MAX;
    fill(&mut world, &container, 1, 0..count);
    assert_eq!(begin(&mut world, &container), Step::More);
    world.create(&container, r#"{"id":"00000","pk":1,"again":true}"#).unwrap();
    world.create(&container, r#"{"id":"zzz","pk":1}"#).unwrap();
    let last = format!("{:05}", count - 1);
    world.upsert(&container, &format!(r#"{{"id":"{last}","pk":1,"touched":true}}"#), ALWAYS).unwrap();
    // Behind where the pass has come to, where only another pass finds it.
    let from = target(&container, "1", &format!("{:05}", count - 2));
    world.replace(&container, &from, r#"{"id":"00001","pk":1}"#, ALWAYS).unwrap();
    while step(&mut world, &container) == Step::More {}
    assert_eq!(items(&world), 2);
    assert!(world.read(&container, &target(&container, "1", "00000")).is_some());
    assert!(world.read(&container, &target(&container, "1", "zzz")).is_some());
}

#[test]
fn a_second_order_takes_over_the_first() {
    let mut world = World::new();
    let container = world.container("");
    fill(&mut world, &container, 1, 0..2 * limits::PURGE_ITEMS_MAX);
    assert_eq!(begin(&mut world, &container), Step::More);
    world.create(&container, r#"{"id":"00000","pk":1}"#).unwrap();
    begin(&mut world, &container);
    while step(&mut world, &container) == Step::More {}
    assert_eq!(items(&world), 0, "what was there at the second order goes too");
}

#[test]
fn rows_that_stay_are_only_looked_at_so_many_at_a_time() {
    let mut world = World::new();
    let container = world.container("");
    fill(&mut world, &container, 1, 0..limits::PURGE_ITEMS_MAX + 1);
    assert_eq!(begin(&mut world, &container), Step::More);
    let newer = limits::PURGE_ROWS_MAX + 100;
    world.create_all(&container, (0..newer).map(|n| format!(r#"{{"id":"new{n:05}","pk":1}}"#)));
    let mut steps = 0;
    while step(&mut world, &container) == Step::More {
        steps += 1;
    }
    assert!(steps >= 3, "two passes of at least two slices");
    assert_eq!(items(&world), newer);
}

#[test]
fn an_expired_item_goes_as_one() {
    let mut world = World::new();
    let container = world.container(r#""defaultTtl":-1"#);
    world.create(&container, r#"{"id":"a","pk":1,"ttl":5}"#).unwrap();
    world.at(5);
    assert_eq!(begin(&mut world, &container), Step::Done);
    assert_eq!(world.log(&container).last().unwrap(), &(Change::Expire, "a".to_owned()));
}
