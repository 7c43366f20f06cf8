//! Single items.

use crate::fixture::{Fixture, ITEMS, item};
use orrery_kit::ports::documents::{StoreError, Write};
use serde_json::json;

pub async fn an_item_is_what_was_written_and_its_system_members(fixture: &Fixture) {
    let made = fixture.create("p", "a", 1).await;
    assert_eq!(made.value["_etag"], made.etag);
    assert!(made.charge > 0.0);
    let names: Vec<&String> = made.value.as_object().unwrap().keys().collect();
    assert_eq!(names, ["id", "pk", "n", "email", "_rid", "_self", "_etag", "_attachments", "_ts"]);
    assert_eq!(fixture.read("p", "a").await.unwrap().value, made.value);

    // An item that was read may be written back; its system members are ignored.
    let mut changed = made.value.clone();
    changed["n"] = 2.into();
    let replace = Write::Replace { item: changed, if_match: Some(made.etag.clone()) };
    let replaced = fixture.write("p", replace).await.unwrap().unwrap();
    assert_ne!(replaced.etag, made.etag);
    assert_eq!(replaced.value["n"], 2);
    assert_eq!(replaced.value["_rid"], made.value["_rid"]);
    let read = fixture.read("p", "a").await.unwrap();
    assert_eq!((read.value, read.etag), (replaced.value, replaced.etag));

    let upsert = |id: &str, n| Write::Upsert { item: item("p", id, n), if_match: None };
    assert_eq!(fixture.write("p", upsert("a", 3)).await.unwrap().unwrap().value["n"], 3);
    assert_eq!(fixture.write("p", upsert("b", 4)).await.unwrap().unwrap().value["n"], 4);
    let delete = Write::Delete { id: "a".to_owned(), if_match: None };
    assert_eq!(fixture.write("p", delete).await, Ok(None));
    assert_eq!(fixture.read("p", "a").await, None);
    assert_eq!(fixture.read("q", "b").await, None, "another partition");
}

pub async fn conflict_changed_missing_and_refused_are_distinct(fixture: &Fixture) {
    let made = fixture.create("p", "a", 1).await;
    let stale = Some(made.etag.clone());
    let replace = |id: &str, if_match: &Option<String>| Write::Replace {
        item: item("p", id, 2),
        if_match: if_match.clone(),
    };
    let delete =
        |id: &str, if_match: &Option<String>| Write::Delete { id: id.to_owned(), if_match: if_match.clone() };
    fixture.write("p", replace("a", &stale)).await.unwrap();
    let upsert = Write::Upsert { item: item("p", "a", 2), if_match: stale.clone() };
    let unique = |id: &str| Write::Create(json!({"id": id, "pk": "p", "email": "a@b"}));
    fixture.write("p", unique("u1")).await.unwrap();
    let cases = [
        (Write::Create(item("p", "a", 1)), StoreError::Conflict),
        (unique("u2"), StoreError::Conflict),
        (replace("a", &stale), StoreError::Changed),
        (upsert, StoreError::Changed),
        (delete("a", &stale), StoreError::Changed),
        (delete("a", &Some("nonsense".to_owned())), StoreError::Changed),
        (replace("none", &None), StoreError::Missing),
        (replace("none", &stale), StoreError::Missing),
        (delete("none", &None), StoreError::Missing),
    ];
    for (write, expected) in cases {
        let shown = format!("{write:?}");
        assert_eq!(fixture.write("p", write).await, Err(expected), "{shown}");
    }
    let refused = [
        (Write::Create(item("q", "b", 1)), 400),
        (Write::Create(json!({"pk": "p"})), 400),
        (Write::Create(json!({"id": "b", "pk": "p", "ttl": 0})), 400),
        (Write::Create(json!(["b"])), 400),
        (Write::Replace { item: json!({"pk": "p"}), if_match: None }, 400),
        (Write::Create(json!({"id": "b", "pk": "p", "text": "x".repeat(3 << 20)})), 413),
    ];
    for (write, expected) in refused {
        match fixture.write("p", write).await {
            Err(StoreError::Refused { status, .. }) => assert_eq!(status, expected),
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(fixture.read("p", "a").await.unwrap().value["n"], 2);
}

pub async fn ids_and_partitions_may_be_any_valid_text(fixture: &Fixture) {
    for text in ["a b", "é東🚀", "100%", "a%20b", "a+b", "x:y", "a'\"b", "dbs", "..", "~-_."] {
        let made = fixture.create(text, text, 1).await;
        assert_eq!(fixture.read(text, text).await.map(|read| read.value), Some(made.value), "{text}");
        let replace = Write::Replace { item: item(text, text, 2), if_match: Some(made.etag) };
        let replaced = fixture.write(text, replace).await.unwrap().unwrap();
        let delete = Write::Delete { id: text.to_owned(), if_match: Some(replaced.etag) };
        assert_eq!(fixture.write(text, delete).await, Ok(None), "{text}");
    }
}

/// Each writer reads, adds one under the etag, and retries if another was faster.
pub async fn concurrent_increments_lose_none(fixture: &Fixture) {
    fixture.create("p", "counter", 0).await;
    let crowd = fixture.crowd();
    let tasks: Vec<_> = (0..crowd)
        .map(|_| {
            let fixture = fixture.clone();
            tokio::spawn(async move { increment(&fixture).await })
        })
        .collect();
    let mut tries = 0;
    for task in tasks {
        tries += task.await.unwrap();
    }
    assert_eq!(fixture.read("p", "counter").await.unwrap().value["n"], crowd);
    assert!(tries >= crowd);
}

async fn increment(fixture: &Fixture) -> usize {
    for tries in 1..=10_000 {
        let read = fixture.read("p", "counter").await.unwrap();
        let mut item = read.value;
        item["n"] = (item["n"].as_i64().unwrap() + 1).into();
        match fixture.write("p", Write::Replace { item, if_match: Some(read.etag) }).await {
            Ok(_) => return tries,
            Err(StoreError::Changed) => {}
            Err(error) => panic!("{error}"),
        }
    }
    panic!("never");
}

/// Many concurrent writers, each of which must see its own write.
pub async fn what_was_written_is_read(fixture: &Fixture) {
    let tasks: Vec<_> = (0..32)
        .map(|task| {
            let fixture = fixture.clone();
            tokio::spawn(async move {
                for n in 0..10 {
                    let (partition, id) = (format!("p{task}"), format!("i{n}"));
                    fixture.create(&partition, &id, n).await;
                    assert!(fixture.documents.read(ITEMS, &partition, &id).await.unwrap().is_some());
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
}
