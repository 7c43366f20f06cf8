//! Bulk requests over the wire: each operation for itself, over many partitions at once.

use crate::batches::{ids, statuses};
use crate::call::Call;
use crate::world::{ITEMS, World};
use orrery_kv::Fault;
use serde_json::{Value, json};

fn bulk(operations: &Value) -> Call {
    Call::post(ITEMS, operations.to_string())
        .header("x-ms-cosmos-is-batch-request", "true")
        .header("x-ms-cosmos-batch-atomic", "false")
        .header("x-ms-documentdb-partitionkeyrangeid", "0")
}

fn going_on(operations: &Value) -> Call {
    bulk(operations).header("x-ms-cosmos-batch-continue-on-error", "true")
}

fn key(pk: &str) -> String {
    json!([pk]).to_string()
}

fn create(id: &str, pk: &str) -> Value {
    json!({"operationType": "Create", "partitionKey": key(pk), "resourceBody": {"id": id, "pk": pk, "email": id}})
}

#[tokio::test]
async fn operations_of_many_partitions_are_answered_in_their_order() {
    let world = World::new().await;
    let mut operations: Vec<Value> =
        (0..60).map(|n| create(&n.to_string(), &format!("p{}", n % 7))).collect();
    operations.push(json!({"operationType": "Read", "id": "3", "partitionKey": key("p3")}));
    operations.push(json!({"operationType": "Patch", "id": "3", "partitionKey": key("p3"), "resourceBody": [{"op": "set", "path": "/n", "value": 1}]}));
    operations.push(json!({"operationType": "Replace", "id": "4", "partitionKey": key("p4"), "resourceBody": {"id": "4", "pk": "p4", "n": 2}}));
    operations.push(json!({"operationType": "Delete", "id": "5", "partitionKey": key("p5")}));
    operations.push(json!({"operationType": "Upsert", "partitionKey": key("p5"), "resourceBody": {"id": "5", "pk": "p5", "email": "again"}}));
    let reply = world.answered(200, going_on(&json!(operations))).await;
    let expected: Vec<u64> = [vec![201; 60], vec![200, 200, 200, 204, 201]].concat();
    assert_eq!(statuses(&reply), expected);
    let outcomes = reply.json().unwrap();
    assert!((0..60).all(|n| outcomes[n]["resourceBody"]["id"] == format!("{n}").as_str()));
    assert_eq!(ids(&world).await.len(), 60);
    let sum: f64 = outcomes.as_array().unwrap().iter().map(|o| o["requestCharge"].as_f64().unwrap()).sum();
    let total: f64 = reply.header("x-ms-request-charge").unwrap().parse().unwrap();
    assert!((sum - total).abs() < 0.001);
}

#[tokio::test]
async fn a_refused_operation_leaves_nothing_and_the_others_stand() {
    let world = World::new().await;
    world.item("there").await;
    let operations = json!([
        create("a", "p"),
        create("there", "p"),
        {"operationType": "Create", "partitionKey": key("p"), "resourceBody": {"id": "x", "pk": "p", "email": "a"}},
        {"operationType": "Create", "partitionKey": key("q"), "resourceBody": {"id": "x", "pk": "p"}},
        {"operationType": "Create", "partitionKey": "7", "resourceBody": {"id": "x", "pk": "p"}},
        {"operationType": "Create", "partitionKey": key("p"), "resourceBody": {"pk": "p"}},
        {"operationType": "Delete", "id": "no", "partitionKey": key("p")},
        {"operationType": "Read", "id": "there"},
        {"operationType": "Replace", "id": "there", "partitionKey": key("p"), "ifMatch": "\"x\"", "resourceBody": {"id": "there", "pk": "p"}},
        create("b", "q"),
    ]);
    let reply = world.answered(207, going_on(&operations)).await;
    assert_eq!(statuses(&reply), [201, 409, 409, 400, 400, 400, 404, 400, 412, 201]);
    let outcomes = reply.json().unwrap();
    assert_eq!((&outcomes[3]["subStatusCode"], &outcomes[7]["subStatusCode"]), (&json!(1001), &json!(1001)));
    assert_eq!(ids(&world).await, ["a", "b", "there"]);
}

#[tokio::test]
async fn it_can_stop_at_the_first_failure() {
    let world = World::new().await;
    world.item("there").await;
    let unfit = json!({"operationType": "Create", "partitionKey": key("p"), "resourceBody": {"pk": "p"}});
    let cases = [
        (
            json!([create("a", "p"), create("b", "q"), create("there", "p"), create("c", "p")]),
            vec![201, 201, 409, 424],
        ),
        (json!([create("d", "p"), unfit, create("e", "p")]), vec![201, 400, 424]),
        (json!([create("there", "p"), unfit, create("e", "p")]), vec![409, 424, 424]),
        (json!([create("f", "p"), create("g", "q")]), vec![201, 201]),
    ];
    for (operations, expected) in cases {
        let reply = world.call(&bulk(&operations)).await;
        assert_eq!(statuses(&reply), expected);
        assert_eq!(reply.status, if expected.len() == 2 { 200 } else { 207 });
    }
    assert_eq!(ids(&world).await, ["a", "b", "d", "f", "g", "there"]);
}

#[tokio::test]
async fn a_partition_key_may_come_from_the_item_or_from_the_header() {
    let world = World::new().await;
    let operations = json!([
        {"operationType": "Create", "resourceBody": {"id": "a", "pk": "p", "email": "a"}},
        {"operationType": "Upsert", "resourceBody": {"id": "b", "pk": "q", "email": "b"}},
    ]);
    assert_eq!(statuses(&world.answered(200, going_on(&operations)).await), [201, 201]);
    let read = json!([{"operationType": "Read", "id": "b"}]);
    let reply = world.answered(200, going_on(&read).partition(&key("q"))).await;
    assert_eq!(statuses(&reply), [200]);
}

#[tokio::test]
async fn ranges_that_are_gone_are_told_and_tokens_speak_of_all_that_were_written() {
    let world = World::new().await;
    let gone = Call::post(ITEMS, json!([create("a", "p")]).to_string())
        .header("x-ms-cosmos-is-batch-request", "true")
        .header("x-ms-documentdb-partitionkeyrangeid", "9");
    world.refused(gone, (410, 1002), "range 9 is gone").await;
    let body = json!({"id": "s", "partitionKey": {"paths": ["/pk"], "kind": "Hash", "version": 2}});
    let made = Call::post("dbs/d/colls", body.to_string()).header("x-ms-offer-throughput", "18000");
    world.made(made).await;
    let operations: Vec<Value> = (0..50).map(|n| create(&n.to_string(), &format!("p{n}"))).collect();
    let call = Call::post("dbs/d/colls/s/docs", json!(operations).to_string())
        .header("x-ms-cosmos-is-batch-request", "true")
        .header("x-ms-cosmos-batch-continue-on-error", "true");
    let reply = world.answered(200, call).await;
    let tokens = reply.session_lsns();
    assert_eq!(tokens.len(), 3, "{tokens:?}");
    let read = Call::get("dbs/d/colls/s/docs")
        .header("x-ms-session-token", reply.header("x-ms-session-token").unwrap());
    assert_eq!(world.answered(200, read).await.json().unwrap()["_count"], 50);
}

#[tokio::test]
async fn a_disk_that_refuses_fails_operations_and_not_the_request() {
    let world = World::new().await;
    world.engine.fail_at(0, Fault::BeforeWrite);
    let reply = world.answered(207, going_on(&json!([create("a", "p"), create("b", "p")]))).await;
    assert_eq!(statuses(&reply), [503, 503]);
    let reply = world.answered(200, going_on(&json!([create("a", "p"), create("b", "p")]))).await;
    assert_eq!(statuses(&reply), [201, 201]);
}
