//! Random events, crashes, failures and clock moves, checked against K1, K2, K3, K6, K7 and K8.

use crate::fixture::{Fixture, crashing, like, of_type, settle};
use crate::place::Place;
use orrery_kit::time;
use orrery_notifications::push::Outcome;
use orrery_notifications::service::List;
use orrery_notifications::service::containers::DEVICES;
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use serde_json::Value;
use std::collections::{HashMap, HashSet};

#[derive(Clone, Debug)]
enum Move {
    Like { user: usize, key: Option<usize> },
    Alarm { user: usize },
    Work,
    Crash { step: usize, at: usize },
    Wait { seconds: u64 },
    Provider { answers: usize },
    Register { user: usize, device: usize },
    Read { user: usize },
}

const STEPS: [&str; 6] = [
    "notify.decide.before",
    "notify.decide.after",
    "notify.project.after",
    "notify.push.after",
    "notify.finish.before",
    "notify.finish.after",
];

fn moves() -> impl Strategy<Value = Vec<Move>> {
    let one = prop_oneof![
        5 => (0..2usize, prop::option::of(0..2usize)).prop_map(|(user, key)| Move::Like { user, key }),
        1 => (0..2usize).prop_map(|user| Move::Alarm { user }),
        3 => Just(Move::Work),
        3 => (0..STEPS.len(), 1..4usize).prop_map(|(step, at)| Move::Crash { step, at }),
        3 => prop_oneof![Just(1u64), Just(31), Just(150), Just(3_700), Just(9_000)]
            .prop_map(|seconds| Move::Wait { seconds }),
        2 => (0..4usize).prop_map(|answers| Move::Provider { answers }),
        1 => (0..2usize, 0..5usize).prop_map(|(user, device)| Move::Register { user, device }),
        1 => (0..2usize).prop_map(|user| Move::Read { user }),
    ];
    prop::collection::vec(one, 1..40)
}

const USERS: [&str; 2] = ["u-0", "u-1"];

async fn play(place: &Place, moves: Vec<Move>) {
    let fixture = place.fixture().await;
    for user in USERS {
        fixture.register(user, &format!("{user}-d0")).await;
    }
    let mut sent: Vec<(&str, String)> = Vec::new();
    let mut retries: HashMap<String, (u64, String)> = HashMap::new();
    for (turn, one) in moves.into_iter().enumerate() {
        match one {
            Move::Like { user, key } => {
                let key = key.map(|key| format!("k-{key}"));
                let body = like(USERS[user], &format!("N{turn}"), &format!("post-{turn}"), key.as_deref());
                sent.push((USERS[user], fixture.send(body).await));
            }
            Move::Alarm { user } => {
                let body = of_type(USERS[user], "SECURITY_NEW_DEVICE", &format!("t-{turn}"));
                sent.push((USERS[user], fixture.send(body).await));
            }
            Move::Work => {
                let worker = fixture.another(&format!("works-{turn}")).await;
                settle(&worker).await;
            }
            Move::Crash { step, at } => {
                let worker = fixture.another(&format!("crashes-{turn}")).await;
                crashing(&worker, STEPS[step], at).round().await.unwrap();
            }
            Move::Wait { seconds } => fixture.advance(seconds),
            Move::Provider { answers } => fixture.phones.answer(move |_, _| match answers {
                0 => Outcome::Later {
                    after: None,
                    reason: "503".to_owned(),
                    status: Some(503),
                    may_have_arrived: false,
                },
                1 => Outcome::Unregistered { reason: "gone".to_owned(), status: Some(410) },
                _ => Outcome::Delivered,
            }),
            Move::Register { user, device } => {
                fixture.register(USERS[user], &format!("{}-d{device}", USERS[user])).await;
            }
            Move::Read { user } => {
                fixture.service.read_all(USERS[user], None).await.unwrap();
            }
        }
        always(&fixture, &mut retries).await;
    }
    finally(&fixture, &sent).await;
}

/// Invariants that hold at every moment.
async fn always(fixture: &Fixture, retries: &mut HashMap<String, (u64, String)>) {
    for user in USERS {
        let active = fixture.rows(DEVICES, Some(user), "SELECT c.id FROM c WHERE c.revokedAt = null").await;
        assert!(active.len() <= 3, "K3");
        let list = List { limit: Some(100), ..List::default() };
        let unread =
            fixture.service.list(user, &list).await.unwrap().items.iter().filter(|one| !one.read).count();
        assert_eq!(fixture.service.unread_count(user).await.unwrap(), unread as u64, "K7");
        for event in fixture.events(user).await {
            let count = event["retryCount"].as_u64().unwrap();
            assert!(count <= 5, "K8");
            let next = event["nextRetryAt"].as_str().unwrap_or_default().to_owned();
            let known = retries.entry(event["id"].as_str().unwrap().to_owned()).or_default();
            assert!(count >= known.0, "K8: retries do not go back");
            assert!(next.is_empty() || next >= known.1, "K8: nextRetryAt is monotone");
            known.0 = count;
            if !next.is_empty() {
                known.1 = next;
            }
        }
    }
}

/// Invariants that hold once nothing is left to do.
async fn finally(fixture: &Fixture, sent: &[(&str, String)]) {
    fixture.phones.answer(|_, _| Outcome::Delivered);
    let last = fixture.another("last").await;
    for _ in 0..40 {
        settle(&last).await;
        fixture.advance(3_600);
    }
    for (user, id) in sent {
        let event = fixture.event(user, id).await;
        let is_over = event.processed_at.is_some() || event.dead_lettered_at.is_some();
        assert!(is_over, "K1: {event:?}");
        // K6: a recorded success is the last attempt for its device.
        for device in event.attempts.iter().map(|attempt| &attempt.device_id) {
            let of_device: Vec<bool> = event
                .attempts
                .iter()
                .filter(|attempt| attempt.device_id == *device)
                .map(|attempt| attempt.result == "delivered")
                .collect();
            assert!(!of_device[..of_device.len() - 1].contains(&true), "K6: {:?}", event.attempts);
        }
    }
    for user in USERS {
        windows(fixture, user).await;
    }
}

/// K2: the notifications of a key are at least an hour apart, and represent all its events.
async fn windows(fixture: &Fixture, user: &str) {
    let mut of_key: HashMap<String, Vec<(String, String)>> = HashMap::new();
    let mut events = 0;
    for event in fixture.events(user).await {
        let Some(key) = event["dedupeKey"].as_str() else { continue };
        let Some(id) = event["notificationId"].as_str() else { continue };
        events += 1;
        let decision: Value = serde_json::from_str(event["decision"].as_str().unwrap()).unwrap();
        let at = decision["at"].as_str().unwrap().to_owned();
        of_key.entry(key.to_owned()).or_default().push((at, id.to_owned()));
    }
    let mut counted = 0;
    for decided in of_key.values_mut() {
        decided.sort();
        let ids: HashSet<&String> = decided.iter().map(|(_, id)| id).collect();
        let mut opened: Vec<&String> = Vec::new();
        for id in &ids {
            opened.push(&decided.iter().find(|(_, of)| of == *id).unwrap().0);
        }
        opened.sort();
        for pair in opened.windows(2) {
            let between = time::parse(pair[1]).unwrap().abs_diff(time::parse(pair[0]).unwrap());
            assert!(between.as_secs() >= 3_600, "K2: two notifications in one window");
        }
        for one in fixture.notifications(user).await {
            if ids.contains(&one["id"].as_str().unwrap().to_owned()) {
                counted += one["count"].as_u64().unwrap();
            }
        }
    }
    assert_eq!(counted, events, "every event counts once");
}

fn check(place: &Place, cases: u32) {
    // A failure over the wire is shrunk in memory, which is fast.
    let max_shrink_iters = if matches!(place, Place::Memory) { 200 } else { 2 };
    let config =
        ProptestConfig { cases, max_shrink_iters, failure_persistence: None, ..ProptestConfig::default() };
    let played = TestRunner::new(config).run(&moves(), |moves| {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(play(place, moves));
        Ok(())
    });
    played.unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn nothing_is_lost_doubled_or_forgotten() {
    check(&Place::Memory, 24);
}

#[test]
fn nothing_is_lost_doubled_or_forgotten_over_the_wire() {
    check(&Place::server(), 6);
}
