//! What the background does: rows of dropped and cleared queues go, and so do expired messages.

use crate::world::{World, message};
use orrery_kv::{Engine, KeyRange, META, MemoryEngine, Order, Sync};
use orrery_queues::spaces::{MESSAGES, SPACES};

fn rows(engine: &MemoryEngine) -> usize {
    engine.view().range(MESSAGES, &KeyRange::all(), Order::Ascending).count()
}

/// Rows in `meta` of queues: their tags are 30 and more.
fn definitions(engine: &MemoryEngine) -> usize {
    engine.view().range(META, &KeyRange { start: vec![30], end: None }, Order::Ascending).count()
}

#[test]
fn the_rows_of_a_cleared_queue_are_removed_in_small_steps() {
    let engine = MemoryEngine::new(&SPACES);
    let world = World::over(engine.clone(), Sync::Data);
    for _ in 0..600 {
        world.put("old");
    }
    let empty = definitions(&engine);
    world.run(world.store.clear(&world.queue)).unwrap();
    world.put("new");
    assert_eq!(world.visible(), ["new"]);
    assert!(world.settle() > 2, "it takes several steps");
    assert_eq!(rows(&engine), 3, "the new message, its body, and the count");
    assert_eq!(definitions(&engine), empty + 1, "the generation stays");
    assert_eq!((world.visible(), world.count()), (vec!["new".to_owned()], 1));
}

#[test]
fn nothing_is_left_of_a_dropped_queue() {
    let engine = MemoryEngine::new(&SPACES);
    let world = World::over(engine.clone(), Sync::Data);
    for _ in 0..50 {
        world.put("a");
    }
    world.run(world.store.clear(&world.queue)).unwrap();
    for _ in 0..50 {
        world.put("b");
    }
    world.run(world.store.delete_queue(&world.queue)).unwrap();
    world.settle();
    assert_eq!((rows(&engine), definitions(&engine)), (0, 0));
}

#[test]
fn expired_messages_are_removed_once_an_hour_whoever_holds_them() {
    let engine = MemoryEngine::new(&SPACES);
    let world = World::over(engine.clone(), Sync::Data);
    for _ in 0..20 {
        world.run(world.store.put(&world.queue, message("short", 0, 10))).unwrap();
        world.run(world.store.put(&world.queue, message("hidden", 9, 10))).unwrap();
    }
    world.put("long");
    assert_eq!(world.get(5, 3000).len(), 5);
    world.advance(10);
    world.settle();
    assert_eq!(world.count(), 41, "it is not time yet");
    world.advance(3600);
    world.settle();
    assert_eq!((world.count(), world.visible()), (1, vec!["long".to_owned()]));
    assert_eq!(rows(&engine), 3);
}

#[test]
fn a_get_and_a_peek_pass_over_more_expired_messages_than_one_step_takes() {
    let world = World::new();
    for _ in 0..600 {
        world.run(world.store.put(&world.queue, message("short", 0, 1))).unwrap();
    }
    world.put("long");
    world.advance(1);
    assert_eq!(world.visible(), ["long"]);
    assert_eq!(crate::world::texts(&world.get(1, 30)), ["long"]);
    assert_eq!(world.count(), 1, "the get has removed what it met");
}
