//! After a change of a container's TTL its items get new expiry rows, step by step, through restarts.

use crate::audit::audit;
use crate::expiring::{index_rows, reap};
use crate::world::{World, target};
use orrery_catalog::Container;
use orrery_catalog::jobs::JobKind;
use orrery_catalog::limits;
use orrery_core::Timestamp;
use orrery_core::limits::REQUEST_SECONDS_MAX;
use orrery_documents::expiry::{self, Step};

/// More items than two steps take.
const ITEMS: usize = 2 * limits::SWEEP_ROWS_MAX + 50;

fn with_items(ttl: &str) -> World {
    let mut world = World::new();
    let container = world.container(ttl);
    world.create_all(&container, (0..ITEMS).map(|n| format!(r#"{{"id":"{n}","pk":{}}}"#, n % 7)));
    world
}

/// Runs the job to its end, with a power cut after every step. Says how many steps the first pass took.
fn rebuild(world: World, container: &Container) -> (World, usize) {
    assert_eq!(
        orrery_catalog::jobs::jobs(&*world.snapshot()).unwrap(),
        [(JobKind::Expiry, container.number())]
    );
    let (mut world, steps) = pass(world, container, 0, Step::Waits);
    assert_eq!(step(&mut world, container, REQUEST_SECONDS_MAX - 1), Step::Waits);
    let (world, _) = pass(world, container, REQUEST_SECONDS_MAX, Step::Done);
    assert_eq!(orrery_catalog::jobs::jobs(&*world.snapshot()).unwrap(), []);
    (world, steps)
}

/// Steps until one says `end`, so many seconds after the world's own time.
fn pass(mut world: World, container: &Container, later: u64, end: Step) -> (World, usize) {
    for steps in 1..100 {
        let came_to = step(&mut world, container, later);
        world = world.restarted();
        audit(&*world.snapshot(), world.db.tip().lsn);
        if came_to == end {
            return (world, steps);
        }
    }
    panic!("the job does not end");
}

fn step(world: &mut World, container: &Container, later: u64) -> Step {
    let now = Timestamp::from_seconds(world.now().seconds() + later);
    world.txn(|txn| expiry::rebuild_step(txn, container, now)).unwrap()
}

fn reap_all(world: &mut World, container: &Container) -> usize {
    let mut removed = 0;
    loop {
        match reap(world, container) {
            (0, _) => return removed,
            (_, count) => removed += count,
        }
    }
}

#[test]
fn turning_expiry_on_enters_every_item() {
    let mut world = with_items("");
    assert_eq!(index_rows(&world), 0);
    let container = world.replace_container(r#""defaultTtl":5"#).unwrap();
    let (mut world, steps) = rebuild(world, &container);
    assert_eq!((steps, index_rows(&world)), (4, ITEMS));
    world.at(5);
    assert_eq!(reap_all(&mut world, &container), ITEMS);
}

/// The key where a step ends begins the keys after it.
#[test]
fn no_item_is_left_out_between_two_steps() {
    let mut world = World::new();
    let container = world.container("");
    let last = limits::SWEEP_ROWS_MAX - 1;
    let id = |n: usize| if n <= last { format!("{n:04}") } else { format!("{last:04}.{n}") };
    world.create_all(&container, (0..last + 20).map(|n| format!(r#"{{"id":"{}","pk":1}}"#, id(n))));
    let container = world.replace_container(r#""defaultTtl":5"#).unwrap();
    let (world, steps) = rebuild(world, &container);
    assert_eq!((steps, index_rows(&world)), (3, last + 20));
}

#[test]
fn a_shorter_time_is_reaped_at_the_shorter_time() {
    let mut world = with_items(r#""defaultTtl":100"#);
    let container = world.replace_container(r#""defaultTtl":10"#).unwrap();
    let (mut world, _) = rebuild(world, &container);
    world.at(10);
    assert_eq!(reap_all(&mut world, &container), ITEMS);
    assert_eq!(audit(&*world.snapshot(), world.db.tip().lsn).items, 0);
    world.at(100);
    assert_eq!(reap_all(&mut world, &container), 0);
    assert_eq!(index_rows(&world), 0, "the rows of the longer time were stale");
}

#[test]
fn a_longer_time_keeps_items_past_the_shorter_one() {
    let mut world = with_items(r#""defaultTtl":10"#);
    let container = world.replace_container(r#""defaultTtl":100"#).unwrap();
    let (mut world, _) = rebuild(world, &container);
    world.at(99);
    assert_eq!(reap_all(&mut world, &container), 0);
    assert!(world.read(&container, &target(&container, "1", "1")).is_some());
    assert_eq!(index_rows(&world), ITEMS);
    world.at(100);
    assert_eq!(reap_all(&mut world, &container), ITEMS);
}

#[test]
fn a_second_change_starts_the_job_over() {
    let mut world = with_items("");
    let first = world.replace_container(r#""defaultTtl":100"#).unwrap();
    assert_eq!(step(&mut world, &first, 0), Step::More);
    let second = world.replace_container(r#""defaultTtl":10"#).unwrap();
    let (mut world, steps) = rebuild(world, &second);
    assert_eq!(steps, 4);
    world.at(10);
    assert_eq!(reap_all(&mut world, &second), ITEMS);
}

#[test]
fn only_a_change_that_turns_expiry_on_or_moves_it_is_work() {
    let mut world = with_items(r#""defaultTtl":10"#);
    world
        .replace_container(
            r#""defaultTtl":10,"computedProperties":[{"name":"m","query":"SELECT VALUE c.n FROM c"}]"#,
        )
        .unwrap();
    assert_eq!(orrery_catalog::jobs::jobs(&*world.snapshot()).unwrap(), [], "the time is the same");
    world.replace_container("").unwrap();
    assert_eq!(orrery_catalog::jobs::jobs(&*world.snapshot()).unwrap(), [], "nothing expires");
}

#[test]
fn items_written_meanwhile_keep_their_own_rows() {
    let mut world = with_items("");
    let container = world.replace_container(r#""defaultTtl":10"#).unwrap();
    assert_eq!(step(&mut world, &container, 0), Step::More);
    world.at(3);
    for body in [r#"{"id":"0","pk":0}"#, r#"{"id":"new","pk":0}"#, r#"{"id":"1","pk":1,"ttl":-1}"#] {
        world.upsert(&container, body, Default::default()).unwrap();
    }
    world.delete(&container, &target(&container, "2", "2"), Default::default()).unwrap();
    let (mut world, _) = rebuild(world, &container);
    world.at(10);
    assert_eq!(reap_all(&mut world, &container), ITEMS - 3);
    world.at(13);
    assert_eq!(reap_all(&mut world, &container), 2);
    assert!(world.read(&container, &target(&container, "1", "1")).is_some());
    audit(&*world.snapshot(), world.db.tip().lsn);
}

#[test]
fn an_item_written_under_the_old_policy_is_found_by_the_second_pass() {
    let mut world = World::new();
    let before = world.container("");
    world.create_all(&before, (0..ITEMS).map(|n| format!(r#"{{"id":"{n}","pk":{}}}"#, n % 7)));
    let container = world.replace_container(r#""defaultTtl":10"#).unwrap();
    let (mut world, _) = pass(world, &container, 0, Step::Waits);
    world.create(&before, r#"{"id":"late","pk":1}"#).unwrap();
    let (mut world, _) = pass(world, &container, REQUEST_SECONDS_MAX, Step::Done);
    world.at(10);
    assert_eq!(reap_all(&mut world, &container), ITEMS + 1);
}

#[test]
fn the_job_of_a_container_that_is_gone_is_forgotten() {
    let mut world = with_items("");
    let container = world.replace_container(r#""defaultTtl":10"#).unwrap();
    world.edit(|txn| orrery_catalog::jobs::forget(txn, JobKind::Expiry, container.number()));
    assert_eq!(orrery_catalog::jobs::jobs(&*world.snapshot()).unwrap(), []);
    assert_eq!(step(&mut world, &container, 0), Step::Done, "nothing is left to do");
}
