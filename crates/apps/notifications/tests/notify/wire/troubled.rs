//! A store that is busy, loses responses or sends none: everything still ends, once (K1, K2, K3, K5, K6).

use super::proxy::{Fate, Proxy};
use crate::fixture::{Fixture, like, of_type};
use crate::place::{Home, Place};
use orrery_kit::ports::documents::Documents;
use orrery_notifications::dispatch::{Dispatcher, Options};
use orrery_notifications::records::Status;
use orrery_notifications::service::containers::DEVICES;
use orrery_notifications::service::{List, Notifications, ServiceError};
use serde_json::{Value, json};
use std::collections::HashSet;
use std::time::Duration;

/// The time limit of an operation: the cost of a request that is never answered.
const PATIENCE: Duration = Duration::from_millis(1_500);

/// Enough requests to meet each fault often, in any order.
const USERS: [&str; 6] = ["u-0", "u-1", "u-2", "u-3", "u-4", "u-5"];

/// Another process, connected through this proxy.
pub(super) async fn by(fixture: &Fixture, proxy: &Proxy, worker: &str) -> Notifications {
    let Home::Server { server, database } = fixture.home() else { panic!("it is over the wire") };
    let remote = server.remote(proxy.endpoint(), database).with_time_limit(PATIENCE);
    let service = fixture.on(Documents::Remote(remote), worker);
    while service.ensure().await.is_err() {}
    service
}

fn is_transient(error: &ServiceError) -> bool {
    matches!(error, ServiceError::Busy { .. } | ServiceError::Unavailable(_))
}

/// Sends until accepted, like a client with an idempotency key.
async fn send(service: &Notifications, body: &Value, key: Option<&str>) -> String {
    loop {
        match service.enqueue(body, key).await {
            Ok(accepted) => return accepted[0].id.clone().unwrap(),
            Err(error) => assert!(is_transient(&error) && key.is_some(), "{error:?}"),
        }
    }
}

pub(super) async fn register(service: &Notifications, user: &str, device: &str) {
    let body = json!({"deviceId": device, "pushToken": device, "platform": "fcm"});
    while let Err(error) = service.register(user, &body).await {
        assert!(is_transient(&error), "{error:?}");
    }
}

/// Alternates until nothing is due any more, whatever the store does; abandoned leases expire.
async fn work(fixture: &Fixture, workers: &[Notifications]) {
    let mut quiet = 0;
    for turn in 0..500 {
        let dispatcher = Dispatcher::new(&workers[turn % workers.len()], Options::default());
        match dispatcher.round().await {
            Ok(round) if round.claimed == 0 => {
                quiet += 1;
                fixture.advance(31);
                if quiet == 3 {
                    return;
                }
            }
            Ok(_) => quiet = 0,
            Err(error) => assert!(is_transient(&error), "{error:?}"),
        }
    }
    panic!("there is always more to do");
}

/// Three likes of one key, a single one and an alarm for each of these users, with four devices registered in
/// sequence.
async fn scenario(users: &[&'static str], fates: &[(Fate, u64)], seed: u64) -> Proxy {
    let place = Place::server();
    let fixture = place.fixture().await;
    let Place::Server(server) = &place else { panic!("it is a server") };
    let proxy = Proxy::to(server.port(), seed).await;
    proxy.fates(fates);
    let workers = [by(&fixture, &proxy, "worker-a").await, by(&fixture, &proxy, "worker-b").await];
    let mut sent = Vec::new();
    for user in users.iter().copied() {
        for device in 0..4 {
            register(&workers[device % 2], user, &format!("{user}-{device}")).await;
            fixture.advance(1);
        }
        let mut bodies: Vec<Value> =
            ["A", "B", "C"].iter().map(|actor| like(user, actor, "post-1", Some("k"))).collect();
        bodies.extend([like(user, "D", "post-2", None), of_type(user, "SECURITY_NEW_DEVICE", "u")]);
        for (at, body) in bodies.iter().enumerate() {
            let key = format!("caller\n{user}-{at}");
            sent.push((user, send(&workers[at % 2], body, Some(&key)).await));
        }
    }
    work(&fixture, &workers).await;
    ended(&fixture, users, &sent).await;
    proxy
}

async fn ended(fixture: &Fixture, users: &[&str], sent: &[(&str, String)]) {
    let distinct: HashSet<&String> = sent.iter().map(|(_, id)| id).collect();
    assert_eq!(distinct.len(), sent.len());
    for (user, id) in sent {
        let event = fixture.event(user, id).await;
        assert!(matches!(event.status, Status::Completed | Status::Deduplicated), "K1: {event:?}");
        let delivered = event.attempts.iter().filter(|one| one.result == "delivered");
        let devices: HashSet<&String> = delivered.clone().map(|one| &one.device_id).collect();
        assert_eq!(delivered.count(), devices.len(), "K6: none again after a success that was recorded");
    }
    for user in users.iter().copied() {
        assert_eq!(fixture.events(user).await.len(), 5, "K1: none was made twice");
        let listed = fixture.service.list(user, &List::default()).await.unwrap().items;
        let mut counts: Vec<u64> = listed.iter().map(|one| one.count).collect();
        counts.sort_unstable();
        assert_eq!(counts, [1, 1, 3], "K2: every event counts once, {listed:?}");
        let shown: HashSet<String> = listed.iter().map(|one| one.id.clone()).collect();
        for event in fixture.events(user).await {
            assert!(shown.contains(event["notificationId"].as_str().unwrap()), "K5: {event}");
        }
        let text = "SELECT VALUE c.id FROM c WHERE c.revokedAt = null";
        let active = fixture.rows(DEVICES, Some(user), text).await;
        assert_eq!(active.len(), 3, "K3");
        let mut pushes = fixture.phones.pushes();
        pushes.retain(|push| push.device.starts_with(user));
        let reached: HashSet<(&str, &str)> =
            pushes.iter().map(|push| (push.device.as_str(), push.collapse_id.as_str())).collect();
        assert_eq!(reached.len(), 9, "K6: three notifications on three devices, and a repeat replaces");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_store_that_turns_a_third_away_delays_and_loses_nothing() {
    let proxy = scenario(&USERS, &[(Fate::Busy, 300), (Fate::Down, 50)], 1).await;
    assert!(proxy.count(Fate::Busy) > 30 && proxy.count(Fate::Down) > 3);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn answers_that_are_lost_double_nothing() {
    let proxy = scenario(&USERS, &[(Fate::Lost, 150), (Fate::Changed, 250)], 2).await;
    assert!(proxy.count(Fate::Lost) > 20 && proxy.count(Fate::Changed) > 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn answers_that_never_come_are_given_up_and_double_nothing() {
    let proxy = scenario(&USERS[..2], &[(Fate::Silent, 15), (Fate::Busy, 50)], 3).await;
    assert!(proxy.count(Fate::Silent) > 0);
}

/// A sender without a key learns that it was accepted, though the adapter had to ask twice; and it was
/// accepted once.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_event_whose_answer_was_lost_is_taken_all_the_same_without_a_key() {
    let place = Place::server();
    let fixture = place.fixture().await;
    let Place::Server(server) = &place else { panic!("it is a server") };
    let proxy = Proxy::to(server.port(), 4).await;
    let service = by(&fixture, &proxy, "worker-a").await;
    proxy.fates(&[(Fate::Lost, 400)]);
    for at in 0..20 {
        send(&service, &like("u", "Noor", &format!("post-{at}"), None), None).await;
    }
    assert!(proxy.count(Fate::Lost) > 5);
    assert_eq!(fixture.events("u").await.len(), 20);
}
