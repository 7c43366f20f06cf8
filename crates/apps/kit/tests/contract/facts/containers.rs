//! Databases and containers.

use crate::world::{ITEMS, World, layout};
use orrery_kit::ports::documents::{Layout, Query, StoreError, Write};
use serde_json::json;

pub async fn what_is_there_stays_as_it_is(world: &World) {
    world.create("p", "a", 1).await;
    let other = Layout { definition: json!({"id": ITEMS, "partitionKey": {"paths": ["/other"]}}) };
    let again = (0..4).map(|_| {
        let (world, other) = (world.clone(), other.clone());
        tokio::spawn(async move {
            world.documents.ensure(&layout()).await.unwrap();
            world.documents.ensure(&[other]).await.unwrap();
        })
    });
    for task in again.collect::<Vec<_>>() {
        task.await.unwrap();
    }
    assert!(world.read("p", "a").await.is_some());
    let conflict = world.write("p", Write::Create(json!({"id": "a", "pk": "p"}))).await;
    assert_eq!(conflict, Err(StoreError::Conflict));
}

pub async fn a_container_that_is_not_there_is_not_a_missing_item(world: &World) {
    let documents = &world.documents;
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
