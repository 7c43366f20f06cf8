//! A dispatcher crashes at each step in turn, and another continues when the lease expires: the end is the
//! same (K1, K5, K6).

use crate::fixture::{Fixture, crashing, like, settle};
use crate::place::Place;
use orrery_notifications::records::Status;
use orrery_notifications::service::containers::EVENTS;
use serde_json::Value;

const STEPS: [&str; 6] = [
    "notify.decide.before",
    "notify.decide.after",
    "notify.project.after",
    "notify.push.after",
    "notify.finish.before",
    "notify.finish.after",
];

/// The final state, without parts that may differ between runs.
async fn end(fixture: &Fixture) -> Vec<Value> {
    let events = fixture.rows(
        EVENTS,
        Some("u"),
        "SELECT c.status, c.outcome, c.retryCount FROM c WHERE IS_DEFINED(c.eventType)",
    );
    let aggregates = fixture.rows(
        EVENTS,
        Some("u"),
        "SELECT c.count, c.version, c.actors FROM c WHERE c.kind = 'aggregate'",
    );
    let mut all: Vec<Value> = events.await;
    all.extend(aggregates.await);
    let texts = fixture
        .notifications("u")
        .await
        .into_iter()
        .map(|one| serde_json::json!([one["title"], one["count"]]));
    all.extend(texts);
    all.sort_by_key(Value::to_string);
    all
}

/// Three likes of one key, one of another, one without; the dispatcher crashes at `crash`.
async fn run(place: &Place, crash: Option<(&str, usize)>) -> (Fixture, Vec<Value>) {
    let fixture = place.fixture().await;
    fixture.register("u", "phone").await;
    for (actor, key) in [("A", Some("k")), ("B", Some("k")), ("C", Some("k")), ("D", Some("l")), ("E", None)]
    {
        fixture.send(like("u", actor, "post-42", key)).await;
    }
    if let Some((step, at)) = crash {
        let first = fixture.another("crashes").await;
        crashing(&first, step, at).round().await.unwrap();
    }
    let second = fixture.another("goes-on").await;
    settle(&second).await;
    fixture.advance(31);
    settle(&second).await;
    let end = end(&fixture).await;
    (fixture, end)
}

pub async fn wherever_a_dispatcher_crashes_the_end_is_the_same(place: &Place) {
    let (fixture, expected) = run(place, None).await;
    assert_eq!(fixture.phones.pushes().len(), 3);
    for step in STEPS {
        for at in 1..=5 {
            let (fixture, found) = run(place, Some((step, at))).await;
            assert_eq!(found, expected, "{step}, the {at}. time");
            for event in fixture.events("u").await {
                assert!(
                    ["COMPLETED", "DEDUPLICATED"].contains(&event["status"].as_str().unwrap()),
                    "K1: {event}"
                );
            }
            let pushes = fixture.phones.pushes();
            let mut collapse_ids: Vec<&str> = pushes.iter().map(|push| push.collapse_id.as_str()).collect();
            collapse_ids.sort_unstable();
            collapse_ids.dedup();
            assert_eq!(collapse_ids.len(), 3, "K6: a push that is repeated replaces the first");
            assert!(pushes.len() <= 4, "K6: one more at most, {step}");
            let is_recorded = step == "notify.finish.after";
            let was_sent = matches!(step, "notify.push.after" | "notify.finish.before");
            if is_recorded || !was_sent {
                assert_eq!(pushes.len(), 3, "K6: none again after {step}");
            }
        }
    }
}

/// K5: an event has no final status before its notification exists.
pub async fn no_event_is_over_before_its_notification_is_there(place: &Place) {
    for step in STEPS {
        for at in 1..=5 {
            let fixture = place.fixture().await;
            for actor in ["A", "B", "C", "D", "E"] {
                fixture.like("u", actor, None).await;
            }
            crashing(&fixture.service, step, at).round().await.unwrap();
            let there: Vec<Value> =
                fixture.notifications("u").await.into_iter().map(|one| one["id"].clone()).collect();
            for event in fixture.events("u").await {
                let is_over = event["status"] == "COMPLETED";
                assert!(!is_over || there.contains(&event["notificationId"]), "{step} {at}: {event}");
            }
        }
    }
}

/// Another worker owns the event by the time the first one returns: the first one's writes fail.
pub async fn a_worker_that_was_overtaken_changes_nothing(place: &Place) {
    use orrery_notifications::push::Outcome;
    let fixture = place.fixture().await;
    fixture.register("u", "phone").await;
    let id = fixture.like("u", "Noor", None).await;
    // While the first waits for the provider, its lease expires and the second does all the work.
    let (env, second) = (fixture.env.clone(), fixture.another("second").await);
    let handle = tokio::runtime::Handle::current();
    let is_first = std::sync::atomic::AtomicBool::new(true);
    fixture.phones.answer(move |_, _| {
        if is_first.swap(false, std::sync::atomic::Ordering::SeqCst) {
            env.advance(std::time::Duration::from_secs(31));
            let (handle, second) = (handle.clone(), second.clone());
            let work = std::thread::spawn(move || handle.block_on(settle(&second)));
            tokio::task::block_in_place(|| work.join().unwrap());
            return Outcome::Refused { reason: "too late".to_owned(), status: Some(400) };
        }
        Outcome::Delivered
    });
    let first = fixture.service.clone();
    let round =
        orrery_notifications::dispatch::Dispatcher::new(&first, Default::default()).round().await.unwrap();
    assert_eq!((round.claimed, round.lost, round.processed), (1, 1, 0));
    let event = fixture.event("u", &id).await;
    assert_eq!((event.status, event.outcome.as_deref()), (Status::Completed, Some("delivered")));
    assert_eq!((event.lease_epoch, event.attempts.len()), (2, 1));
}
