//! Messages: delivered at least once, to one at a time, and gone when they are deleted.

use super::world::{World, is_refused};
use orrery_kit::ports::StoreError;
use orrery_kit::ports::queues::{MessageLife, NewMessage, ReceivedMessage};
use std::collections::BTreeSet;

/// Longer than a test takes.
const LONG: u64 = 3600;

fn message(text: &str) -> NewMessage {
    NewMessage { text: text.to_owned(), ..NewMessage::default() }
}

async fn put(world: &World, text: &str) {
    world.queues.put(&world.queue, &message(text)).await.unwrap();
}

async fn get(world: &World) -> Vec<ReceivedMessage> {
    world.queues.get(&world.queue, 32, LONG).await.unwrap()
}

async fn get_one(world: &World) -> ReceivedMessage {
    let mut got = world.queues.get(&world.queue, 1, LONG).await.unwrap();
    assert_eq!(got.len(), 1);
    got.remove(0)
}

pub async fn a_message_is_received_as_it_was_put(world: &World) {
    let long = "x".repeat(64 * 1024);
    let texts = ["", "  a ", "<&\"'>", "é東🚀", "line\r\nline\n\ttab", "]]>", &long];
    for text in texts {
        put(world, text).await;
    }
    let forever = NewMessage { time_to_live: Some(MessageLife::Forever), ..message("for ever") };
    assert_eq!(world.queues.put(&world.queue, &forever).await.unwrap().expires, None);
    let got = get(world).await;
    let found: Vec<&str> = got.iter().map(|got| got.message.text.as_str()).collect();
    assert_eq!(found, [&texts[..], &["for ever"]].concat());
    assert!(got[0].message.expires.unwrap() > got[0].message.inserted);
    assert_eq!((got[0].message.dequeue_count, got.last().unwrap().message.expires), (1, None));
}

pub async fn a_received_message_is_hidden_until_it_is_deleted(world: &World) {
    put(world, "a").await;
    let later = NewMessage { visibility_seconds: Some(LONG), ..message("later") };
    let accepted = world.queues.put(&world.queue, &later).await.unwrap();
    let got = get_one(world).await;
    assert_eq!((got.message.text.as_str(), get(world).await.len()), ("a", 0));
    assert_eq!(world.queues.count(&world.queue).await, Ok(2));
    world.queues.delete(&world.queue, &got.message.id, &got.receipt).await.unwrap();
    let again = world.queues.delete(&world.queue, &got.message.id, &got.receipt).await;
    assert_eq!(again, Err(StoreError::Missing));
    // Whoever put a message may delete it before anyone gets it.
    world.queues.delete(&world.queue, &accepted.id, &accepted.receipt).await.unwrap();
    assert_eq!(world.queues.count(&world.queue).await, Ok(0));
}

pub async fn a_receipt_that_was_replaced_is_good_for_nothing(world: &World) {
    put(world, "a").await;
    let first = get_one(world).await;
    let id = &first.message.id;
    let updated = world.queues.update(&world.queue, id, &first.receipt, LONG, None).await.unwrap();
    assert!(updated.next_visible > first.message.inserted);
    let delete = |receipt: String| async move { world.queues.delete(&world.queue, id, &receipt).await };
    assert_eq!(delete(first.receipt.clone()).await, Err(StoreError::Changed));
    let update = world.queues.update(&world.queue, id, &first.receipt, 0, Some("b")).await;
    assert_eq!(update, Err(StoreError::Changed));
    assert_eq!(delete(updated.receipt).await, Ok(()));
}

pub async fn an_update_shows_a_message_at_once_with_another_text(world: &World) {
    put(world, "a").await;
    let first = get_one(world).await;
    let id = &first.message.id;
    world.queues.update(&world.queue, id, &first.receipt, 0, Some("<b>")).await.unwrap();
    let second = get_one(world).await;
    assert_eq!((&second.message.id, second.message.text.as_str()), (id, "<b>"));
    assert_eq!(second.message.dequeue_count, 2);
    world.queues.update(&world.queue, id, &second.receipt, 0, None).await.unwrap();
    assert_eq!(get_one(world).await.message.text, "<b>");
}

pub async fn a_peek_takes_nothing(world: &World) {
    assert_eq!(world.queues.peek(&world.queue, 32).await, Ok(Vec::new()));
    put(world, "a").await;
    put(world, "b").await;
    for _ in 0..2 {
        let peeked = world.queues.peek(&world.queue, 1).await.unwrap();
        assert_eq!((peeked.len(), peeked[0].text.as_str(), peeked[0].dequeue_count), (1, "a", 0));
    }
    assert_eq!(get(world).await.len(), 2);
}

pub async fn consumers_at_once_share_the_messages(world: &World) {
    const MESSAGES: usize = 40;
    for number in 0..MESSAGES {
        put(world, &number.to_string()).await;
    }
    let tasks: Vec<_> = (0..8)
        .map(|_| {
            let world = world.clone();
            tokio::spawn(async move { consume(&world).await })
        })
        .collect();
    let mut texts = Vec::new();
    for task in tasks {
        texts.extend(task.await.unwrap());
    }
    let different: BTreeSet<&String> = texts.iter().collect();
    assert_eq!((texts.len(), different.len()), (MESSAGES, MESSAGES));
    assert_eq!(world.queues.count(&world.queue).await, Ok(0));
}

/// Until nothing is left.
async fn consume(world: &World) -> Vec<String> {
    let mut texts = Vec::new();
    loop {
        let got = world.queues.get(&world.queue, 3, LONG).await.unwrap();
        if got.is_empty() {
            return texts;
        }
        for ReceivedMessage { message, receipt, .. } in got {
            world.queues.delete(&world.queue, &message.id, &receipt).await.unwrap();
            texts.push(message.text);
        }
    }
}

pub async fn what_is_out_of_bounds_is_refused(world: &World) {
    let queues = &world.queues;
    for count in [0, 33] {
        is_refused(queues.get(&world.queue, count, LONG).await, &[400]);
        is_refused(queues.peek(&world.queue, count).await, &[400]);
    }
    for seconds in [0, 604_801] {
        is_refused(queues.get(&world.queue, 1, seconds).await, &[400]);
    }
    let refused = [
        message("\u{1}"),
        message(&"x".repeat(64 * 1024 + 1)),
        NewMessage { visibility_seconds: Some(604_801), ..message("a") },
        NewMessage { time_to_live: Some(MessageLife::Seconds(0)), ..message("a") },
        NewMessage {
            visibility_seconds: Some(10),
            time_to_live: Some(MessageLife::Seconds(10)),
            ..message("a")
        },
    ];
    for new in refused {
        is_refused(queues.put(&world.queue, &new).await, &[400, 413]);
    }
    is_refused(queues.put("no-such-queue", &message("a")).await, &[404]);
    is_refused(queues.get("no-such-queue", 1, LONG).await, &[404]);
    is_refused(queues.count("no-such-queue").await, &[404]);
    put(world, "a").await;
    let got = get_one(world).await;
    is_refused(queues.delete(&world.queue, &got.message.id, "nonsense").await, &[400]);
    assert_eq!(queues.count(&world.queue).await, Ok(1));
}

pub async fn a_queue_is_made_once_and_cleared(world: &World) {
    put(world, "a").await;
    world.queues.ensure(&[&world.queue]).await.unwrap();
    assert_eq!(world.queues.count(&world.queue).await, Ok(1));
    world.queues.clear(&world.queue).await.unwrap();
    assert_eq!((world.queues.count(&world.queue).await, get(world).await.len()), (Ok(0), 0));
    is_refused(world.queues.ensure(&["No_Queue"]).await, &[400]);
}
