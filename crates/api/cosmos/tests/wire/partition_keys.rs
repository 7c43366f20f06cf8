//! Partition keys: the header, and its agreement with the item and the container.

use crate::call::Call;
use crate::world::{ITEMS, World};
use serde_json::json;

/// What programs match on.
const MISFIT: &str = "Partition key provided either doesn't correspond to definition in the collection or doesn't match partition key field values specified in the document.";

const ITEM: &str = "dbs/d/colls/c/docs/i";

#[tokio::test]
async fn a_point_operation_without_a_partition_key_is_refused() {
    let world = World::new().await;
    world.item("i").await;
    for call in [Call::get(ITEM), Call::delete(ITEM)] {
        world.refused(call, (400, 1001), "x-ms-documentdb-partitionkey").await;
    }
    world.made(Call::post(ITEMS, r#"{"id":"j","pk":"p","email":"j"}"#)).await;
    world.answered(200, Call::put("dbs/d/colls/c/docs/j", r#"{"id":"j","pk":"p"}"#)).await;
}

#[tokio::test]
async fn a_header_that_is_no_array_of_scalars_is_malformed() {
    let world = World::new().await;
    let malformed = [
        "",
        "p",
        "\"p\"",
        "{}",
        "[",
        "[\"p\"",
        "[\"p\"]]",
        "[[1]]",
        "[{\"a\":1}]",
        "['p']",
        "[1e400]",
        "null",
    ];
    for header in malformed {
        let calls = [
            Call::get(ITEM),
            Call::delete(ITEM),
            Call::post(ITEMS, r#"{"id":"i","pk":"p"}"#),
            Call::put(ITEM, r#"{"id":"i","pk":"p"}"#),
            Call::get(ITEMS),
        ];
        for call in calls {
            world.refused(call.partition(header), (400, 0), "not a JSON array of strings, numbers").await;
        }
    }
    for raw in [&b"[\"\xe9\"]"[..], "[\"é\"]".as_bytes()] {
        let call = Call::post(ITEMS, r#"{"id":"i","pk":"p"}"#).header("x-ms-documentdb-partitionkey", raw);
        world.refused(call, (400, 0), "x-ms-documentdb-partitionkey").await;
    }
}

#[tokio::test]
async fn the_header_and_the_item_must_agree() {
    let world = World::new().await;
    let item = r#"{"id":"i","pk":"p"}"#;
    let others = [r#"["q"]"#, r#"["P"]"#, r#"["p "]"#, "[null]", "[{}]", "[]", "[1]", "[true]"];
    for other in others {
        for call in [Call::post(ITEMS, item), Call::post(ITEMS, item).upsert()] {
            world.refused(call.partition(other), (400, 1001), MISFIT).await;
        }
    }
    world.made(Call::post(ITEMS, item).partition("[\"\\u0070\"]")).await;
    world.refused(Call::get(ITEM).partition(r#"["q"]"#), (404, 0), "does not exist").await;
}

#[tokio::test]
async fn too_many_or_too_few_components_are_refused() {
    let world = World::new().await;
    let paths = json!({"paths": ["/a", "/b", "/c"], "kind": "MultiHash", "version": 2});
    world.container("h", &json!({"partitionKey": paths})).await;
    let item = "dbs/d/colls/h/docs/i";
    world
        .made(
            Call::post("dbs/d/colls/h/docs", r#"{"id":"i","a":"1","b":"2","c":"3"}"#)
                .partition(r#"["1","2","3"]"#),
        )
        .await;
    for header in [r#"["1","2"]"#, r#"["1"]"#, "[]", r#"["1","2","3","4"]"#] {
        world.refused(Call::get(item).partition(header), (400, 1001), MISFIT).await;
    }
    for header in [r#"["p","q"]"#, r#"["p","q","r","s"]"#] {
        world.refused(Call::get(ITEM).partition(header), (400, 1001), MISFIT).await;
        world.refused(Call::get(ITEMS).partition(header), (400, 1001), MISFIT).await;
    }
    let prefix = Call::get("dbs/d/colls/h/docs").partition(r#"["1","2"]"#);
    assert_eq!(world.answered(200, prefix).await.json().unwrap()["_count"], 1);
}

#[tokio::test]
async fn a_value_ends_at_2048_bytes() {
    let world = World::new().await;
    let item = |length: usize| json!({"id": "i", "pk": "x".repeat(length)}).to_string();
    let header = |length: usize| format!("[\"{}\"]", "x".repeat(length));
    world.made(Call::post(ITEMS, item(2048)).partition(&header(2048))).await;
    world.answered(200, Call::get(ITEM).partition(&header(2048))).await;
    world.refused(Call::post(ITEMS, item(2049)), (400, 0), "longer than 2048 bytes").await;
    for length in [2049, 10_000, 40_000] {
        world.refused(Call::get(ITEM).partition(&header(length)), (400, 0), "2048 bytes").await;
    }
}

#[tokio::test]
async fn a_missing_key_and_null_and_numbers_are_told_apart() {
    let world = World::new().await;
    let kinds = [
        ("", "[{}]"),
        (r#","pk":null"#, "[null]"),
        (r#","pk":1"#, "[1.0]"),
        (r#","pk":"1""#, "[\"1\"]"),
        (r#","pk":true"#, "[true]"),
    ];
    for (member, header) in kinds {
        let made = world.made(Call::post(ITEMS, format!(r#"{{"id":"i"{member}}}"#)).partition(header)).await;
        let read = world.answered(200, Call::get(ITEM).partition(header)).await;
        assert_eq!(made.body, read.body, "{header}");
    }
    let all = world.answered(200, Call::get(ITEMS)).await.json().unwrap();
    assert_eq!(all["_count"], kinds.len());
    world.answered(200, Call::get(ITEM).partition("[]")).await;
}

#[tokio::test]
async fn a_replace_does_not_move_an_item_to_another_partition() {
    let world = World::new().await;
    world.item("i").await;
    let call = Call::put(ITEM, r#"{"id":"i","pk":"q"}"#).partition(r#"["p"]"#);
    let reply = world.call(&call).await;
    assert_eq!(reply.status, 400);
    let read = world.answered(200, Call::get(ITEM).partition(r#"["p"]"#)).await;
    assert_eq!(read.json().unwrap()["pk"], "p");
}
