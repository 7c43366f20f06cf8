//! Background rounds: what is due happens, and what is no longer needed goes, with its chunks.

use crate::world::{World, blob, content};
use orrery_blob_store::model::spaces::{BLOBS, CONTENT, LOG};
use orrery_blob_store::model::{Conditions, Selector};
use orrery_txn::Progress;

const DAY: u64 = 86_400;

#[test]
fn nothing_to_do_is_idle() {
    let world = World::new();
    world.put("a", b"1");
    assert_eq!(world.round().unwrap(), Progress::Idle);
    assert_eq!(world.round().unwrap(), Progress::Idle);
}

#[test]
fn blocks_that_are_not_committed_go_after_a_week() {
    let world = World::new();
    world.stage("a", "QQ==", &content(100_000, 1)).unwrap();
    world.advance(6 * DAY);
    world.stage("a", "Qg==", b"small").unwrap();
    world.settle();
    assert_eq!(world.states(), ["a uncommitted"]);
    world.advance(DAY);
    world.settle();
    assert_eq!(world.states(), [""; 0]);
    assert_eq!((world.rows(BLOBS), world.chunks()), (0, 0));
}

#[test]
fn committed_blocks_do_not_go_with_those_that_were_not() {
    let world = World::new();
    world.stage("a", "QQ==", &content(100_000, 1)).unwrap();
    world.commit("a", &["QQ=="]).unwrap();
    world.advance(8 * DAY);
    world.settle();
    assert_eq!(world.read("a"), content(100_000, 1));
}

#[test]
fn content_goes_when_the_log_does_not_need_it_any_more() {
    let world = World::new();
    for seed in 0..5 {
        world.put("a", &content(100_000, seed));
    }
    world.run(world.store.snapshot_blob(&blob("a"), None, Conditions::default())).unwrap();
    world.put("b", &content(100_000, 9));
    world.delete("b").unwrap();
    world.advance(7 * DAY - 1);
    world.settle();
    let contents = |world: &World| world.rows(CONTENT);
    assert_eq!(contents(&world), 6 + 1, "six contents, and that one has two states");
    world.advance(120);
    world.settle();
    assert_eq!(contents(&world), 1 + 1);
    assert_eq!(world.read("a"), content(100_000, 4));
    assert!(world.rows(LOG) > 0, "entries that are verified when the store is opened stay");
    let before = world.chunks();
    world.put("c", &content(100_000, 10));
    assert!(world.chunks() > before);
    world.delete("c").unwrap();
    world.advance(8 * DAY);
    world.settle();
    assert_eq!(world.chunks(), before);
    assert_eq!(world.try_read("a", Selector::Current, None).unwrap(), content(100_000, 4));
}

#[test]
fn uploads_that_nobody_took_leave_nothing() {
    let world = World::new();
    drop(world.upload(&content(1_000_000, 1)));
    world.settle();
    assert_eq!(world.chunks(), 0);
}
