//! Reads of several items by their keys.

use crate::fixture::{Fixture, ITEMS};
use orrery_kit::ports::documents::{ItemKey, ItemsFound, StoreError, Write};
use serde_json::json;

fn key(partition: &str, id: &str) -> ItemKey {
    ItemKey { partition: partition.to_owned(), id: id.to_owned() }
}

async fn read(fixture: &Fixture, keys: &[ItemKey]) -> Result<ItemsFound, StoreError> {
    fixture.documents.read_many(ITEMS, keys).await
}

fn names(found: &ItemsFound) -> Vec<(&str, &str)> {
    found
        .items
        .iter()
        .map(|item| (item.value["pk"].as_str().unwrap(), item.value["id"].as_str().unwrap()))
        .collect()
}

/// Whether a partition is asked for one item or for several, and however many partitions there are.
pub async fn many_items_come_in_the_order_of_their_keys(fixture: &Fixture) {
    for n in 0..40 {
        // The same id in every partition, so that only both together name an item.
        fixture.create(&format!("p{}", n % 12), &format!("i{}", n / 12), n).await;
    }
    let keys: Vec<ItemKey> =
        (0..40).rev().map(|n| key(&format!("p{}", n % 12), &format!("i{}", n / 12))).collect();
    let found = read(fixture, &keys).await.unwrap();
    let expected: Vec<(&str, &str)> =
        keys.iter().map(|key| (key.partition.as_str(), key.id.as_str())).collect();
    assert_eq!(names(&found), expected);
    for item in &found.items {
        let alone =
            fixture.read(item.value["pk"].as_str().unwrap(), item.value["id"].as_str().unwrap()).await;
        let alone = alone.unwrap();
        assert_eq!((&alone.value, &alone.etag), (&item.value, &item.etag), "as a point read has it");
    }
    assert!(found.charge >= 40.0 * 0.5, "{}", found.charge);
    let one = [key("p3", "i1")];
    assert_eq!(names(&read(fixture, &one).await.unwrap()), [("p3", "i1")]);
}

pub async fn a_missing_item_is_left_out(fixture: &Fixture) {
    for (partition, id) in [("p", "a"), ("p", "b"), ("q", "c")] {
        fixture.create(partition, id, 1).await;
    }
    let keys = [("q", "a"), ("p", "none"), ("p", "b"), ("none", "c"), ("p", "a"), ("p", "b"), ("q", "c")];
    let found = read(fixture, &keys.map(|(partition, id)| key(partition, id))).await.unwrap();
    assert_eq!(names(&found), [("p", "b"), ("p", "a"), ("q", "c")], "and one named twice comes once");
    let odd = ["a'\"b", "é東🚀"];
    for id in odd {
        fixture.create("odd", id, 1).await;
    }
    assert_eq!(read(fixture, &odd.map(|id| key("odd", id))).await.unwrap().items.len(), 2);
    assert_eq!(read(fixture, &[]).await.unwrap(), ItemsFound::default());
    assert!(read(fixture, &[key("p", "x"), key("p", "y")]).await.unwrap().items.is_empty());
    let missing = fixture.documents.read_many("none", &[key("p", "a"), key("p", "b")]).await;
    assert!(matches!(missing, Err(StoreError::Refused { status: 404, .. })), "{missing:?}");
}

pub async fn a_read_of_many_has_limits(fixture: &Fixture) {
    let keys = |count: usize| (0..count).map(|n| key("p", &format!("i{n}"))).collect::<Vec<_>>();
    fixture.create("p", "i999", 1).await;
    assert_eq!(names(&read(fixture, &keys(1000)).await.unwrap()), [("p", "i999")]);
    let refused = [keys(1001), vec![key("p", "a/b"), key("p", "c")], vec![key(&"p".repeat(3000), "a")]];
    let large = |id: &str| {
        Write::Create(json!({"id": id, "pk": "large", "email": id, "text": "x".repeat(2_000_000)}))
    };
    for n in 0..17 {
        fixture.write("large", large(&format!("i{n}"))).await.unwrap();
    }
    let large: Vec<ItemKey> = (0..17).map(|n| key("large", &format!("i{n}"))).collect();
    for keys in refused.iter().chain([&large]) {
        let outcome = read(fixture, keys).await;
        assert!(matches!(outcome, Err(StoreError::Refused { status: 400, .. })), "{outcome:?}");
    }
    assert_eq!(read(fixture, &large[..16]).await.unwrap().items.len(), 16, "below the limit");
}
