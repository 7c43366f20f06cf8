//! What is told of a queue: its size, what waits in it, and the messages that nobody gets done.

use crate::world::{World, message, seconds, text};
use orrery_queue_store::{Metadata, QueueContents, QueueSize, RepeatedMessage, Update};

fn contents(world: &World) -> QueueContents {
    world.store.contents().unwrap().remove(0).1
}

#[test]
fn the_size_follows_puts_updates_deletes_and_clears() {
    let world = World::new();
    let size = || {
        let QueueSize { messages, bytes } = contents(&world).size;
        (messages, bytes)
    };
    assert_eq!(size(), (0, 0));
    world.put("four");
    world.put("é");
    assert_eq!(size(), (2, 6));
    let got = world.get(1, 30).remove(0);
    assert_eq!(size(), (2, 6), "an invisible message is still there");
    let update = Update {
        id: got.message.id,
        receipt: got.receipt,
        visibility: seconds(30),
        text: Some(text("longer than four")),
    };
    let updated = world.run(world.store.update(&world.queue, update.clone())).unwrap();
    assert_eq!(size(), (2, 18));
    let kept = Update { receipt: updated.receipt, text: None, ..update };
    let updated = world.run(world.store.update(&world.queue, kept)).unwrap();
    assert_eq!(size(), (2, 18), "without a text, it stays");
    world.run(world.store.delete(&world.queue, got.message.id, updated.receipt)).unwrap();
    assert_eq!(size(), (1, 2));
    world.run(world.store.clear(&world.queue)).unwrap();
    assert_eq!(size(), (0, 0));
    world.put("after");
    world.settle();
    assert_eq!(size(), (1, 5), "what was cleared is not taken off again when its rows go");
}

#[test]
fn expired_messages_are_in_no_size_once_they_are_removed() {
    let world = World::new();
    world.run(world.store.put(&world.queue, message("met by a get", 0, 5))).unwrap();
    world.run(world.store.put(&world.queue, message("found by the search", 10, 20))).unwrap();
    world.advance(6);
    assert!(world.get(1, 1).is_empty());
    assert_eq!(contents(&world).size, QueueSize { messages: 1, bytes: 19 });
    world.advance(60 * 60);
    world.settle();
    assert_eq!(contents(&world).size, QueueSize::default());
}

#[test]
fn a_queue_waits_since_its_first_message_became_visible() {
    let world = World::new();
    let waits =
        || contents(&world).waiting_since.map(|since| since.abs_diff(world.store.env().now()).as_secs());
    assert_eq!(waits(), None);
    world.run(world.store.put(&world.queue, message("later", 100, -1))).unwrap();
    world.run(world.store.put(&world.queue, message("expires", 0, 30))).unwrap();
    world.advance(10);
    world.put("waits");
    world.advance(50);
    assert_eq!(waits(), Some(50), "what has expired waits for nobody, nor does what is invisible");
    world.get(1, 500);
    assert_eq!(waits(), None);
    world.advance(45);
    assert_eq!(waits(), Some(5), "the time of the invisible one has come");
}

#[test]
fn messages_that_were_got_five_times_are_told_until_they_are_deleted() {
    let world = World::new();
    world.put("poison");
    let mut got = Vec::new();
    for gets in 1..=6 {
        got = world.get(1, 1);
        world.advance(1);
        let told: Vec<u32> = contents(&world).repeated.iter().map(|message| message.gets).collect();
        assert_eq!(told, if gets < 5 { vec![] } else { vec![gets] });
    }
    let id = got[0].message.id;
    assert_eq!(contents(&world).repeated, [RepeatedMessage { id, gets: 6 }]);
    let counts = world.store.counts().remove(0).1;
    assert_eq!((counts.messages_got, counts.messages_got_again), (6, 5));
    world.run(world.store.set_metadata(&world.queue, Metadata::default())).unwrap();
    assert_eq!(contents(&world).repeated.len(), 1, "another definition, the same queue");
    world.delete(&got[0]).unwrap();
    assert!(contents(&world).repeated.is_empty());
}

#[test]
fn only_the_most_recent_of_them_are_remembered() {
    let world = World::new();
    for _ in 0..20 {
        world.put("poison");
    }
    for _ in 0..5 {
        world.get(32, 1);
        world.advance(1);
    }
    assert_eq!(contents(&world).repeated.len(), orrery_queue_store::limits::REPEATED_MESSAGES_MAX);
}
