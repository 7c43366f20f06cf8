//! A dispatcher stops at every step in turn, and another goes on when the lease is over: the end is the same (K1, K5, K6).

use crate::place::Place;
use crate::world::{World, crashing, like, settle};
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

/// What is there at the end, without what may differ from one run to the next.
async fn end(world: &World) -> Vec<Value> {
    let events = world.rows(
        EVENTS,
        Some("u"),
        "SELECT c.status, c.outcome, c.retryCount FROM c WHERE IS_DEFINED(c.eventType)",
    );
    let aggregates = world.rows(
        EVENTS,
        Some("u"),
        "SELECT c.count, c.version, c.actors FROM c WHERE c.kind = 'aggregate'",
    );
    let mut all: Vec<Value> = events.await;
    all.extend(aggregates.await);
    let texts =
        world.notifications("u").await.into_iter().map(|one| serde_json::json!([one["title"], one["count"]]));
    all.extend(texts);
    all.sort_by_key(Value::to_string);
    all
}

/// Three likes of one key, one of another, one without; the dispatcher crashes at `crash`.
async fn run(place: &Place, crash: Option<(&str, usize)>) -> (World, Vec<Value>) {
    let world = place.world().await;
    world.register("u", "phone").await;
    for (actor, key) in [("A", Some("k")), ("B", Some("k")), ("C", Some("k")), ("D", Some("l")), ("E", None)]
    {
        world.send(like("u", actor, "post-42", key)).await;
    }
    if let Some((step, at)) = crash {
        let first = world.another("crashes").await;
        crashing(&first, step, at).round().await.unwrap();
    }
    let second = world.another("goes-on").await;
    settle(&second).await;
    world.advance(31);
    settle(&second).await;
    let end = end(&world).await;
    (world, end)
}

pub async fn wherever_a_dispatcher_crashes_the_end_is_the_same(place: &Place) {
    let (world, expected) = run(place, None).await;
    assert_eq!(world.phones.pushes().len(), 3);
    for step in STEPS {
        for at in 1..=5 {
            let (world, found) = run(place, Some((step, at))).await;
            assert_eq!(found, expected, "{step}, the {at}. time");
            for event in world.events("u").await {
                assert!(
                    ["COMPLETED", "DEDUPLICATED"].contains(&event["status"].as_str().unwrap()),
                    "K1: {event}"
                );
            }
            let pushes = world.phones.pushes();
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

/// K5: an event has no final status before its notification is there.
pub async fn no_event_is_over_before_its_notification_is_there(place: &Place) {
    for step in STEPS {
        for at in 1..=5 {
            let world = place.world().await;
            for actor in ["A", "B", "C", "D", "E"] {
                world.like("u", actor, None).await;
            }
            crashing(&world.service, step, at).round().await.unwrap();
            let there: Vec<Value> =
                world.notifications("u").await.into_iter().map(|one| one["id"].clone()).collect();
            for event in world.events("u").await {
                let is_over = event["status"] == "COMPLETED";
                assert!(!is_over || there.contains(&event["notificationId"]), "{step} {at}: {event}");
            }
        }
    }
}

/// The event is another's by the time that the first comes back: what it writes does not count.
pub async fn a_worker_that_was_overtaken_changes_nothing(place: &Place) {
    use orrery_notifications::push::Outcome;
    let world = place.world().await;
    world.register("u", "phone").await;
    let id = world.like("u", "Noor", None).await;
    // While the first waits for the provider, its lease runs out and the second does all of the work.
    let (env, second) = (world.env.clone(), world.another("second").await);
    let handle = tokio::runtime::Handle::current();
    let is_first = std::sync::atomic::AtomicBool::new(true);
    world.phones.answer(move |_, _| {
        if is_first.swap(false, std::sync::atomic::Ordering::SeqCst) {
            env.advance(std::time::Duration::from_secs(31));
            let (handle, second) = (handle.clone(), second.clone());
            let work = std::thread::spawn(move || handle.block_on(settle(&second)));
            tokio::task::block_in_place(|| work.join().unwrap());
            return Outcome::Refused { reason: "too late".to_owned(), status: Some(400) };
        }
        Outcome::Delivered
    });
    let first = world.service.clone();
    let round =
        orrery_notifications::dispatch::Dispatcher::new(&first, Default::default()).round().await.unwrap();
    assert_eq!((round.claimed, round.lost, round.processed), (1, 1, 0));
    let event = world.event("u", &id).await;
    assert_eq!((event.status, event.outcome.as_deref()), (Status::Completed, Some("delivered")));
    assert_eq!((event.lease_epoch, event.attempts.len()), (2, 1));
}
