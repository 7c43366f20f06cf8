//! A store in this process refuses and records what one over the wire does, because the operations are the
//! same.

use crate::fixture::{ITEMS, layout, query};
use orrery_core::{Env, Timestamp};
use orrery_document_store::{Options, Store, Sync, Throttling};
use orrery_documents::spaces::SPACES;
use orrery_kit::ports::documents::{Documents, Embedded, ItemKey, StoreError, Write};
use orrery_kv::MemoryEngine;
use serde_json::json;

async fn documents(throttling: Throttling) -> (Documents, Store) {
    let env = Env::manual(Timestamp::from_seconds(1_794_704_563)).unwrap();
    let options = Options { throttling, ..Options::standalone() };
    let store = Store::standalone_with(MemoryEngine::new(&SPACES), env, Sync::Data, options).unwrap();
    let documents = Documents::Embedded(Embedded::new(store.clone(), "d"));
    documents.ensure(&layout()).await.unwrap();
    (documents, store)
}

/// About 70 KB, which costs hundreds of request units.
fn large(id: &str) -> Write {
    Write::Create(json!({"id": id, "pk": "p", "email": id, "text": "x".repeat(70_000)}))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_service_is_throttled_with_a_retry_time() {
    let throttling = Throttling { is_on: true, partition_units_max: 400, ..Throttling::default() };
    let (documents, store) = documents(throttling).await;
    // The clock stands still, so the request units of this second are all there are.
    let mut refused = None;
    for n in 0..100 {
        if let Err(error) = documents.write(ITEMS, "p", large(&format!("i{n}"))).await {
            refused = Some(error);
            break;
        }
    }
    let Some(StoreError::Busy { after: Some(after) }) = refused else { panic!("{refused:?}") };
    let queried = documents.query(ITEMS, Some("p"), &query("SELECT * FROM c", 0)).await;
    assert!(matches!(queried, Err(StoreError::Busy { after: Some(_) })), "reads draw from it too");
    store.env().advance(after).unwrap();
    documents.write(ITEMS, "p", large("later")).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_queries_of_a_service_appear_in_the_advice() {
    let (documents, store) = documents(Throttling::default()).await;
    documents.write(ITEMS, "p", large("first")).await.unwrap();
    let text = "SELECT * FROM c WHERE c.text != 'y'";
    for _ in 0..3 {
        documents.query(ITEMS, None, &query(text, 0)).await.unwrap();
    }
    let usage = store.usage_report("d", ITEMS).await.unwrap().usage;
    assert_eq!(usage.queries, 3);
    assert_eq!(usage.shapes[0].queries_over_all, 3);
    assert!(usage.large.iter().any(|item| item.id == "first"), "its large items are known as well");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_read_of_many_items_draws_from_the_throughput() {
    let throttling = Throttling { is_on: true, partition_units_max: 400, ..Throttling::default() };
    let (documents, store) = documents(throttling).await;
    for n in 0..4 {
        let item = json!({"id": format!("i{n}"), "pk": "p", "email": n.to_string()});
        documents.write(ITEMS, "p", Write::Create(item)).await.unwrap();
    }
    let key = |n: usize| ItemKey { partition: "p".to_owned(), id: format!("i{n}") };
    let keys: Vec<ItemKey> = (0..4).map(key).collect();
    let mut refused = None;
    for _ in 0..200 {
        match documents.read_many(ITEMS, &keys).await {
            Ok(found) => assert_eq!(found.items.len(), 4),
            Err(error) => {
                refused = Some(error);
                break;
            }
        }
    }
    let Some(StoreError::Busy { after: Some(after) }) = refused else { panic!("{refused:?}") };
    store.env().advance(after).unwrap();
    assert_eq!(documents.read_many(ITEMS, &keys).await.unwrap().items.len(), 4);
}
