//! What is chosen among many items: how many have a value is reckoned, not read.

use super::shelf::{Shelf, everything, key, whole};
use orrery_documents::item::FeedScope;
use serde_json::json;

const EVENTS: u64 = 6_000;
const PK: u64 = 3;

/// A queue in which one event in twenty has failed. Of those all but ten are given up, or due later.
fn queue() -> Shelf {
    let shelf = Shelf::new(everything());
    let event = |n: u64| {
        let (status, retries, at) = match (n % 20, n / 20) {
            (7, it) if it % 30 == 11 => ("FAILED", json!(it % 5), json!(100)),
            (7, it) if it % 3 == 0 => ("FAILED", json!(1), json!(1_000 + it)),
            (7, it) => ("FAILED", json!(5), json!(it)),
            (8, _) => ("DONE", json!("none"), json!(null)),
            _ => ("DONE", json!(0), json!(null)),
        };
        let mut event = json!({
            "id": n.to_string(), "pk": PK, "email": n, "status": status, "retries": retries, "read": !n.is_multiple_of(5),
            "filler": "x".repeat(60),
        });
        if !at.is_null() {
            event["at"] = at;
        }
        event.to_string()
    };
    let texts: Vec<String> = (0..EVENTS).map(event).collect();
    shelf.create_all(&shelf.container(), &texts);
    shelf
}

#[test]
fn what_is_not_meant_is_taken_away() {
    let shelf = queue();
    let due = "SELECT VALUE c.id FROM c WHERE c.status = 'FAILED' AND c.retries < 5 AND c.at <= 400";
    for scope in [whole(), FeedScope::Partition(key(&shelf.container(), PK))] {
        let [(rows, read), (expected, all)] = shelf.asked(&scope, due);
        assert_eq!((rows.len(), all), (10, EVENTS));
        assert_eq!(rows, expected);
        assert!(read < 20, "{read} documents were read for ten");
    }
    shelf.shop.store.close();
}

#[test]
fn what_a_partition_has_in_common_is_not_read() {
    let shelf = queue();
    let unread = "SELECT VALUE COUNT(1) FROM c WHERE c.pk = 3 AND c.read = false AND c.status = 'DONE'";
    let partition = FeedScope::Partition(key(&shelf.container(), PK));
    let [(rows, read), (expected, _)] = shelf.asked(&partition, unread);
    assert_eq!((&rows, read), (&expected, 0));
    assert_eq!(rows, ["1200"]);
    // Of another partition's key nothing is given.
    let [(rows, _), (expected, _)] = shelf.asked(&partition, &unread.replace("c.pk = 3", "c.pk = 4"));
    assert_eq!((&rows, &expected), (&vec!["0".to_owned()], &rows));
    shelf.shop.store.close();
}
