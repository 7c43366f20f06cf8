//! Containers and offers: throughput, time to live, definitions that are refused.

use crate::call::Call;
use crate::world::{CONTAINER, World};
use serde_json::{Value, json};

fn create(more: Value) -> Call {
    let mut body = json!({"id": "new", "partitionKey": {"paths": ["/pk"]}});
    for (name, value) in more.as_object().unwrap() {
        body[name] = value.clone();
    }
    Call::post("dbs/d/colls", body.to_string())
}

const MANUAL: &str = "x-ms-offer-throughput";
const AUTOSCALE: &str = "x-ms-cosmos-offer-autopilot-settings";

#[tokio::test]
async fn bad_throughput_is_refused_for_databases_and_containers() {
    let world = World::new().await;
    let headers = [
        (MANUAL, "300", "Requested throughput 300 is less than required minimum throughput 400"),
        (MANUAL, "450", "increments of 100"),
        (MANUAL, "-1", "Requested throughput -1 is less than required minimum throughput 400"),
        (MANUAL, "2000000", "and 1000000 inclusive"),
        (MANUAL, "many", "a number of RU/s"),
        (MANUAL, "99999999999999999999", "a number of RU/s"),
        (
            AUTOSCALE,
            r#"{"maxThroughput":900}"#,
            "Requested throughput 900 is less than required minimum throughput 1000",
        ),
        (AUTOSCALE, r#"{"maxThroughput":1500}"#, "increments of 1000"),
        (AUTOSCALE, r#"{"maxThroughput":"4000"}"#, "integer 'maxThroughput'"),
        (AUTOSCALE, "{}", "integer 'maxThroughput'"),
        (AUTOSCALE, "4000", "integer 'maxThroughput'"),
        (AUTOSCALE, "{", "not JSON"),
    ];
    for (name, value, fragment) in headers {
        for call in [create(json!({})), Call::post("dbs", r#"{"id":"new"}"#)] {
            world.refused(call.header(name, value), (400, 0), fragment).await;
        }
    }
    let both = create(json!({})).header(MANUAL, "400").header(AUTOSCALE, r#"{"maxThroughput":4000}"#);
    world.refused(both, (400, 0), "both manual and autoscale").await;
    world.refused(Call::get("dbs/d/colls/new"), (404, 0), "there is no container 'new'").await;
}

#[tokio::test]
async fn an_offer_is_replaced_only_by_a_good_one_for_its_own_resource() {
    let world = World::new().await;
    world.made(create(json!({})).header(MANUAL, "400")).await;
    let offer = world.offer("dbs/d/colls/new").await;
    let path = format!("offers/{}", offer["id"].as_str().unwrap());
    let with = |pointer: &str, value: Value| {
        let mut changed = offer.clone();
        *changed.pointer_mut(pointer).unwrap() = value;
        Call::put(&path, changed.to_string())
    };
    for units in [json!(399), json!(450), json!("400"), json!(null), json!(400.5)] {
        world.refused(with("/content/offerThroughput", units), (400, 0), "").await;
    }
    world.refused(with("/content", json!(1)), (400, 0), "offerThroughput").await;
    world.refused(with("/resource", json!("dbs/x/")), (400, 0), "").await;
    world.refused(Call::put(&path, "{"), (400, 0), "not a JSON object").await;
    let stale = with("/content/offerThroughput", json!(500))
        .header("if-match", "\"00000000-0000-0000-0000-000000000000\"");
    world.refused(stale, (412, 0), "pre-condition").await;
    assert_eq!(world.answered(200, Call::get(&path)).await.json().unwrap(), offer, "nothing changed");
    let replaced = world.answered(200, with("/content/offerThroughput", json!(500))).await;
    assert_eq!(replaced.json().unwrap()["content"]["offerThroughput"], 500);
    assert_eq!(replaced.header("x-ms-offer-replace-pending"), Some("false"));
}

#[tokio::test]
async fn a_time_to_live_is_minus_one_or_a_positive_number() {
    let world = World::new().await;
    for ttl in
        [json!(0), json!(-2), json!("5"), json!(1.5), json!(true), json!([5]), json!(3_000_000_000_u64)]
    {
        world.refused(create(json!({"defaultTtl": ttl})), (400, 0), "defaultTtl").await;
    }
    for ttl in ["0", "-2", "null", "\"5\"", "1.5", "true", "{}", "3000000000"] {
        let body = format!(r#"{{"id":"i","pk":"p","ttl":{ttl}}}"#);
        world
            .refused(Call::post("dbs/d/colls/c/docs", body), (400, 0), "nonzero positive integer or -1")
            .await;
    }
}

#[tokio::test]
async fn bad_definitions_are_refused_with_their_reason() {
    let world = World::new().await;
    let call = |body: Value| Call::post("dbs/d/colls", body.to_string());
    world.refused(call(json!({"id": "new"})), (400, 0), "partitionKey").await;
    for key in [json!({}), json!({"paths": []}), json!({"paths": ["pk"]}), json!({"paths": "/pk"}), json!([])]
    {
        world.refused(create(json!({"partitionKey": key})), (400, 0), "").await;
    }
    let four = json!({"paths": ["/a", "/b", "/c", "/d"], "kind": "MultiHash", "version": 2});
    world.refused(create(json!({"partitionKey": four})), (400, 0), "").await;
    world.refused(create(json!({"indexingPolicy": {"indexingMode": "sometimes"}})), (400, 0), "").await;
    world.refused(create(json!({"uniqueKeyPolicy": {"uniqueKeys": [{"paths": []}]}})), (400, 0), "").await;
    let mut replaced = world.answered(200, Call::get(CONTAINER)).await.json().unwrap();
    replaced["partitionKey"]["paths"][0] = json!("/other");
    world.refused(Call::put(CONTAINER, replaced.to_string()), (400, 0), "").await;
    let mut replaced = world.answered(200, Call::get(CONTAINER)).await.json().unwrap();
    replaced.as_object_mut().unwrap().remove("uniqueKeyPolicy");
    world.refused(Call::put(CONTAINER, replaced.to_string()), (403, 0), "unique").await;
    world
        .refused(Call::put(CONTAINER, r#"{"id":"other","partitionKey":{"paths":["/pk"]}}"#), (400, 0), "")
        .await;
}

#[tokio::test]
async fn a_partition_key_without_a_version_is_version_1_and_reads_back_without() {
    let world = World::new().await;
    let created = world.made(create(json!({}))).await.json().unwrap();
    assert_eq!(created["partitionKey"], json!({"paths": ["/pk"], "kind": "Hash"}));
    let item = r#"{"id":"i","pk":"redmond"}"#;
    world.made(Call::post("dbs/d/colls/new/docs", item).partition(r#"["redmond"]"#)).await;
    // The bounds of the key's hash in version 1, and in version 2.
    for (start, end, expected) in [
        ("05C1EFE313830C087366656E706F6500", "05C1EFE313830C087366656E706F6501", 1),
        ("22E342F38A486A088463DFF7838A5963", "22E342F38A486A088463DFF7838A5964", 0),
    ] {
        let bounds = Call::get("dbs/d/colls/new/docs").header("x-ms-start-epk", start);
        let page = world.answered(200, bounds.header("x-ms-end-epk", end)).await.json().unwrap();
        assert_eq!(page["_count"], expected, "{start}");
    }
}

#[tokio::test]
async fn a_container_says_where_it_is_and_how_full() {
    let world = World::new().await;
    world.item("i").await;
    let read = || Call::get(CONTAINER);
    let reply = world.answered(200, read()).await;
    let body = reply.json().unwrap();
    assert_eq!(reply.header("etag"), body["_etag"].as_str());
    assert_eq!(reply.header("x-ms-alt-content-path"), Some("dbs/d"));
    assert_eq!(reply.header("x-ms-documentdb-collection-index-transformation-progress"), Some("100"));
    assert_eq!(reply.header("x-ms-resource-usage"), None);
    let reply = world.answered(200, read().header("x-ms-documentdb-populatequotainfo", "True")).await;
    assert!(reply.header("x-ms-resource-usage").unwrap().contains("documentsCount=1;"));
    assert_eq!(
        reply.header("x-ms-resource-quota"),
        Some("documentSize=2048;documentsSize=52428800;documentsCount=-1;collectionSize=52428800;")
    );
    let reply =
        world.answered(200, read().header("x-ms-documentdb-populatepartitionstatistics", "TRUE")).await;
    assert_eq!(reply.json().unwrap()["statistics"][0]["documentCount"], 1);
}
