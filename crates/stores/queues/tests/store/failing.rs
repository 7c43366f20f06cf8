//! Commits that fail: no message is lost, and none is kept from those who come after.

use crate::world::{World, count, seconds, texts};
use orrery_kv::{Fault, MemoryEngine, Sync};
use orrery_queue_store::Error;
use orrery_queues::spaces::SPACES;
use std::task::{Context, Waker};

#[test]
fn a_get_that_is_not_committed_loses_nothing() {
    let engine = MemoryEngine::new(&SPACES);
    let world = World::over(engine.clone(), Sync::Data);
    for text in ["a", "b", "c"] {
        world.put(text);
    }
    engine.fail_at(0, Fault::BeforeWrite);
    assert!(matches!(world.try_get(2, 30), Err(Error::Engine(_))));
    assert_eq!(world.visible(), ["a", "b", "c"]);
    assert_eq!(texts(&world.get(32, 30)), ["a", "b", "c"]);
    assert_eq!(world.count(), 3);
}

#[test]
fn gets_that_follow_one_that_fails_find_what_it_took() {
    for fails_at in 0..3 {
        let engine = MemoryEngine::new(&SPACES);
        let world = World::over(engine.clone(), Sync::Data);
        for number in 0..12 {
            world.put(&number.to_string());
        }
        engine.fail_at(fails_at, Fault::BeforeWrite);
        let get = || world.store.get(&world.queue, count(3), seconds(30));
        let (first, second, third) = world.run(async { tokio::join!(get(), get(), get()) });
        let answered = [first, second, third].into_iter().flatten().flatten();
        let mut found: Vec<_> = answered.map(|got| got.message.text.as_str().to_owned()).collect();
        // If they shared a commit, the write that fails is only this one.
        let rest = world.try_get(32, 30).or_else(|_| world.try_get(32, 30)).unwrap();
        found.extend(rest.iter().map(|got| got.message.text.as_str().to_owned()));
        found.sort_by_key(|text| text.parse::<u32>().unwrap());
        let all: Vec<String> = (0..12).map(|number| number.to_string()).collect();
        assert_eq!(found, all, "write {fails_at} fails");
    }
}

#[test]
fn a_get_that_nobody_waits_for_hides_its_messages_and_no_others() {
    let world = World::new();
    for number in 0..8 {
        world.put(&number.to_string());
    }
    let mut get = Box::pin(world.store.get(&world.queue, count(3), seconds(30)));
    world.run(async { drop(get.as_mut().poll(&mut Context::from_waker(Waker::noop()))) });
    drop(get);
    assert_eq!(texts(&world.get(32, 30)), ["3", "4", "5", "6", "7"]);
    world.advance(30);
    assert_eq!(world.get(32, 30).len(), 8);
}

#[test]
fn a_put_that_is_not_committed_is_not_there() {
    let engine = MemoryEngine::new(&SPACES);
    let world = World::over(engine.clone(), Sync::Data);
    engine.fail_at(0, Fault::BeforeWrite);
    let put = world.run(world.store.put(&world.queue, crate::world::message("a", 0, -1)));
    assert!(matches!(put, Err(Error::Engine(_))));
    assert_eq!((world.visible().len(), world.count()), (0, 0));
    world.put("b");
    assert_eq!((world.visible(), world.count()), (vec!["b".to_owned()], 1));
}

#[test]
fn a_queue_can_be_drained_although_the_disk_is_full() {
    let engine = MemoryEngine::new(&SPACES);
    let world = World::over(engine.clone(), Sync::Data);
    for text in ["a", "b", "c"] {
        world.put(text);
    }
    engine.set_full(true);
    let put = world.run(world.store.put(&world.queue, crate::world::message("d", 0, -1)));
    assert!(matches!(put, Err(Error::Engine(_))));
    let got = world.get(2, 30);
    got.iter().for_each(|got| world.delete(got).unwrap());
    world.run(world.store.clear(&world.queue)).unwrap();
    world.settle();
    assert_eq!(world.count(), 0);
    engine.set_full(false);
    world.put("e");
}
