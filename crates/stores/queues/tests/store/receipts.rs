//! Only the newest receipt of a message opens it (M6).

use crate::world::{World, count, message, seconds, text};
use orrery_queue_store::{Error, MessageId, PopReceipt, Update, Updated};

fn update(world: &World, id: MessageId, receipt: PopReceipt, hidden: i64) -> Result<Updated, Error> {
    let update = Update { id, receipt, visibility: seconds(hidden), text: None };
    world.run(world.store.update(&world.queue, update))
}

#[test]
fn no_receipt_but_the_newest_is_ever_accepted() {
    let world = World::new();
    let accepted = world.put("a");
    let (id, mut receipts) = (accepted.id, vec![accepted.receipt]);
    // The clock stands still: every row but the invisible ones is at the same position as the one before.
    for round in 0..6 {
        let newest = *receipts.last().unwrap();
        receipts.push(match round % 3 {
            0 => update(&world, id, newest, 0).unwrap().receipt,
            1 => world.get(1, 1)[0].receipt,
            _ => update(&world, id, newest, 0).unwrap().receipt,
        });
        let (newest, stale) = receipts.split_last().unwrap();
        for receipt in stale {
            assert!(newest != receipt);
            assert!(matches!(update(&world, id, *receipt, 0), Err(Error::PopReceiptMismatch)));
            let delete = world.run(world.store.delete(&world.queue, id, *receipt));
            assert!(matches!(delete, Err(Error::PopReceiptMismatch)));
        }
    }
    world.run(world.store.delete(&world.queue, id, *receipts.last().unwrap())).unwrap();
    for receipt in receipts {
        assert!(matches!(update(&world, id, receipt, 0), Err(Error::MessageNotFound)));
    }
}

#[test]
fn a_receipt_is_good_after_the_message_became_visible_until_somebody_gets_it() {
    let world = World::new();
    world.put("a");
    let first = world.get(1, 1).remove(0);
    world.advance(5);
    assert_eq!(world.visible(), ["a"]);
    let updated = update(&world, first.message.id, first.receipt, 10).unwrap();
    assert!(world.visible().is_empty());
    world.advance(10);
    let second = world.get(1, 1).remove(0);
    assert_eq!(second.message.dequeue_count, 2);
    let stale = world.run(world.store.delete(&world.queue, second.message.id, updated.receipt));
    assert!(matches!(stale, Err(Error::PopReceiptMismatch)));
    world.delete(&second).unwrap();
}

#[test]
fn a_receipt_opens_no_other_message_and_no_id_that_was_made_up() {
    let world = World::new();
    let (one, other) = (world.put("one"), world.put("other"));
    let delete = |id, receipt| world.run(world.store.delete(&world.queue, id, receipt));
    assert!(matches!(delete(one.id, other.receipt), Err(Error::PopReceiptMismatch)));
    let forged = one.id.to_string();
    let last = if forged.ends_with('0') { '1' } else { '0' };
    let forged = MessageId::parse(&format!("{}{last}", &forged[..35])).unwrap();
    assert!(matches!(delete(forged, one.receipt), Err(Error::MessageNotFound)));
    assert_eq!(world.visible(), ["one", "other"]);
}

#[test]
fn an_update_keeps_the_count_of_gets_and_the_expiry_and_replaces_the_text_it_names() {
    let world = World::new();
    let accepted = world.run(world.store.put(&world.queue, message("before", 0, 100))).unwrap();
    let got = world.get(1, 5).remove(0);
    let change = Update {
        id: accepted.id,
        receipt: got.receipt,
        visibility: seconds(0),
        text: Some(text(" after\n")),
    };
    world.run(world.store.update(&world.queue, change)).unwrap();
    let shown = world.run(world.store.peek(&world.queue, count(1))).unwrap().remove(0);
    assert_eq!((shown.text.as_str(), shown.dequeue_count), (" after\n", 1));
    assert_eq!((shown.inserted, shown.expires), (accepted.inserted, accepted.expires));
}

#[test]
fn a_message_is_not_hidden_for_longer_than_it_lives() {
    let world = World::new();
    let accepted = world.run(world.store.put(&world.queue, message("a", 0, 60))).unwrap();
    let refused = update(&world, accepted.id, accepted.receipt, 61);
    assert!(matches!(refused, Err(Error::VisibilityAfterExpiry { seconds_left: 60 })));
    update(&world, accepted.id, accepted.receipt, 60).unwrap();
}
