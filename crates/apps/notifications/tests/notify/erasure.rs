//! A user is forgotten (B-8, S2-70, K4).

use crate::place::Place;
use crate::world::{World, crashing, like, of_type};
use orrery_notifications::dispatch::Dispatcher;
use orrery_notifications::push::Outcome;
use orrery_notifications::service::ServiceError;
use orrery_notifications::service::containers::{DEVICES, EVENTS, NOTIFICATIONS, PREFERENCES};
use serde_json::json;
use std::sync::Arc;
use tokio::sync::Notify;

async fn left(world: &World, user: &str) -> usize {
    let mut left = 0;
    for container in [EVENTS, NOTIFICATIONS, PREFERENCES, DEVICES] {
        left += world.rows(container, Some(user), "SELECT c.id FROM c").await.len();
    }
    left
}

async fn with_everything(place: &Place) -> World {
    let world = place.world().await;
    world.register("u", "phone").await;
    world.service.put_preferences("u", &json!({"timezone": "Europe/Berlin"}), None).await.unwrap();
    for actor in ["A", "B"] {
        world.like("u", actor, Some("k")).await;
    }
    world.settle().await;
    world
}

pub async fn nothing_is_left_and_nothing_comes_back(place: &Place) {
    let world = with_everything(place).await;
    world.like("v", "A", None).await;
    let erased = world.service.erase("u").await.unwrap();
    assert!(erased.notification_events >= 3 && erased.notifications == 1, "{erased:?}");
    assert_eq!(erased.notification_preferences, 1);
    assert_eq!(left(&world, "u").await, 0);
    assert_eq!(world.events("v").await.len(), 1, "others are left alone");
    // Later events are dropped, with the reason.
    let accepted = world.service.enqueue(&like("u", "C", "post-1", None), None).await.unwrap();
    assert_eq!(
        (accepted[0].status.as_str(), accepted[0].reason.as_deref()),
        ("dropped", Some("user_erased"))
    );
    assert_eq!(accepted[0].id, None);
    let device = json!({"deviceId": "d", "pushToken": "t", "platform": "fcm"});
    assert!(matches!(world.service.register("u", &device).await, Err(ServiceError::Conflict(_))));
    let zone = json!({"timezone": "UTC"});
    assert!(matches!(world.service.put_preferences("u", &zone, None).await, Err(ServiceError::Conflict(_))));
    world.settle().await;
    assert_eq!((left(&world, "u").await, world.phones.pushes().len()), (0, 1));
}

/// B-8: ten events are being worked on, one of them at the provider; the erasure waits for it, and the others are not sent.
pub async fn a_user_is_erased_while_ten_events_are_processing(place: &Place) {
    let world = place.world().await;
    world.register("u", "phone").await;
    for at in 0..10 {
        world.send(of_type("u", "SECURITY_NEW_DEVICE", &format!("t-{at}"))).await;
    }
    // Nine workers crashed in the middle; their leases are still running.
    for at in 0..9 {
        let crashed = world.another(&format!("crashed-{at}")).await;
        crashing(&crashed, "notify.project.after", 1).round().await.unwrap();
    }
    let (at_provider, go_on) = (Arc::new(Notify::new()), Arc::new(std::sync::Barrier::new(2)));
    let (reached, barrier) = (at_provider.clone(), go_on.clone());
    world.phones.answer(move |_, _| {
        reached.notify_one();
        // Others go on meanwhile: the connection to a store is one of them.
        tokio::task::block_in_place(|| barrier.wait());
        Outcome::Delivered
    });
    let service = world.service.clone();
    let working =
        tokio::spawn(async move { Dispatcher::new(&service, Default::default()).round().await.unwrap() });
    at_provider.notified().await;
    assert_eq!(world.events("u").await.iter().filter(|event| event["status"] == "PROCESSING").count(), 10);
    let service = world.service.clone();
    let erasing = tokio::spawn(async move { service.erase("u").await });
    while world.service.enqueue(&like("u", "A", "p", None), None).await.unwrap()[0].status != "dropped" {
        tokio::task::yield_now().await;
    }
    // From here on only what was at the provider already may arrive.
    let barrier = go_on.clone();
    tokio::task::spawn_blocking(move || barrier.wait()).await.unwrap();
    working.await.unwrap();
    world.advance(31);
    erasing.await.unwrap().unwrap();
    world.phones.answer(|_, _| panic!("K4: a push after the erasure"));
    crate::world::settle(&world.another("later").await).await;
    world.advance(3_600);
    crate::world::settle(&world.another("much-later").await).await;
    world.service.erase("u").await.unwrap();
    assert_eq!((left(&world, "u").await, world.phones.pushes().len()), (0, 1));
}

/// An event that came in beside the tombstone is dropped by the dispatcher, whatever it had got to.
pub async fn an_event_of_an_erased_user_is_dropped_at_any_step(place: &Place) {
    for step in ["notify.decide.before", "notify.decide.after", "notify.project.after", "notify.push.after"] {
        let world = place.world().await;
        world.register("u", "phone").await;
        world.like("u", "A", None).await;
        world.phones.answer(|_, _| Outcome::Later {
            after: None,
            reason: String::new(),
            status: None,
            may_have_arrived: false,
        });
        crashing(&world.service, step, 1).round().await.unwrap();
        let before = world.phones.pushes().len();
        // Only the tombstone: as if the erasure had crashed right after it.
        let item = json!({"id": "tombstone", "partition": "u", "kind": "tombstone", "erasedAt": "2026-11-15T10:00:00.000Z"});
        let write = orrery_kit::ports::documents::Write::Create(item);
        world.documents.write("notification_service", "u", write).await.unwrap();
        world.phones.answer(|_, _| panic!("K4"));
        world.advance(31);
        crate::world::settle(&world.another("goes-on").await).await;
        assert_eq!((world.events("u").await.len(), world.notifications("u").await.len()), (0, 0), "{step}");
        assert_eq!(world.phones.pushes().len(), before);
    }
}

/// What a process leaves behind that was killed right after the tombstone.
async fn cut_off(world: &World, user: &str) {
    let at = "2026-11-15T10:00:00.000Z";
    let id = format!("erasure:{}", orrery_kit::idempotency::hash(&[user.as_bytes()]));
    let under_way =
        json!({"id": id, "partition": "erasures", "kind": "erasure", "userId": user, "startedAt": at});
    let tombstone = json!({"id": "tombstone", "partition": user, "kind": "tombstone", "erasedAt": at});
    for (partition, item) in [("erasures", under_way), (user, tombstone)] {
        let write = orrery_kit::ports::documents::Write::Create(item);
        world.documents.write("notification_service", partition, write).await.unwrap();
    }
}

/// The jobs of another process do it, once the first has had the time to; and only once.
pub async fn an_erasure_that_was_cut_off_is_ended(place: &Place) {
    let world = with_everything(place).await;
    assert_eq!(world.service.end_erasures().await.unwrap(), 0);
    cut_off(&world, "u").await;
    let other = world.another("worker-2").await;
    world.advance(60);
    assert_eq!(other.end_erasures().await.unwrap(), 0, "the first may still be at it");
    world.advance(31);
    assert_eq!(other.end_erasures().await.unwrap(), 1);
    assert_eq!(left(&world, "u").await, 0);
    assert_eq!(world.service.end_erasures().await.unwrap(), 0);
}

/// An erasure that ended leaves only the tombstone; also of a user who is called as the list of erasures is.
pub async fn an_erasure_that_ended_is_no_longer_under_way(place: &Place) {
    let world = place.world().await;
    for user in ["erasures", "tombstone"] {
        world.like(user, "A", None).await;
        world.service.erase(user).await.unwrap();
        assert_eq!(left(&world, user).await, 0);
    }
    world.advance(3_600);
    assert_eq!(world.service.end_erasures().await.unwrap(), 0);
}
