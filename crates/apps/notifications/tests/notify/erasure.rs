//! Erasing a user (B-8, S2-70, K4).

use crate::fixture::{Fixture, crashing, like, of_type};
use crate::place::Place;
use orrery_notifications::dispatch::Dispatcher;
use orrery_notifications::push::Outcome;
use orrery_notifications::service::ServiceError;
use orrery_notifications::service::containers::{DEVICES, EVENTS, NOTIFICATIONS, PREFERENCES};
use serde_json::json;
use std::sync::Arc;
use tokio::sync::Notify;

async fn left(fixture: &Fixture, user: &str) -> usize {
    let mut left = 0;
    for container in [EVENTS, NOTIFICATIONS, PREFERENCES, DEVICES] {
        left += fixture.rows(container, Some(user), "SELECT c.id FROM c").await.len();
    }
    left
}

async fn with_everything(place: &Place) -> Fixture {
    let fixture = place.fixture().await;
    fixture.register("u", "phone").await;
    fixture.service.put_preferences("u", &json!({"timezone": "Europe/Berlin"}), None).await.unwrap();
    for actor in ["A", "B"] {
        fixture.like("u", actor, Some("k")).await;
    }
    fixture.settle().await;
    fixture
}

pub async fn nothing_is_left_and_nothing_comes_back(place: &Place) {
    let fixture = with_everything(place).await;
    fixture.like("v", "A", None).await;
    let erased = fixture.service.erase("u").await.unwrap();
    assert!(erased.notification_events >= 3 && erased.notifications == 1, "{erased:?}");
    assert_eq!(erased.notification_preferences, 1);
    assert_eq!(left(&fixture, "u").await, 0);
    assert_eq!(fixture.events("v").await.len(), 1, "others are left alone");
    // Later events are dropped, with the reason.
    let accepted = fixture.service.enqueue(&like("u", "C", "post-1", None), None).await.unwrap();
    assert_eq!(
        (accepted[0].status.as_str(), accepted[0].reason.as_deref()),
        ("dropped", Some("user_erased"))
    );
    assert_eq!(accepted[0].id, None);
    let device = json!({"deviceId": "d", "pushToken": "t", "platform": "fcm"});
    assert!(matches!(fixture.service.register("u", &device).await, Err(ServiceError::Conflict(_))));
    let zone = json!({"timezone": "UTC"});
    assert!(matches!(
        fixture.service.put_preferences("u", &zone, None).await,
        Err(ServiceError::Conflict(_))
    ));
    fixture.settle().await;
    assert_eq!((left(&fixture, "u").await, fixture.phones.pushes().len()), (0, 1));
}

/// B-8: ten events are in progress, one of them at the provider; the erasure waits for it, and the others are
/// not sent.
pub async fn a_user_is_erased_while_ten_events_are_processing(place: &Place) {
    let fixture = place.fixture().await;
    fixture.register("u", "phone").await;
    for at in 0..10 {
        fixture.send(of_type("u", "SECURITY_NEW_DEVICE", &format!("t-{at}"))).await;
    }
    // Nine workers crashed midway; their leases have not expired.
    for at in 0..9 {
        let crashed = fixture.another(&format!("crashed-{at}")).await;
        crashing(&crashed, "notify.project.after", 1).round().await.unwrap();
    }
    let (at_provider, go_on) = (Arc::new(Notify::new()), Arc::new(std::sync::Barrier::new(2)));
    let (reached, barrier) = (at_provider.clone(), go_on.clone());
    fixture.phones.answer(move |_, _| {
        reached.notify_one();
        // Other work continues meanwhile: the connection to a store is one.
        tokio::task::block_in_place(|| barrier.wait());
        Outcome::Delivered
    });
    let service = fixture.service.clone();
    let working =
        tokio::spawn(async move { Dispatcher::new(&service, Default::default()).round().await.unwrap() });
    at_provider.notified().await;
    assert_eq!(fixture.events("u").await.iter().filter(|event| event["status"] == "PROCESSING").count(), 10);
    let service = fixture.service.clone();
    let erasing = tokio::spawn(async move { service.erase("u").await });
    while fixture.service.enqueue(&like("u", "A", "p", None), None).await.unwrap()[0].status != "dropped" {
        tokio::task::yield_now().await;
    }
    // From here on only the message already at the provider may arrive.
    let barrier = go_on.clone();
    tokio::task::spawn_blocking(move || barrier.wait()).await.unwrap();
    working.await.unwrap();
    fixture.advance(31);
    erasing.await.unwrap().unwrap();
    fixture.phones.answer(|_, _| panic!("K4: a push after the erasure"));
    crate::fixture::settle(&fixture.another("later").await).await;
    fixture.advance(3_600);
    crate::fixture::settle(&fixture.another("much-later").await).await;
    fixture.service.erase("u").await.unwrap();
    assert_eq!((left(&fixture, "u").await, fixture.phones.pushes().len()), (0, 1));
}

/// An event that arrived beside the tombstone is dropped by the dispatcher, whatever step it had reached.
pub async fn an_event_of_an_erased_user_is_dropped_at_any_step(place: &Place) {
    for step in ["notify.decide.before", "notify.decide.after", "notify.project.after", "notify.push.after"] {
        let fixture = place.fixture().await;
        fixture.register("u", "phone").await;
        fixture.like("u", "A", None).await;
        fixture.phones.answer(|_, _| Outcome::Later {
            after: None,
            reason: String::new(),
            status: None,
            may_have_arrived: false,
        });
        crashing(&fixture.service, step, 1).round().await.unwrap();
        let before = fixture.phones.pushes().len();
        // Only the tombstone, as if the erasure had crashed right after it.
        let item = json!({"id": "tombstone", "partition": "u", "kind": "tombstone", "erasedAt": "2026-11-15T10:00:00.000Z"});
        let write = orrery_kit::ports::documents::Write::Create(item);
        fixture.documents.write("notification_service", "u", write).await.unwrap();
        fixture.phones.answer(|_, _| panic!("K4"));
        fixture.advance(31);
        crate::fixture::settle(&fixture.another("goes-on").await).await;
        assert_eq!(
            (fixture.events("u").await.len(), fixture.notifications("u").await.len()),
            (0, 0),
            "{step}"
        );
        assert_eq!(fixture.phones.pushes().len(), before);
    }
}

/// The state left by a process that was killed right after the tombstone.
async fn cut_off(fixture: &Fixture, user: &str) {
    let at = "2026-11-15T10:00:00.000Z";
    let id = format!("erasure:{}", orrery_kit::idempotency::hash(&[user.as_bytes()]));
    let under_way =
        json!({"id": id, "partition": "erasures", "kind": "erasure", "userId": user, "startedAt": at});
    let tombstone = json!({"id": "tombstone", "partition": user, "kind": "tombstone", "erasedAt": at});
    for (partition, item) in [("erasures", under_way), (user, tombstone)] {
        let write = orrery_kit::ports::documents::Write::Create(item);
        fixture.documents.write("notification_service", partition, write).await.unwrap();
    }
}

/// The jobs of another process complete it, once it is overdue; and only once.
pub async fn an_erasure_that_was_cut_off_is_ended(place: &Place) {
    let fixture = with_everything(place).await;
    assert_eq!(fixture.service.end_erasures().await.unwrap(), 0);
    cut_off(&fixture, "u").await;
    let other = fixture.another("worker-2").await;
    fixture.advance(60);
    assert_eq!(other.end_erasures().await.unwrap(), 0, "the first may still be at it");
    fixture.advance(31);
    assert_eq!(other.end_erasures().await.unwrap(), 1);
    assert_eq!(left(&fixture, "u").await, 0);
    assert_eq!(fixture.service.end_erasures().await.unwrap(), 0);
}

/// A completed erasure leaves only the tombstone, even for a user with the name of the list of erasures.
pub async fn an_erasure_that_ended_is_no_longer_under_way(place: &Place) {
    let fixture = place.fixture().await;
    for user in ["erasures", "tombstone"] {
        fixture.like(user, "A", None).await;
        fixture.service.erase(user).await.unwrap();
        assert_eq!(left(&fixture, user).await, 0);
    }
    fixture.advance(3_600);
    assert_eq!(fixture.service.end_erasures().await.unwrap(), 0);
}
