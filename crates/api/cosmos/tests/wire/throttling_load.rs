//! Throughput changed under load: nobody sees anything but answers and 429 (S1-79, S1-92).

use crate::call::Call;
use crate::world::World;
use orrery_core::{Env, Timestamp};
use orrery_document_store::{Options, Throttling};
use orrery_documents::spaces::SPACES;
use orrery_kv::MemoryEngine;
use orrery_testing_client::Connection;
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

const CLIENTS: u64 = 8;
/// The clock moves by this much at a time.
const STEP_MILLIS: u64 = 50;
/// What the throughput is set to, each for a second of the clock.
const RATES: [u64; 8] = [400, 4000, 1000, 13_000, 600, 30_000, 800, 400];

#[derive(Default)]
struct Seen {
    served: AtomicU64,
    turned_away: AtomicU64,
    /// Hundredths of request units.
    spent: AtomicU64,
}

/// Writes, reads and asks in turn until told to stop.
async fn client(world: Arc<World>, number: u64, seen: Arc<Seen>, stop: Arc<AtomicBool>) {
    let mut connection = Connection::connect(world.address).await.unwrap();
    let docs = "dbs/d/colls/c/docs";
    let pk = json!([format!("p{number}")]).to_string();
    for n in 0u64.. {
        if stop.load(Ordering::Relaxed) {
            return;
        }
        let call = match n % 4 {
            0 => Call::post(docs, json!({"id": format!("{n}"), "pk": format!("p{number}")}).to_string())
                .upsert(),
            1 => Call::get(&format!("{docs}/no")),
            2 => Call::post(docs, r#"{"query":"SELECT TOP 1 * FROM c"}"#).query(),
            _ => Call::get(docs).header("x-ms-max-item-count", "1"),
        };
        let reply = world.call_on(&mut connection, &call.partition(&pk)).await;
        match (reply.status, n % 4) {
            (200, 0 | 2 | 3) | (201, 0) | (404, 1) => {
                let charge: f64 = reply.header("x-ms-request-charge").unwrap().parse().unwrap();
                seen.spent.fetch_add((charge * 100.0).round() as u64, Ordering::Relaxed);
                seen.served.fetch_add(1, Ordering::Relaxed);
            }
            (429, _) => {
                assert_eq!(reply.header("x-ms-substatus"), Some("3200"));
                assert!(reply.header("x-ms-retry-after-ms").unwrap().parse::<u64>().unwrap() > 0);
                seen.turned_away.fetch_add(1, Ordering::Relaxed);
            }
            (status, kind) => panic!("{status} for a request of kind {kind}: {:?}", reply.json()),
        }
        tokio::task::yield_now().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn throughput_changes_under_load_without_an_error() {
    let env = Env::seeded(Timestamp::from_seconds(1_800_000_000), 7);
    let set =
        |options: &mut Options| options.throttling = Throttling { is_on: true, ..Throttling::default() };
    let world = Arc::new(World::with_store(MemoryEngine::new(&SPACES), env, set));
    world.made(Call::post("dbs", r#"{"id":"d"}"#)).await;
    let body = r#"{"id":"c","partitionKey":{"paths":["/pk"]}}"#;
    world.made(Call::post("dbs/d/colls", body).header("x-ms-offer-throughput", "400")).await;
    let (seen, stop) = (Arc::new(Seen::default()), Arc::new(AtomicBool::new(false)));
    let clients: Vec<_> = (0..CLIENTS)
        .map(|number| tokio::spawn(client(world.clone(), number, seen.clone(), stop.clone())))
        .collect();
    let mut allowed = 0;
    for rate in RATES {
        let mut offer = world.offer("dbs/d/colls/c").await;
        offer["content"] = json!({"offerThroughput": rate});
        let path = format!("offers/{}", offer["id"].as_str().unwrap());
        world.answered(200, Call::put(&path, offer.to_string())).await;
        allowed += rate;
        for _ in 0..1000 / STEP_MILLIS {
            world.env.advance(Duration::from_millis(STEP_MILLIS)).unwrap();
            // Everybody gets a turn before the clock moves on.
            let before = seen.served.load(Ordering::Relaxed) + seen.turned_away.load(Ordering::Relaxed);
            while seen.served.load(Ordering::Relaxed) + seen.turned_away.load(Ordering::Relaxed)
                < before + 2 * CLIENTS
            {
                assert!(!clients.iter().any(|client| client.is_finished()), "a client saw an error");
                tokio::task::yield_now().await;
            }
        }
    }
    stop.store(true, Ordering::Relaxed);
    for client in clients {
        client.await.unwrap();
    }
    assert!(seen.turned_away.load(Ordering::Relaxed) > 0 && seen.served.load(Ordering::Relaxed) > 0);
    let spent = seen.spent.load(Ordering::Relaxed) / 100;
    let fullest = RATES.iter().max().unwrap();
    let in_flight = CLIENTS * 20;
    assert!(spent <= allowed + fullest + in_flight, "{spent} request units of {allowed} were served");
}
