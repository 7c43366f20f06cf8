//! Transactional batches over the wire: all or nothing, and an answer for each operation (S1-53).

use crate::call::{Call, READ_ONLY_KEY};
use crate::world::{CONTAINER, ITEMS, World};
use orrery_kv::Fault;
use orrery_testing_client::OwnedReply;
use serde_json::{Value, json};

const PK: &str = r#"["p"]"#;

pub fn batch(operations: &Value) -> Call {
    raw(operations.to_string())
}

fn raw(body: impl Into<Vec<u8>>) -> Call {
    Call::post(ITEMS, body)
        .header("x-ms-cosmos-is-batch-request", "True")
        .header("x-ms-cosmos-batch-atomic", "True")
        .header("x-ms-cosmos-batch-continue-on-error", "False")
        .partition(PK)
}

pub fn create(id: &str) -> Value {
    json!({"operationType": "Create", "resourceBody": {"id": id, "pk": "p", "email": id}})
}

/// Status of each operation.
pub fn statuses(reply: &OwnedReply) -> Vec<u64> {
    let list = reply.json().unwrap();
    list.as_array().unwrap().iter().map(|outcome| outcome["statusCode"].as_u64().unwrap()).collect()
}

pub async fn ids(world: &World) -> Vec<String> {
    let feed = world.answered(200, Call::get(ITEMS)).await.json().unwrap();
    let items = feed["Documents"].as_array().unwrap();
    let mut ids: Vec<String> = items.iter().map(|item| item["id"].as_str().unwrap().to_owned()).collect();
    ids.sort();
    ids
}

#[tokio::test]
async fn every_kind_of_operation_in_one_batch() {
    let world = World::new().await;
    world.item("there").await;
    let operations = json!([
        create("a"),
        {"operationType": "Replace", "id": "a", "resourceBody": {"id": "a", "pk": "p", "n": 1}},
        {"operationType": "Patch", "id": "a",
         "resourceBody": {"operations": [{"op": "incr", "path": "/n", "value": 1}], "condition": "from c where c.n = 1"}},
        {"operationType": "Patch", "id": "a", "resourceBody": [{"op": "incr", "path": "/n", "value": 1}]},
        {"operationType": "Read", "id": "a"},
        {"operationType": "Upsert", "resourceBody": {"id": "b", "pk": "p", "email": "b"}},
        {"operationType": "Upsert", "resourceBody": {"id": "there", "pk": "p", "email": "c"}},
        {"operationType": "Delete", "id": "there"},
        create("there"),
    ]);
    let reply = world.answered(200, batch(&operations)).await;
    assert_eq!(statuses(&reply), [201, 200, 200, 200, 200, 201, 200, 204, 201]);
    let outcomes = reply.json().unwrap();
    assert_eq!(outcomes[4]["resourceBody"]["n"], 3, "later operations see earlier ones");
    assert_eq!(outcomes[4]["eTag"], outcomes[3]["eTag"]);
    assert!(outcomes[7].get("resourceBody").is_none() && outcomes[7].get("eTag").is_none());
    let tags: std::collections::BTreeSet<&str> =
        [0, 1, 2, 3, 5, 6, 8].map(|at| outcomes[at]["eTag"].as_str().unwrap()).into();
    assert_eq!(tags.len(), 7, "each write has a tag of its own");
    let read = world.answered(200, Call::get(&format!("{ITEMS}/a")).partition(PK)).await.json().unwrap();
    assert_eq!(read, outcomes[3]["resourceBody"]);
    assert_eq!(read["_etag"], outcomes[3]["eTag"]);
    assert_eq!(ids(&world).await, ["a", "b", "there"]);
}

#[tokio::test]
async fn the_answer_says_where_and_what_it_cost() {
    let world = World::new().await;
    let reply = world.answered(200, batch(&json!([create("a"), create("b")]))).await;
    assert_eq!(reply.header("x-ms-documentdb-partitionkeyrangeid"), Some("0"));
    assert_eq!(reply.header("x-ms-alt-content-path"), Some(CONTAINER));
    assert_eq!(reply.header("etag"), None);
    assert!(matches!(reply.session_lsns()[..], [("0", 1..)]));
    let outcomes = reply.json().unwrap();
    let sum: f64 = outcomes.as_array().unwrap().iter().map(|o| o["requestCharge"].as_f64().unwrap()).sum();
    let total: f64 = reply.header("x-ms-request-charge").unwrap().parse().unwrap();
    assert!((sum - total).abs() < 0.001 && total > 10.0, "{sum} {total}");
    let single = world.made(Call::post(ITEMS, r#"{"id":"c","pk":"p","email":"c"}"#).partition(PK)).await;
    let single: f64 = single.header("x-ms-request-charge").unwrap().parse().unwrap();
    assert_eq!(outcomes[0]["requestCharge"], single, "an operation costs what it costs alone");
}

#[tokio::test]
async fn a_failure_undoes_everything_and_blames_the_culprit() {
    let world = World::new().await;
    world.item("there").await;
    let read = |id: &str| json!({"operationType": "Read", "id": id});
    let cases = [
        (create("there"), 409, 0),
        (read("no"), 404, 0),
        (json!({"operationType": "Delete", "id": "no"}), 404, 0),
        (json!({"operationType": "Delete", "id": "there", "ifMatch": "\"x\""}), 412, 0),
        (json!({"operationType": "Read", "id": "there", "ifMatch": "\"x\""}), 412, 0),
        (json!({"operationType": "Replace", "id": "no", "resourceBody": {"id": "no", "pk": "p"}}), 404, 0),
        (json!({"operationType": "Create", "resourceBody": {"id": "x", "pk": "q"}}), 400, 1001),
        (json!({"operationType": "Read", "id": "there", "partitionKey": "[\"q\"]"}), 400, 1001),
        (json!({"operationType": "Create", "resourceBody": {"pk": "p"}}), 400, 0),
        (json!({"operationType": "Create", "resourceBody": {"id": "x", "pk": "p", "ttl": 0}}), 400, 0),
        (json!({"operationType": "Create", "resourceBody": 7}), 400, 0),
        (
            json!({"operationType": "Create", "resourceBody": {"id": "x", "pk": "p", "email": "there"}}),
            409,
            0,
        ),
        (
            json!({"operationType": "Patch", "id": "there", "resourceBody": [{"op": "remove", "path": "/no"}]}),
            400,
            0,
        ),
        (
            json!({"operationType": "Patch", "id": "there", "resourceBody": [{"op": "no", "path": "/no"}]}),
            400,
            0,
        ),
        (
            json!({"operationType": "Patch", "id": "there",
                "resourceBody": {"operations": [{"op": "set", "path": "/n", "value": 1}], "condition": "from c where c.n = 1"}}),
            412,
            0,
        ),
    ];
    for (culprit, status, substatus) in cases {
        let operations = json!([create("a"), {"operationType": "Delete", "id": "there"}, create("there"), culprit, create("b")]);
        // The item is there again when it is the culprit's turn, as a new one.
        let reply = world.call(&batch(&operations)).await;
        assert_eq!(reply.status, 207, "{culprit}: {}", String::from_utf8_lossy(&reply.body));
        assert_eq!(statuses(&reply), [424, 424, 424, status, 424], "{culprit}");
        let outcomes = reply.json().unwrap();
        let blamed = &outcomes[3];
        assert!(blamed["message"].as_str().unwrap().len() > 10, "{culprit}");
        let given = blamed.get("subStatusCode").map_or(0, |code| code.as_u64().unwrap());
        assert_eq!(
            (given, blamed.get("substatusCode")),
            (substatus, blamed.get("subStatusCode")),
            "{culprit}"
        );
        assert_eq!(outcomes[0], json!({"statusCode": 424, "requestCharge": 0}));
        assert_eq!(ids(&world).await, ["there"], "{culprit}");
    }
}

#[tokio::test]
async fn the_first_failure_is_the_culprit() {
    let world = World::new().await;
    world.item("there").await;
    let unfit = json!({"operationType": "Create", "resourceBody": {"pk": "p"}});
    let reply = world.answered(207, batch(&json!([create("there"), unfit.clone()]))).await;
    assert_eq!(statuses(&reply), [409, 424]);
    let reply = world.answered(207, batch(&json!([unfit, create("there")]))).await;
    assert_eq!(statuses(&reply), [400, 424]);
}

#[tokio::test]
async fn reads_may_be_answered_not_modified() {
    let world = World::new().await;
    let tag = world.item("a").await.json().unwrap()["_etag"].clone();
    let operations = json!([{"operationType": "Read", "id": "a", "ifNoneMatch": tag}, create("b")]);
    let reply = world.answered(200, batch(&operations)).await;
    assert_eq!(statuses(&reply), [304, 201]);
    assert!(reply.json().unwrap()[0].get("resourceBody").is_none());
}

#[tokio::test]
async fn a_minimal_answer_has_bodies_of_reads_alone() {
    let world = World::new().await;
    let operations = json!([create("a"), {"operationType": "Read", "id": "a"}, {"operationType": "Upsert", "resourceBody": {"id": "a", "pk": "p"}}]);
    let reply = world.answered(200, batch(&operations).header("prefer", "return=minimal")).await;
    let outcomes = reply.json().unwrap();
    let has_body: Vec<bool> = (0..3).map(|at| outcomes[at].get("resourceBody").is_some()).collect();
    assert_eq!(has_body, [false, true, false]);
    assert!((0..3).all(|at| outcomes[at]["eTag"].is_string()));
}

#[tokio::test]
async fn a_batch_that_cannot_be_read_is_refused_as_a_whole() {
    let world = World::new().await;
    let refused = async |call: Call, status, fragment: &str| {
        world.refused(call, status, fragment).await;
    };
    refused(raw(""), (400, 0), "not JSON").await;
    refused(raw("{}"), (400, 0), "JSON array").await;
    refused(raw("[]"), (400, 0), "Batch request has no operations.").await;
    refused(raw("[1,"), (400, 0), "not JSON").await;
    refused(batch(&json!([create("a"), {"operationType": "Merge", "id": "a"}])), (400, 0), "operation 1")
        .await;
    refused(batch(&json!([create("a"), {"operationType": "Read"}])), (400, 0), "no 'id'").await;
    let many: Vec<Value> = (0..101).map(|n| create(&n.to_string())).collect();
    refused(batch(&json!(many)), (400, 0), "Batch request has more operations than what is supported.").await;
    let large: Vec<Value> = (0..2).map(|n| json!({"operationType": "Create", "resourceBody": {"id": n.to_string(), "pk": "p", "f": "x".repeat(1024 * 1024)}})).collect();
    refused(batch(&json!(large)), (413, 0), "Message: {\"Errors\":[\"Request size is too large\"]}").await;
    let without_key = Call::post(ITEMS, "[1]")
        .header("x-ms-cosmos-is-batch-request", "true")
        .header("x-ms-cosmos-batch-atomic", "true");
    refused(without_key.clone(), (400, 0), "operation 0").await;
    let without_key = without_key.body(json!([create("a")]).to_string());
    refused(without_key, (400, 1001), "needs its partition key").await;
    refused(batch(&json!([create("a")])).signed_with(READ_ONLY_KEY), (403, 0), "read-only").await;
    assert!(ids(&world).await.is_empty());
    let most: Vec<Value> = (0..100).map(|n| create(&n.to_string())).collect();
    assert_eq!(statuses(&world.answered(200, batch(&json!(most))).await), [201; 100]);
    assert_eq!(ids(&world).await.len(), 100);
}

#[tokio::test]
async fn the_bytes_that_a_batch_reads_are_bounded() {
    let world = World::new().await;
    let filler = "x".repeat(1024 * 1024);
    for id in ["a", "b"] {
        let body = json!({"id": id, "pk": "p", "email": id, "f": filler}).to_string();
        world.made(Call::post(ITEMS, body).partition(PK)).await;
    }
    let reads: Vec<Value> = (0..100)
        .map(|n| json!({"operationType": "Read", "id": if n % 2 == 0 { "a" } else { "b" }}))
        .collect();
    let reply = world.answered(207, batch(&json!(reads))).await;
    let culprit = statuses(&reply).iter().position(|status| *status == 413).unwrap();
    assert_eq!(culprit, 31, "so many megabytes and no more");
    assert_eq!(reply.json().unwrap()[culprit]["subStatusCode"], 3402);
}

#[tokio::test]
async fn a_body_in_binary_json_is_taken() {
    let world = World::new().await;
    // [{"operationType":"Read","id":"a"}], as a uniform binary array of one object.
    let string = |text: &str| [&[0x80 + text.len() as u8][..], text.as_bytes()].concat();
    let object = [string("operationType"), string("Read"), string("id"), string("a")].concat();
    let body = [&[0x80, 0xE1, 0xEA, object.len() as u8][..], &object].concat();
    let reply = world.answered(207, raw(body)).await;
    assert_eq!(statuses(&reply), [404]);
}

#[tokio::test]
async fn a_disk_that_refuses_refuses_all_of_it() {
    let world = World::new().await;
    world.engine.fail_at(0, Fault::BeforeWrite);
    world.refused(batch(&json!([create("a"), create("b")])), (503, 0), "cannot be written to").await;
    assert!(ids(&world).await.is_empty());
    world.answered(200, batch(&json!([create("a"), create("b")]))).await;
}

#[tokio::test]
async fn a_batch_succeeds_while_the_container_is_re_indexed() {
    let world = World::new().await;
    world.container("n", &json!({})).await;
    let path = "dbs/d/colls/n";
    let changing = async {
        for n in 0..10 {
            let policy =
                json!({"includedPaths": [{"path": "/*"}], "excludedPaths": [{"path": format!("/x{n}/?")}]});
            let body = json!({"id": "n", "partitionKey": {"paths": ["/pk"], "kind": "Hash", "version": 2}, "indexingPolicy": policy});
            world.answered(200, Call::put(path, body.to_string())).await;
        }
    };
    let writing = async {
        for n in 0..60 {
            let item = |k: usize| json!({"operationType": "Create", "resourceBody": {"id": format!("{n}-{k}"), "pk": "p"}});
            let call = Call::post(&format!("{path}/docs"), json!([item(0), item(1)]).to_string())
                .header("x-ms-cosmos-is-batch-request", "True")
                .header("x-ms-cosmos-batch-atomic", if n % 2 == 0 { "True" } else { "False" })
                .partition(PK);
            assert_eq!(statuses(&world.answered(200, call).await), [201, 201], "{n}");
        }
    };
    tokio::join!(changing, writing);
}
