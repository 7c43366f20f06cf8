//! Containers without a partition key, as clients of old versions of the protocol make and use them.

use crate::call::Call;
use crate::world::World;
use serde_json::{Value, json};

const OLD: &str = "2018-06-18";
const CONTAINER: &str = "dbs/d/colls/old";
const ITEMS: &str = "dbs/d/colls/old/docs";

async fn with_container() -> World {
    let world = World::new().await;
    let made = world.made(Call::post("dbs/d/colls", r#"{"id":"old"}"#).version(OLD)).await.json().unwrap();
    assert_eq!((&made["id"], made.get("partitionKey")), (&json!("old"), None));
    world
}

fn ids(feed: &Value) -> Vec<&str> {
    feed["Documents"].as_array().unwrap().iter().map(|item| item["id"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn an_old_client_names_no_partition_key() {
    let world = with_container().await;
    let old = |call: Call| call.version(OLD);
    let item = format!("{ITEMS}/i");
    world.made(old(Call::post(ITEMS, r#"{"id":"i","n":1}"#))).await;
    world.refused(old(Call::post(ITEMS, r#"{"id":"i"}"#)), (409, 0), "already exists").await;
    world.answered(200, old(Call::post(ITEMS, r#"{"id":"i","n":2}"#).upsert())).await;
    world.answered(200, old(Call::put(&item, r#"{"id":"i","n":3}"#))).await;
    let read = world.answered(200, old(Call::get(&item))).await.json().unwrap();
    assert_eq!(read["n"], 3);
    let query = Call::post(ITEMS, r#"{"query":"SELECT * FROM c ORDER BY c.n"}"#).query();
    assert_eq!(ids(&world.answered(200, old(query)).await.json().unwrap()), ["i"]);
    assert_eq!(ids(&world.answered(200, old(Call::get(ITEMS))).await.json().unwrap()), ["i"]);
    let listed = world.answered(200, old(Call::get("dbs/d/colls"))).await.json().unwrap();
    let with_key = |name: &str| {
        let found = listed["DocumentCollections"].as_array().unwrap().iter().find(|one| one["id"] == name);
        found.unwrap().get("partitionKey").is_some()
    };
    assert!(with_key("c") && !with_key("old"));
    let replaced = old(Call::put(CONTAINER, r#"{"id":"old","defaultTtl":60}"#));
    assert_eq!(world.answered(200, replaced).await.json().unwrap()["defaultTtl"], 60);
    world.answered(204, old(Call::delete(&item))).await;
}

#[tokio::test]
async fn a_new_client_sees_the_systems_key_and_names_the_missing_value() {
    let world = with_container().await;
    world.made(Call::post(ITEMS, r#"{"id":"i"}"#).version("2018-09-17")).await;
    let read = world.answered(200, Call::get(CONTAINER)).await.json().unwrap();
    assert_eq!(read["partitionKey"], json!({"paths": ["/_partitionKey"], "kind": "Hash", "systemKey": true}));
    let item = format!("{ITEMS}/i");
    for none in ["[]", "[{}]"] {
        world.answered(200, Call::get(&item).partition(none)).await;
        assert_eq!(ids(&world.answered(200, Call::get(ITEMS).partition(none)).await.json().unwrap()), ["i"]);
    }
    // A new client may give items keys; an old one does not see them.
    let keyed = Call::post(ITEMS, r#"{"id":"k","_partitionKey":"a"}"#).partition(r#"["a"]"#);
    world.made(keyed).await;
    assert_eq!(ids(&world.answered(200, Call::get(ITEMS).version(OLD)).await.json().unwrap()), ["i"]);
    world.refused(Call::get(&item), (400, 1001), "partition key is missing").await;
}

#[tokio::test]
async fn a_new_client_cannot_leave_the_partition_key_out() {
    let world = World::new().await;
    for version in ["2018-12-31", "2020-07-15"] {
        let call = Call::post("dbs/d/colls", r#"{"id":"new"}"#).version(version);
        world.refused(call, (400, 0), "no 'partitionKey'").await;
    }
    let item = Call::post("dbs/d/colls/c/docs", r#"{"id":"i","pk":"p"}"#).version(OLD);
    world.made(item).await;
    let read = Call::get("dbs/d/colls/c/docs/i").version(OLD);
    world.refused(read, (400, 1001), "partition key is missing").await;
}
