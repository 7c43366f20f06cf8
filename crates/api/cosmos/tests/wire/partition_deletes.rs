//! Deleting all items of a partition key.

use crate::batches::{batch, create, ids};
use crate::call::{Call, READ_ONLY_KEY};
use crate::world::{CONTAINER, ITEMS, World};
use serde_json::{Value, json};

fn delete(container: &str, key: &str) -> Call {
    Call::new("POST", &format!("{container}/operations/partitionkeydelete")).partition(key)
}

#[tokio::test]
async fn when_it_is_answered_nothing_of_the_partition_is_there() {
    let world = World::new().await;
    for hundred in 0..6 {
        let many: Vec<Value> = (0..100).map(|n| create(&format!("{hundred}-{n}"))).collect();
        world.answered(200, batch(&json!(many))).await;
    }
    world.made(Call::post(ITEMS, r#"{"id":"other","pk":"q"}"#).partition(r#"["q"]"#)).await;
    let reply = world.answered(200, delete(CONTAINER, r#"["p"]"#)).await;
    assert!(reply.body.is_empty());
    assert_eq!(reply.header("x-ms-documentdb-partitionkeyrangeid"), Some("0"));
    assert!(matches!(reply.session_lsns()[..], [("0", 1..)]));
    assert_eq!(ids(&world).await, ["other"]);
    let query = Call::post(ITEMS, r#"{"query":"SELECT VALUE COUNT(1) FROM c"}"#).query();
    assert_eq!(world.answered(200, query).await.json().unwrap()["Documents"], json!([1]));
    world.item("0-0").await;
    assert_eq!(ids(&world).await, ["0-0", "other"], "ids and unique values are free again");
    world.answered(200, delete(CONTAINER, r#"["nobody"]"#)).await;
}

#[tokio::test]
async fn a_hierarchical_key_is_named_in_full() {
    let world = World::new().await;
    let body = json!({"id": "h", "partitionKey": {"paths": ["/a", "/b"], "kind": "MultiHash", "version": 2}});
    world.made(Call::post("dbs/d/colls", body.to_string())).await;
    let docs = "dbs/d/colls/h/docs";
    for (id, b) in [("1", "x"), ("2", "x"), ("3", "y")] {
        let body = json!({"id": id, "a": "t", "b": b}).to_string();
        world.made(Call::post(docs, body).partition(&json!(["t", b]).to_string())).await;
    }
    world.refused(delete("dbs/d/colls/h", r#"["t"]"#), (400, 1001), "1 components").await;
    world.answered(200, delete("dbs/d/colls/h", r#"["t","x"]"#)).await;
    let left = world.answered(200, Call::get(docs)).await.json().unwrap();
    assert_eq!((&left["_count"], &left["Documents"][0]["id"]), (&json!(1), &json!("3")));
}

#[tokio::test]
async fn refusals() {
    let world = World::new().await;
    world.item("a").await;
    let path = format!("{CONTAINER}/operations/partitionkeydelete");
    world.refused(Call::new("POST", &path), (400, 1001), "partition key is missing").await;
    world.refused(delete(CONTAINER, "7"), (400, 0), "partition key header").await;
    world.refused(delete("dbs/d/colls/no", r#"["p"]"#), (404, 1003), "no container").await;
    world.refused(delete(CONTAINER, r#"["p"]"#).signed_with(READ_ONLY_KEY), (403, 0), "read-only").await;
    let disguised = delete(CONTAINER, r#"["p"]"#).query().signed_with(READ_ONLY_KEY);
    world.refused(disguised, (403, 0), "read-only").await;
    world.refused(Call::get(&path).partition(r#"["p"]"#), (405, 0), "verb").await;
    assert_eq!(ids(&world).await, ["a"]);
}
