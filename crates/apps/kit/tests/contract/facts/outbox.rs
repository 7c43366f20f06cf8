//! Outbox items and their relay.

use crate::fixture::{Fixture, ITEMS, OWN, item};
use orrery_core::Timestamp;
use orrery_kit::lease::Leases;
use orrery_kit::outbox::{self, Event, Relay, Relayed};
use orrery_kit::ports::documents::Write;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A change and the events that report it, in one batch.
async fn change(fixture: &Fixture, partition: &str, id: &str, events: usize) {
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
    fixture.documents.batch(ITEMS, partition, writes).await.unwrap();
}

fn relay(fixture: &Fixture, worker: &str) -> Relay {
    let leases =
        Leases::new(fixture.documents.clone(), OWN, fixture.env.clone(), worker, Duration::from_secs(30));
    Relay::new(fixture.documents.clone(), ITEMS, leases, "relay")
}

type Told = Arc<Mutex<Vec<String>>>;

/// Runs rounds until nothing is left, and collects the published events.
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

pub async fn every_event_is_relayed_at_least_once_and_in_order(fixture: &Fixture) {
    let (relay, told) = (relay(fixture, "one"), Told::default());
    for n in 0..120 {
        change(fixture, "p", &format!("e{n:03}"), 2).await;
    }
    drain(&relay, &told).await;
    let expected = (0..120).flat_map(|n| [format!("e{n:03}:1:0"), format!("e{n:03}:1:1")]);
    assert_eq!(ids(&told), expected.collect::<Vec<_>>());
    assert_eq!(drain(&relay, &told).await, Relayed::Events { count: 0, has_more: false });
    change(fixture, "q", "last", 1).await;
    drain(&relay, &told).await;
    assert_eq!(ids(&told).len(), 241);
    assert_eq!(ids(&told).last().unwrap(), "last:1:0");
}

pub async fn a_sink_that_fails_gets_the_event_again(fixture: &Fixture) {
    let (relay, told) = (relay(fixture, "one"), Told::default());
    for id in ["a", "b", "c"] {
        change(fixture, "p", id, 1).await;
    }
    let refusing =
        |event: Value| async move { if event["id"] == "b:1:0" { Err("no".to_owned()) } else { Ok(()) } };
    let stuck = Relayed::Stuck { delivered: 1, reason: "no".to_owned() };
    assert_eq!(relay.round(refusing).await.unwrap(), stuck);
    assert_eq!(relay.round(refusing).await.unwrap(), stuck);
    drain(&relay, &told).await;
    assert_eq!(ids(&told), ["a:1:0", "b:1:0", "c:1:0"]);
}

pub async fn another_relay_continues_at_the_cursor(fixture: &Fixture) {
    let (one, two, told) = (relay(fixture, "one"), relay(fixture, "two"), Told::default());
    change(fixture, "p", "a", 1).await;
    drain(&one, &told).await;
    assert_eq!(drain(&two, &told).await, Relayed::Elsewhere);
    change(fixture, "p", "b", 1).await;
    // The first relay vanishes without releasing its lease, which expires.
    fixture.advance(31);
    drain(&two, &told).await;
    assert_eq!(ids(&told), ["a:1:0", "b:1:0"]);
    assert_eq!(drain(&one, &told).await, Relayed::Elsewhere);
    two.stop().await.unwrap();
    change(fixture, "p", "c", 1).await;
    drain(&one, &told).await;
    assert_eq!(ids(&told), ["a:1:0", "b:1:0", "c:1:0"]);
}
