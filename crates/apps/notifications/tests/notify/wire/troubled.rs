//! A store that is busy, loses answers or gives none: everything ends, once (K1, K2, K3, K5, K6).

use super::way::{Fate, Way};
use crate::place::{Home, Place};
use crate::world::{World, like, of_type};
use orrery_kit::ports::documents::Documents;
use orrery_notifications::dispatch::{Dispatcher, Options};
use orrery_notifications::records::Status;
use orrery_notifications::service::containers::DEVICES;
use orrery_notifications::service::{List, Notifications, ServiceError};
use serde_json::{Value, json};
use std::collections::HashSet;
use std::time::Duration;

/// How long one operation goes on trying here: a request that is never answered costs so much.
const PATIENCE: Duration = Duration::from_millis(1_500);

/// As many as it takes to meet each fate often, whoever comes first.
const USERS: [&str; 6] = ["u-0", "u-1", "u-2", "u-3", "u-4", "u-5"];

/// Another process, which goes this way.
pub(super) async fn by(world: &World, way: &Way, worker: &str) -> Notifications {
    let Home::Server { server, database } = world.home() else { panic!("it is over the wire") };
    let remote = server.remote(way.endpoint(), database).with_time_limit(PATIENCE);
    let service = world.on(Documents::Remote(remote), worker);
    while service.ensure().await.is_err() {}
    service
}

fn is_passing(error: &ServiceError) -> bool {
    matches!(error, ServiceError::Busy { .. } | ServiceError::Unavailable(_))
}

/// Sends until it is taken, as a client does that has a key.
async fn send(service: &Notifications, body: &Value, key: Option<&str>) -> String {
    loop {
        match service.enqueue(body, key).await {
            Ok(accepted) => return accepted[0].id.clone().unwrap(),
            Err(error) => assert!(is_passing(&error) && key.is_some(), "{error:?}"),
        }
    }
}

pub(super) async fn register(service: &Notifications, user: &str, device: &str) {
    let body = json!({"deviceId": device, "pushToken": device, "platform": "fcm"});
    while let Err(error) = service.register(user, &body).await {
        assert!(is_passing(&error), "{error:?}");
    }
}

/// Works by turns until nothing is due any more, whatever the store does; leases that were left behind run out.
async fn work(world: &World, workers: &[Notifications]) {
    let mut quiet = 0;
    for turn in 0..500 {
        let dispatcher = Dispatcher::new(&workers[turn % workers.len()], Options::default());
        match dispatcher.round().await {
            Ok(round) if round.claimed == 0 => {
                quiet += 1;
                world.advance(31);
                if quiet == 3 {
                    return;
                }
            }
            Ok(_) => quiet = 0,
            Err(error) => assert!(is_passing(&error), "{error:?}"),
        }
    }
    panic!("there is always more to do");
}

/// Three likes of one key, one alone and an alarm, for each of these users, with four devices one after the other.
async fn scenario(users: &[&'static str], fates: &[(Fate, u64)], seed: u64) -> Way {
    let place = Place::server();
    let world = place.world().await;
    let Place::Server(server) = &place else { panic!("it is a server") };
    let way = Way::to(server.port(), seed).await;
    way.fates(fates);
    let workers = [by(&world, &way, "worker-a").await, by(&world, &way, "worker-b").await];
    let mut sent = Vec::new();
    for user in users.iter().copied() {
        for device in 0..4 {
            register(&workers[device % 2], user, &format!("{user}-{device}")).await;
            world.advance(1);
        }
        let mut bodies: Vec<Value> =
            ["A", "B", "C"].iter().map(|actor| like(user, actor, "post-1", Some("k"))).collect();
        bodies.extend([like(user, "D", "post-2", None), of_type(user, "SECURITY_NEW_DEVICE", "u")]);
        for (at, body) in bodies.iter().enumerate() {
            let key = format!("caller\n{user}-{at}");
            sent.push((user, send(&workers[at % 2], body, Some(&key)).await));
        }
    }
    work(&world, &workers).await;
    ended(&world, users, &sent).await;
    way
}

async fn ended(world: &World, users: &[&str], sent: &[(&str, String)]) {
    let distinct: HashSet<&String> = sent.iter().map(|(_, id)| id).collect();
    assert_eq!(distinct.len(), sent.len());
    for (user, id) in sent {
        let event = world.event(user, id).await;
        assert!(matches!(event.status, Status::Completed | Status::Deduplicated), "K1: {event:?}");
        let delivered = event.attempts.iter().filter(|one| one.result == "delivered");
        let devices: HashSet<&String> = delivered.clone().map(|one| &one.device_id).collect();
        assert_eq!(delivered.count(), devices.len(), "K6: none again after a success that was recorded");
    }
    for user in users.iter().copied() {
        assert_eq!(world.events(user).await.len(), 5, "K1: none was made twice");
        let listed = world.service.list(user, &List::default()).await.unwrap().items;
        let mut counts: Vec<u64> = listed.iter().map(|one| one.count).collect();
        counts.sort_unstable();
        assert_eq!(counts, [1, 1, 3], "K2: every event counts once, {listed:?}");
        let shown: HashSet<String> = listed.iter().map(|one| one.id.clone()).collect();
        for event in world.events(user).await {
            assert!(shown.contains(event["notificationId"].as_str().unwrap()), "K5: {event}");
        }
        let text = "SELECT VALUE c.id FROM c WHERE c.revokedAt = null";
        let active = world.rows(DEVICES, Some(user), text).await;
        assert_eq!(active.len(), 3, "K3");
        let mut pushes = world.phones.pushes();
        pushes.retain(|push| push.device.starts_with(user));
        let reached: HashSet<(&str, &str)> =
            pushes.iter().map(|push| (push.device.as_str(), push.collapse_id.as_str())).collect();
        assert_eq!(reached.len(), 9, "K6: three notifications on three devices, and a repeat replaces");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_store_that_turns_a_third_away_delays_and_loses_nothing() {
    let way = scenario(&USERS, &[(Fate::Busy, 300), (Fate::Down, 50)], 1).await;
    assert!(way.count(Fate::Busy) > 30 && way.count(Fate::Down) > 3);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn answers_that_are_lost_double_nothing() {
    let way = scenario(&USERS, &[(Fate::Lost, 150), (Fate::Changed, 250)], 2).await;
    assert!(way.count(Fate::Lost) > 20 && way.count(Fate::Changed) > 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn answers_that_never_come_are_given_up_and_double_nothing() {
    let way = scenario(&USERS[..2], &[(Fate::Silent, 15), (Fate::Busy, 50)], 3).await;
    assert!(way.count(Fate::Silent) > 0);
}

/// Who sends no key hears that it was taken, though the adapter had to ask twice; and it was taken once.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_event_whose_answer_was_lost_is_taken_all_the_same_without_a_key() {
    let place = Place::server();
    let world = place.world().await;
    let Place::Server(server) = &place else { panic!("it is a server") };
    let way = Way::to(server.port(), 4).await;
    let service = by(&world, &way, "worker-a").await;
    way.fates(&[(Fate::Lost, 400)]);
    for at in 0..20 {
        send(&service, &like("u", "Noor", &format!("post-{at}"), None), None).await;
    }
    assert!(way.count(Fate::Lost) > 5);
    assert_eq!(world.events("u").await.len(), 20);
}
