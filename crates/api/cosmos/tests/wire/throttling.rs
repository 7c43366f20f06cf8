//! Throughput enforced: who is turned away, with what, and when it goes on (S0-04, S1-48, S1-92, S3-32; wire guide §22).

use crate::call::Call;
use crate::world::World;
use orrery_core::{Env, Timestamp};
use orrery_document_store::{Options, Throttling};
use orrery_documents::spaces::SPACES;
use orrery_kv::MemoryEngine;
use orrery_testing_client::{Connection, OwnedReply};
use serde_json::{Value, json};
use std::time::Duration;

const ON: Throttling =
    Throttling { is_on: true, is_serverless: false, saves: false, partition_units_max: 10_000 };

/// A world whose clock stands still, with the database `d`.
async fn world(throttling: Throttling) -> World {
    let env = Env::seeded(Timestamp::from_seconds(1_800_000_000), 7);
    let set = |options: &mut Options| options.throttling = throttling;
    let world = World::with_store(MemoryEngine::new(&SPACES), env, set);
    world.made(Call::post("dbs", r#"{"id":"d"}"#)).await;
    world
}

async fn container(world: &World, name: &str, throughput: Option<u64>) {
    let body = json!({"id": name, "partitionKey": {"paths": ["/pk"], "kind": "Hash", "version": 2},
        "indexingPolicy": {"indexingMode": "none", "automatic": false}});
    let call = Call::post("dbs/d/colls", body.to_string());
    let call = match throughput {
        None => call,
        Some(units) => call.header("x-ms-offer-throughput", units.to_string()),
    };
    world.made(call).await;
}

/// A create that costs five request units.
fn create(container: &str, id: u64, pk: &str) -> Call {
    let item = json!({"id": id.to_string(), "pk": pk}).to_string();
    Call::post(&format!("dbs/d/colls/{container}/docs"), item).partition(&json!([pk]).to_string())
}

fn charge(reply: &OwnedReply) -> f64 {
    reply.header("x-ms-request-charge").unwrap().parse().unwrap()
}

/// Creates until one is turned away; the request units that were served, and the refusal.
async fn exhaust(world: &World, container: &str, pk: &str) -> (f64, OwnedReply) {
    let mut connection = Connection::connect(world.address).await.unwrap();
    let mut served = 0.0;
    for _ in 0..10_000 {
        let call = create(container, world.env.random_u64(), pk);
        let reply = world.call_on(&mut connection, &call).await;
        if reply.status == 429 {
            return (served, reply);
        }
        assert_eq!(reply.status, 201);
        served += charge(&reply);
    }
    panic!("{served} request units were served and nobody was turned away");
}

fn retry_after(reply: &OwnedReply) -> u64 {
    assert_eq!(reply.header("x-ms-substatus"), Some("3200"));
    assert_eq!(reply.header("retry-after"), None, "the service does not send it");
    reply.header("x-ms-retry-after-ms").unwrap().parse().unwrap()
}

fn pass(world: &World, millis: u64) {
    world.env.advance(Duration::from_millis(millis)).unwrap();
}

#[tokio::test]
async fn a_second_of_throughput_is_served_and_no_more() {
    let world = world(ON).await;
    container(&world, "c", Some(400)).await;
    let (served, refusal) = exhaust(&world, "c", "p").await;
    assert_eq!(served, 400.0);
    assert_eq!(charge(&refusal), 0.38);
    assert_eq!(refusal.json().unwrap()["code"], "TooManyRequests");
    assert!(refusal.json().unwrap()["message"].as_str().unwrap().starts_with("Request rate is large"));
    assert_eq!(refusal.header("x-ms-documentdb-partitionkeyrangeid"), Some("0"));
    let wait = retry_after(&refusal);
    assert_eq!(wait, 1, "nothing is there, and something will be in a millisecond");
    pass(&world, wait);
    world.answered(201, create("c", 1, "p")).await;
    // What it cost is owed: 5 request units of which 0.4 had come.
    let refusal = world.call(&create("c", 2, "p")).await;
    assert_eq!(retry_after(&refusal), 12);
    pass(&world, 1000);
    assert_eq!(
        exhaust(&world, "c", "p").await.0,
        400.0,
        "after a second, less the debt and with one request"
    );
}

#[tokio::test]
async fn a_throttled_request_costs_nothing() {
    let world = world(ON).await;
    container(&world, "c", Some(400)).await;
    exhaust(&world, "c", "p").await;
    for _ in 0..50 {
        assert_eq!(world.call(&create("c", 1, "p")).await.status, 429);
    }
    pass(&world, 1000);
    assert_eq!(exhaust(&world, "c", "p").await.0, 400.0);
}

#[tokio::test]
async fn every_kind_of_request_about_items_pays() {
    let world = world(ON).await;
    container(&world, "c", Some(400)).await;
    world.made(create("c", 1, "p")).await;
    exhaust(&world, "c", "p").await;
    let docs = "dbs/d/colls/c/docs";
    let item = format!("{docs}/1");
    for call in [
        Call::get(&item).partition(r#"["p"]"#),
        Call::get(docs),
        Call::post(docs, r#"{"query":"SELECT * FROM c"}"#).query(),
        Call::put(&item, r#"{"id":"1","pk":"p"}"#).partition(r#"["p"]"#),
        Call::delete(&item).partition(r#"["p"]"#),
        Call::post(docs, "not JSON"),
        Call::get(&format!("{docs}/no")).partition(r#"["p"]"#),
    ] {
        let reply = world.refused(call, (429, 3200), "Request rate is large").await;
        retry_after(&reply);
    }
    // What is not of the container is not kept waiting by it.
    world.answered(200, Call::get("dbs/d/colls/c")).await;
    world.answered(200, Call::get("")).await;
    container(&world, "other", None).await;
    world.made(create("other", 1, "p")).await;
    world.refused(Call::get("dbs/d/colls/no/docs"), (404, 1003), "no container 'no'").await;
}

#[tokio::test]
async fn a_refused_operation_is_charged() {
    let world = world(ON).await;
    container(&world, "c", Some(400)).await;
    world.made(create("c", 1, "p")).await;
    let mut refusals = 0;
    while world.call(&create("c", 1, "p")).await.status == 409 {
        refusals += 1;
    }
    assert_eq!(refusals, 319, "395 request units by 1.24, rounded up");
}

#[tokio::test]
async fn each_range_has_its_share() {
    let world = world(ON).await;
    container(&world, "c", Some(12_000)).await;
    let range = |reply: &OwnedReply| reply.header("x-ms-documentdb-partitionkeyrangeid").unwrap().to_owned();
    let mut keys = std::collections::BTreeMap::new();
    for (id, pk) in ["a", "b", "c", "d", "e", "f"].into_iter().enumerate() {
        keys.insert(range(&world.made(create("c", id as u64, pk)).await), pk);
    }
    let [first, second] = keys.values().copied().collect::<Vec<_>>()[..] else { panic!("two ranges") };
    // A throughput that was high leaves its ranges; lowered, each has half of what is left.
    set_throughput(&world, "c", json!({"offerThroughput": 800})).await;
    pass(&world, 1000);
    assert_eq!(exhaust(&world, "c", first).await.0, 400.0);
    assert_eq!(exhaust(&world, "c", second).await.0, 400.0, "the other range is not touched");
    pass(&world, 1000);
    exhaust(&world, "c", first).await;
    let everywhere = Call::post("dbs/d/colls/c/docs", r#"{"query":"SELECT * FROM c"}"#).query();
    assert_eq!(world.call(&everywhere).await.status, 429, "a query over all ranges needs all of them");
    let one = everywhere.partition(&json!([second]).to_string());
    assert_eq!(world.call(&one).await.status, 200);
}

async fn set_throughput(world: &World, name: &str, content: Value) {
    let mut offer = world.offer(&format!("dbs/d/colls/{name}")).await;
    offer["content"] = content;
    let path = format!("offers/{}", offer["id"].as_str().unwrap());
    let reply = world.answered(200, Call::put(&path, offer.to_string())).await;
    assert_eq!(reply.header("x-ms-offer-replace-pending"), Some("false"));
}

#[tokio::test]
async fn containers_without_throughput_share_their_databases() {
    let world = world(ON).await;
    world.made(Call::post("dbs", r#"{"id":"shared"}"#).header("x-ms-offer-throughput", "500")).await;
    let make = |name: &str| {
        let body = json!({"id": name, "partitionKey": {"paths": ["/pk"]},
            "indexingPolicy": {"indexingMode": "none", "automatic": false}});
        Call::post("dbs/shared/colls", body.to_string())
    };
    for name in ["one", "two"] {
        world.made(make(name)).await;
    }
    world.made(make("own").header("x-ms-offer-throughput", "400")).await;
    let write = |name: &str| {
        Call::post(
            &format!("dbs/shared/colls/{name}/docs"),
            json!({"id": world.env.random_u64().to_string(), "pk": "p"}).to_string(),
        )
    };
    let mut served = 0;
    while world.call(&write(["one", "two"][served % 2])).await.status == 201 {
        served += 1;
    }
    assert_eq!(served, 100, "500 request units by five, whoever asks");
    for name in ["one", "two"] {
        assert_eq!(world.call(&write(name)).await.status, 429);
    }
    world.made(write("own")).await;
}

#[tokio::test]
async fn low_priority_is_throttled_first() {
    let world = world(ON).await;
    container(&world, "c", Some(400)).await;
    let low = |id| create("c", id, "p").header("x-ms-cosmos-priority-level", "Low");
    let mut served = 0;
    while world.call(&low(1000 + served)).await.status == 201 {
        served += 1;
    }
    assert_eq!(served, 40, "half a second is kept for others");
    let (rest, _) = exhaust(&world, "c", "p").await;
    assert_eq!(rest, 200.0);
    let wait = retry_after(&world.call(&low(1)).await);
    assert_eq!(wait, 501);
    pass(&world, wait);
    world.made(low(1)).await;
}

#[tokio::test]
async fn saved_units_carry_a_burst_if_that_is_chosen() {
    let world = world(Throttling { saves: true, ..ON }).await;
    container(&world, "c", Some(400)).await;
    world.made(create("c", 1, "p")).await;
    pass(&world, 600_000);
    assert_eq!(exhaust(&world, "c", "p").await.0, 3000.0, "no faster than 3,000 a second");
    pass(&world, 1000);
    assert_eq!(exhaust(&world, "c", "p").await.0, 3000.0);
}

#[tokio::test]
async fn one_logical_partition_has_a_bound_of_its_own() {
    let world = world(Throttling { partition_units_max: 200, ..ON }).await;
    container(&world, "c", Some(1000)).await;
    assert_eq!(exhaust(&world, "c", "hot").await.0, 200.0);
    assert_eq!(exhaust(&world, "c", "warm").await.0, 200.0, "another partition of the same range");
    pass(&world, 1000);
    assert_eq!(exhaust(&world, "c", "hot").await.0, 200.0);
}

#[tokio::test]
async fn requests_about_anything_else_have_a_bound_of_the_account() {
    let world = world(ON).await;
    container(&world, "c", Some(400)).await;
    pass(&world, 1000);
    let mut served = 0;
    let refusal = loop {
        let reply = world.call(&Call::get("dbs/d/colls/c")).await;
        if reply.status == 429 {
            break reply;
        }
        served += 1;
    };
    assert_eq!(served, 120, "240 request units by two");
    assert!(
        refusal.json().unwrap()["message"].as_str().unwrap().contains("databases, containers and offers")
    );
    for call in [Call::get("dbs"), Call::get("offers"), Call::get("dbs/d/colls/c/pkranges")] {
        world.refused(call, (429, 3200), "Request rate is large").await;
    }
    world.made(create("c", 1, "p")).await;
    world.answered(200, Call::get("")).await;
    pass(&world, retry_after(&refusal));
    world.answered(200, Call::get("dbs/d/colls/c")).await;
}

#[tokio::test]
async fn off_is_off() {
    let world = world(Throttling::default()).await;
    container(&world, "c", Some(400)).await;
    let mut served = 0.0;
    for id in 0..100 {
        served += charge(&world.made(create("c", id, "p")).await);
    }
    assert!(served >= 500.0, "charges are told all the same: {served}");
    for _ in 0..150 {
        world.answered(200, Call::get("dbs/d")).await;
    }
}

#[tokio::test]
async fn a_serverless_account_has_5000_a_second_and_no_offers() {
    let world = world(Throttling { is_serverless: true, saves: true, ..ON }).await;
    let asked = |call: Call| call.header("x-ms-offer-throughput", "400");
    let auto = |call: Call| call.header("x-ms-cosmos-offer-autopilot-settings", r#"{"maxThroughput":1000}"#);
    let container_body = r#"{"id":"x","partitionKey":{"paths":["/pk"]}}"#;
    for call in [Call::post("dbs", r#"{"id":"x"}"#), Call::post("dbs/d/colls", container_body)] {
        for call in [asked(call.clone()), auto(call)] {
            world.refused(call, (400, 0), "is not supported for serverless accounts").await;
        }
    }
    container(&world, "c", None).await;
    let refusal = "Reading or replacing offers is not supported for serverless accounts";
    for call in [
        Call::get("offers"),
        Call::post("offers", r#"{"query":"SELECT * FROM root"}"#).query(),
        Call::get("offers/x"),
        Call::put("offers/x", "{}"),
    ] {
        world.refused(call, (400, 0), refusal).await;
    }
    pass(&world, 600_000);
    assert_eq!(exhaust(&world, "c", "p").await.0, 5000.0, "and nothing is saved");
}

/// What was dropped is forgotten: a container of the same name begins anew.
#[tokio::test]
async fn a_container_that_is_made_again_owes_nothing() {
    let world = world(ON).await;
    container(&world, "c", Some(400)).await;
    exhaust(&world, "c", "p").await;
    world.answered(204, Call::delete("dbs/d/colls/c")).await;
    container(&world, "c", Some(400)).await;
    assert_eq!(exhaust(&world, "c", "p").await.0, 400.0);
}
