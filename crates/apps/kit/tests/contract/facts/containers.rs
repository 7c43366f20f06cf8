//! Databases and containers.

use crate::fixture::{Fixture, ITEMS, layout};
use orrery_kit::ports::documents::{Layout, Query, StoreError, Write};
use serde_json::json;

pub async fn existing_containers_stay_unchanged(fixture: &Fixture) {
    fixture.create("p", "a", 1).await;
    let other = Layout { definition: json!({"id": ITEMS, "partitionKey": {"paths": ["/other"]}}) };
    let again = (0..4).map(|_| {
        let (fixture, other) = (fixture.clone(), other.clone());
        tokio::spawn(async move {
            fixture.documents.ensure(&layout()).await.unwrap();
            fixture.documents.ensure(&[other]).await.unwrap();
        })
    });
    for task in again.collect::<Vec<_>>() {
        task.await.unwrap();
    }
    assert!(fixture.read("p", "a").await.is_some());
    let conflict = fixture.write("p", Write::Create(json!({"id": "a", "pk": "p"}))).await;
    assert_eq!(conflict, Err(StoreError::Conflict));
}

pub async fn a_missing_container_is_not_a_missing_item(fixture: &Fixture) {
    let documents = &fixture.documents;
    let write = || Write::Create(json!({"id": "a"}));
    let outcomes = [
        documents.read("none", "p", "a").await.map(drop),
        documents.write("none", "p", write()).await.map(drop),
        documents.write("none", "p", Write::Delete { id: "a".to_owned(), if_match: None }).await.map(drop),
        documents.batch("none", "p", vec![write()]).await.map(drop),
        documents
            .query("none", Some("p"), &Query { text: "SELECT 1".to_owned(), ..Query::default() })
            .await
            .map(drop),
        documents.changes("none", Some("p"), None, 1).await.map(drop),
    ];
    for outcome in outcomes {
        assert!(matches!(outcome, Err(StoreError::Refused { status: 404, .. })), "{outcome:?}");
    }
}
