//! Batches.

use crate::fixture::{Fixture, ITEMS, item, query};
use orrery_kit::ports::documents::{Item, StoreError, Write};
use serde_json::json;

async fn batch(fixture: &Fixture, writes: Vec<Write>) -> Result<Vec<Option<Item>>, StoreError> {
    fixture.documents.batch(ITEMS, "p", writes).await
}

fn create(id: &str, n: i64) -> Write {
    Write::Create(item("p", id, n))
}

pub async fn a_batch_is_atomic(fixture: &Fixture) {
    let (old, gone) = (fixture.create("p", "old", 1).await, fixture.create("p", "gone", 1).await);
    let writes = vec![
        create("new", 2),
        Write::Replace { item: item("p", "old", 2), if_match: Some(old.etag.clone()) },
        Write::Delete { id: "gone".to_owned(), if_match: Some(gone.etag) },
        Write::Upsert { item: item("p", "up", 2), if_match: None },
    ];
    let done = batch(fixture, writes).await.unwrap();
    let numbers: Vec<_> = done.iter().map(|item| item.as_ref().map(|item| item.value["n"].clone())).collect();
    assert_eq!(numbers, [Some(json!(2)), Some(json!(2)), None, Some(json!(2))]);
    assert!(done[0].as_ref().unwrap().charge > 0.0);
    for (id, item) in [("new", &done[0]), ("old", &done[1]), ("up", &done[3])] {
        let (item, read) = (item.as_ref().unwrap(), fixture.read("p", id).await.unwrap());
        assert_eq!((&read.value, &read.etag), (&item.value, &item.etag), "{id}");
    }
    assert_eq!(fixture.read("p", "gone").await, None);

    let writes = vec![
        create("another", 3),
        Write::Delete { id: "up".to_owned(), if_match: None },
        Write::Replace { item: item("p", "old", 3), if_match: Some(old.etag) },
    ];
    assert_eq!(batch(fixture, writes).await, Err(StoreError::Changed));
    let ids = fixture.rows(Some("p"), query("SELECT VALUE c.id FROM c ORDER BY c.id", 0)).await;
    assert_eq!(ids, ["new", "old", "up"], "nothing of it was done");
    assert_eq!(fixture.read("p", "old").await.unwrap().value["n"], 2);
}

pub async fn the_first_refused_write_determines_the_error(fixture: &Fixture) {
    let made = fixture.create("p", "a", 1).await;
    let missing = || Write::Delete { id: "none".to_owned(), if_match: None };
    let changed = || Write::Replace { item: item("p", "a", 2), if_match: Some("nonsense".to_owned()) };
    let cases = [
        (vec![create("b", 1), create("a", 1), missing()], StoreError::Conflict),
        (vec![create("b", 1), missing(), create("a", 1)], StoreError::Missing),
        (vec![changed(), missing()], StoreError::Changed),
        (vec![create("b", 1), create("b", 1)], StoreError::Conflict),
    ];
    for (writes, expected) in cases {
        assert_eq!(batch(fixture, writes).await, Err(expected));
    }
    for bad in [Write::Create(json!({"pk": "p"})), Write::Create(item("q", "b", 1))] {
        let outcome = batch(fixture, vec![create("b", 1), bad]).await;
        assert!(matches!(outcome, Err(StoreError::Refused { status: 400, .. })), "{outcome:?}");
    }
    assert_eq!(fixture.read("p", "b").await, None);
    assert_eq!(fixture.read("p", "a").await.unwrap().etag, made.etag);
}

/// The writes of a claim: one item under its etag, and a new one.
pub async fn only_one_of_two_conflicting_batches_succeeds(fixture: &Fixture) {
    let made = fixture.create("p", "claimed", 0).await;
    let tasks: Vec<_> = (0..16)
        .map(|worker| {
            let (fixture, etag) = (fixture.clone(), made.etag.clone());
            tokio::spawn(async move {
                let claim = Write::Replace { item: item("p", "claimed", worker), if_match: Some(etag) };
                batch(&fixture, vec![claim, create(&format!("by{worker}"), worker)]).await
            })
        })
        .collect();
    let mut won = 0;
    for task in tasks {
        match task.await.unwrap() {
            Ok(_) => won += 1,
            Err(error) => assert_eq!(error, StoreError::Changed),
        }
    }
    let left =
        fixture.rows(Some("p"), query("SELECT VALUE c.n FROM c WHERE STARTSWITH(c.id, 'by')", 0)).await;
    assert_eq!((won, left.len()), (1, 1));
    assert_eq!(fixture.read("p", "claimed").await.unwrap().value["n"], left[0]);
}

pub async fn a_batch_has_limits(fixture: &Fixture) {
    assert_eq!(batch(fixture, Vec::new()).await, Ok(Vec::new()));
    let many = |count: i64| (0..count).map(|n| create(&format!("i{n}"), n)).collect::<Vec<_>>();
    let outcome = batch(fixture, many(101)).await;
    assert!(matches!(outcome, Err(StoreError::Refused { status: 400, .. })), "{outcome:?}");
    assert_eq!(batch(fixture, many(100)).await.unwrap().len(), 100);
}
