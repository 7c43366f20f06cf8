//! Outbox items and their relay.

use crate::world::{ITEMS, OWN, World, item};
use orrery_core::Timestamp;
use orrery_kit::lease::Leases;
use orrery_kit::outbox::{self, Event, Relay, Relayed};
use orrery_kit::ports::documents::Write;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A change, and the events that tell of it, in one batch.
async fn change(world: &World, partition: &str, id: &str, events: usize) {
    let data = json!({"of": id});
    let event = Event {
        kind: "test.changed",
        source: "/test",
        subject: id,
        time: Timestamp::from_seconds(1),
        data: &data,
    };
    let ttl = Duration::from_secs(600);
    let mut told = outbox::item("pk", partition, id, 1, &vec![event; events], ttl);
    told["email"] = format!("outbox of {id}").into();
    let writes = vec![Write::Create(item(partition, id, 0)), Write::Create(told)];
    world.documents.batch(ITEMS, partition, writes).await.unwrap();
}

fn relay(world: &World, worker: &str) -> Relay {
    let leases =
        Leases::new(world.documents.clone(), OWN, world.env.clone(), worker, Duration::from_secs(30));
    Relay::new(world.documents.clone(), ITEMS, leases, "relay")
}

type Told = Arc<Mutex<Vec<String>>>;

/// Rounds until nothing is left; what was told is added.
async fn drain(relay: &Relay, told: &Told) -> Relayed {
    loop {
        let sink = |event: Value| {
            let told = told.clone();
            async move {
                told.lock().unwrap().push(event["id"].as_str().unwrap().to_owned());
                Ok(())
            }
        };
        match relay.round(sink).await.unwrap() {
            Relayed::Events { has_more: true, .. } => {}
            other => return other,
        }
    }
}

fn ids(told: &Told) -> Vec<String> {
    told.lock().unwrap().clone()
}

pub async fn every_event_is_handed_on_at_least_once_and_in_order(world: &World) {
    let (relay, told) = (relay(world, "one"), Told::default());
    for n in 0..120 {
        change(world, "p", &format!("e{n:03}"), 2).await;
    }
    drain(&relay, &told).await;
    let expected = (0..120).flat_map(|n| [format!("e{n:03}:1:0"), format!("e{n:03}:1:1")]);
    assert_eq!(ids(&told), expected.collect::<Vec<_>>());
    assert_eq!(drain(&relay, &told).await, Relayed::Events { count: 0, has_more: false });
    change(world, "q", "last", 1).await;
    drain(&relay, &told).await;
    assert_eq!(ids(&told).len(), 241);
    assert_eq!(ids(&told).last().unwrap(), "last:1:0");
}

pub async fn a_sink_that_fails_gets_the_event_again(world: &World) {
    let (relay, told) = (relay(world, "one"), Told::default());
    for id in ["a", "b", "c"] {
        change(world, "p", id, 1).await;
    }
    let refusing =
        |event: Value| async move { if event["id"] == "b:1:0" { Err("no".to_owned()) } else { Ok(()) } };
    let stuck = Relayed::Stuck { delivered: 1, reason: "no".to_owned() };
    assert_eq!(relay.round(refusing).await.unwrap(), stuck);
    assert_eq!(relay.round(refusing).await.unwrap(), stuck);
    drain(&relay, &told).await;
    assert_eq!(ids(&told), ["a:1:0", "b:1:0", "c:1:0"]);
}

pub async fn another_relay_goes_on_where_one_broke_off(world: &World) {
    let (one, two, told) = (relay(world, "one"), relay(world, "two"), Told::default());
    change(world, "p", "a", 1).await;
    drain(&one, &told).await;
    assert_eq!(drain(&two, &told).await, Relayed::Elsewhere);
    change(world, "p", "b", 1).await;
    // The first is gone without a word; its lease runs out.
    world.advance(31);
    drain(&two, &told).await;
    assert_eq!(ids(&told), ["a:1:0", "b:1:0"]);
    assert_eq!(drain(&one, &told).await, Relayed::Elsewhere);
    two.stop().await.unwrap();
    change(world, "p", "c", 1).await;
    drain(&one, &told).await;
    assert_eq!(ids(&told), ["a:1:0", "b:1:0", "c:1:0"]);
}
