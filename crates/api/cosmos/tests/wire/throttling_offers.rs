//! Offers under throttling: what is in use, what may be asked for after what, and switching (S1-49, S1-79, C-30; wire
//! guide §10).

use crate::call::Call;
use crate::world::World;
use orrery_core::{Env, Timestamp};
use orrery_document_store::{Options, Throttling};
use orrery_documents::spaces::SPACES;
use orrery_kv::MemoryEngine;
use serde_json::{Value, json};
use std::time::Duration;

async fn world() -> World {
    let env = Env::seeded(Timestamp::from_seconds(1_800_000_000), 7);
    let set =
        |options: &mut Options| options.throttling = Throttling { is_on: true, ..Throttling::default() };
    let world = World::with_store(MemoryEngine::new(&SPACES), env, set);
    world.made(Call::post("dbs", r#"{"id":"d"}"#)).await;
    world
}

async fn container(world: &World, header: &str, value: &str) {
    let body = json!({"id": "c", "partitionKey": {"paths": ["/pk"]},
        "indexingPolicy": {"indexingMode": "none", "automatic": false}});
    world.made(Call::post("dbs/d/colls", body.to_string()).header(header, value)).await;
}

async fn autoscale(world: &World, max: u64) {
    container(world, "x-ms-cosmos-offer-autopilot-settings", &json!({"maxThroughput": max}).to_string())
        .await;
}

async fn manual(world: &World, units: u64) {
    container(world, "x-ms-offer-throughput", &units.to_string()).await;
}

async fn content(world: &World) -> Value {
    world.offer("dbs/d/colls/c").await["content"].clone()
}

async fn put(world: &World, content: Value) -> Call {
    let mut offer = world.offer("dbs/d/colls/c").await;
    offer["content"] = content;
    Call::put(&format!("offers/{}", offer["id"].as_str().unwrap()), offer.to_string())
}

fn write(world: &World) -> Call {
    let id = world.env.random_u64().to_string();
    Call::post("dbs/d/colls/c/docs", json!({"id": id, "pk": "p"}).to_string())
}

#[tokio::test]
async fn autoscale_serves_up_to_its_maximum_at_once_and_shows_what_is_in_use() {
    let world = world().await;
    autoscale(&world, 4000).await;
    assert_eq!(content(&world).await["offerThroughput"], 400, "idle: a tenth");
    for _ in 0..150 {
        world.made(write(&world)).await;
    }
    assert_eq!(content(&world).await["offerThroughput"], 750);
    let mut served = 150;
    while world.call(&write(&world)).await.status == 201 {
        served += 1;
    }
    assert_eq!(served, 800, "4,000 request units by five");
    let now = content(&world).await;
    assert_eq!(now["offerThroughput"], 4000);
    assert_eq!(now["offerAutopilotSettings"]["maxThroughput"], 4000);
    world.env.advance(Duration::from_secs(2)).unwrap();
    assert_eq!(content(&world).await["offerThroughput"], 400, "and back");
}

#[tokio::test]
async fn an_autoscale_offer_may_be_replaced_by_its_own_content() {
    let world = world().await;
    autoscale(&world, 4000).await;
    for _ in 0..150 {
        world.made(write(&world)).await;
    }
    let shown = content(&world).await;
    world.answered(200, put(&world, shown).await).await;
    assert_eq!(content(&world).await["offerAutopilotSettings"]["maxThroughput"], 4000);
}

#[tokio::test]
async fn more_throughput_works_at_once() {
    let world = world().await;
    manual(&world, 400).await;
    while world.call(&write(&world)).await.status == 201 {}
    world.answered(200, put(&world, json!({"offerThroughput": 4000})).await).await;
    world.env.advance(Duration::from_millis(100)).unwrap();
    let mut served = 0;
    while world.call(&write(&world)).await.status == 201 {
        served += 1;
    }
    assert_eq!(served, 80, "a tenth of a second of 4,000 request units, by five");
}

#[tokio::test]
async fn manual_becomes_autoscale_and_back() {
    let world = world().await;
    manual(&world, 700).await;
    let migrate = |header: &'static str| {
        let world = &world;
        async move {
            let shown = content(world).await;
            let call = put(world, shown).await.header(header, "true");
            let reply = world.answered(200, call).await;
            assert_eq!(reply.header("x-ms-offer-replace-pending"), Some("false"));
            reply.json().unwrap()["content"].clone()
        }
    };
    let now = migrate("x-ms-cosmos-migrate-offer-to-autopilot").await;
    assert_eq!(now["offerAutopilotSettings"]["maxThroughput"], 1000);
    let now = migrate("x-ms-cosmos-migrate-offer-to-manual-throughput").await;
    assert_eq!((&now["offerThroughput"], &now["offerAutopilotSettings"]), (&json!(1000), &Value::Null));
}

#[tokio::test]
async fn throughput_cannot_fall_below_a_hundredth_or_with_autoscale_a_tenth_of_its_highest() {
    let world = world().await;
    manual(&world, 400).await;
    world.answered(200, put(&world, json!({"offerThroughput": 60_000})).await).await;
    world.answered(200, put(&world, json!({"offerThroughput": 1000})).await).await;
    let low = put(&world, json!({"offerThroughput": 500})).await;
    world.refused(low, (400, 0), "less than required minimum throughput 600").await;
    world.answered(200, put(&world, json!({"offerThroughput": 600})).await).await;
    let low = put(&world, json!({"offerAutopilotSettings": {"maxThroughput": 5000}})).await;
    world.refused(low, (400, 0), "less than required minimum throughput 6000").await;
    // It is remembered over a restart.
    let engine = world.engine.crash(usize::MAX);
    drop(world);
    let later = World::on(engine, Env::seeded(Timestamp::from_seconds(1_800_000_000), 8));
    let low = put(&later, json!({"offerThroughput": 500})).await;
    later.refused(low, (400, 0), "less than required minimum throughput 600").await;
}
