//! Events are accepted, read, cancelled and queued again.

use crate::fixture::{like, of_type, settle};
use crate::place::Place;
use orrery_notifications::dispatch;
use orrery_notifications::push::Outcome;
use orrery_notifications::records::Status;
use orrery_notifications::service::ServiceError;
use orrery_notifications::service::containers::EVENTS;
use serde_json::json;

pub async fn an_event_becomes_a_notification_and_a_push(place: &Place) {
    let fixture = place.fixture().await;
    fixture.register("u", "phone").await;
    let id = fixture.like("u", "Noor", None).await;
    assert_eq!(fixture.status("u", &id).await, (Status::Pending, None));
    fixture.settle().await;
    let event = fixture.event("u", &id).await;
    assert_eq!((event.status, event.outcome.as_deref()), (Status::Completed, Some("delivered")));
    assert_eq!((event.attempts.len(), event.attempts[0].device_id.as_str()), (1, "phone"));
    assert_eq!((event.lease_owner, event.lease_epoch), (None, 1));
    let notifications = fixture.notifications("u").await;
    assert_eq!(notifications.len(), 1);
    assert_eq!(notifications[0]["title"], "Noor liked your post");
    assert_eq!(notifications[0]["deeplink"], "asora://post/post-42");
    let pushes = fixture.phones.pushes();
    assert_eq!((pushes.len(), pushes[0].collapse_id.as_str()), (1, id.as_str()), "K6: the notification's id");
    assert_eq!(fixture.told(EVENTS, "u").await, ["notification.created", "push.delivered"]);
}

pub async fn without_devices_or_with_the_category_off_an_event_is_completed_all_the_same(place: &Place) {
    let fixture = place.fixture().await;
    let id = fixture.like("u", "Noor", None).await;
    fixture.settle().await;
    assert_eq!(fixture.status("u", &id).await, (Status::Completed, Some("no_devices".to_owned())));
    let off = json!({"categories": {"social": false}});
    fixture.service.patch_preferences("u", &off, None).await.unwrap();
    fixture.register("u", "phone").await;
    let id = fixture.like("u", "Ilse", None).await;
    fixture.settle().await;
    assert_eq!(fixture.status("u", &id).await, (Status::Completed, Some("suppressed_category".to_owned())));
    assert_eq!((fixture.notifications("u").await.len(), fixture.phones.pushes().len()), (1, 0));
    // S2-34: an alarm is sent regardless of settings.
    let id = fixture.send(of_type("u", "SECURITY_NEW_DEVICE", "u")).await;
    fixture.settle().await;
    assert_eq!(fixture.status("u", &id).await, (Status::Completed, Some("delivered".to_owned())));
}

pub async fn one_request_tells_up_to_fifty_users_each_by_an_event_of_their_own(place: &Place) {
    let fixture = place.fixture().await;
    let users: Vec<String> = (0..50).map(|at| format!("u-{at}")).collect();
    let mut body = of_type("", "NEWS_SYSTEM_UPDATE", "news-1");
    body.as_object_mut().unwrap().remove("userId");
    body["userIds"] = json!(users);
    let accepted = fixture.service.enqueue(&body, None).await.unwrap();
    assert_eq!(accepted.iter().map(|one| &one.user_id).collect::<Vec<_>>(), users.iter().collect::<Vec<_>>());
    fixture.settle().await;
    for one in &accepted {
        assert_eq!(fixture.status(&one.user_id, one.id.as_ref().unwrap()).await.0, Status::Completed);
    }
    body["userIds"].as_array_mut().unwrap().push(json!("one too many"));
    let refused = fixture.service.enqueue(&body, None).await.unwrap_err();
    assert!(matches!(refused, ServiceError::Invalid { member, .. } if member == "userIds"));
}

/// A repeat with the same key creates nothing, even after the first was dispatched.
pub async fn the_same_key_is_the_same_event(place: &Place) {
    let fixture = place.fixture().await;
    let body = like("u", "Noor", "post-42", None);
    let first = fixture.service.enqueue(&body, Some("caller\nk")).await.unwrap();
    assert_eq!(fixture.service.enqueue(&body, Some("caller\nk")).await.unwrap(), first);
    fixture.settle().await;
    let again = fixture.service.enqueue(&body, Some("caller\nk")).await.unwrap();
    assert_eq!((&again[0].id, again[0].status.as_str()), (&first[0].id, "COMPLETED"));
    assert_eq!(fixture.events("u").await.len(), 1);
    let other = like("u", "Ilse", "post-42", None);
    let refused = fixture.service.enqueue(&other, Some("caller\nk")).await.unwrap_err();
    assert!(matches!(refused, ServiceError::Invalid { member, .. } if member == "Idempotency-Key"));
    let another = fixture.service.enqueue(&other, Some("other\nk")).await.unwrap();
    assert_ne!(another[0].id, first[0].id);
}

pub async fn an_event_that_is_scheduled_waits_and_can_be_cancelled_until_then(place: &Place) {
    let fixture = place.fixture().await;
    let mut body = like("u", "Noor", "post-42", None);
    body["scheduledAt"] = json!("2026-11-15T11:00:00Z");
    let (kept, cancelled) = (fixture.send(body.clone()).await, fixture.send(body).await);
    fixture.settle().await;
    assert_eq!(fixture.status("u", &kept).await.0, Status::Pending);
    let event = fixture.service.cancel("u", &cancelled).await.unwrap().value;
    assert_eq!((event.status, event.outcome.as_deref()), (Status::Completed, Some("cancelled")));
    fixture.advance(3_600);
    fixture.settle().await;
    assert_eq!(fixture.status("u", &kept).await, (Status::Completed, Some("no_devices".to_owned())));
    assert_eq!(fixture.notifications("u").await.len(), 1);
    for id in [&kept, &cancelled] {
        assert!(matches!(fixture.service.cancel("u", id).await, Err(ServiceError::Conflict(_))));
        assert!(matches!(fixture.service.requeue("u", id).await, Err(ServiceError::Conflict(_))));
    }
    assert!(matches!(fixture.service.cancel("u", "nothing").await, Err(ServiceError::Missing(_))));
}

/// Written by another client directly into the container, in the seed's shape; and an item that is not an
/// event.
pub async fn events_that_others_wrote_are_dispatched_and_nonsense_is_given_up(place: &Place) {
    use orrery_kit::ports::documents::Write;
    let fixture = place.fixture().await;
    let seed = json!({
        "id": "seed", "userId": "u", "eventType": "FOLLOWER_NEW", "category": "SOCIAL", "status": "PENDING",
        "payload": {"actorName": "Mika", "targetId": "u", "targetType": "user"}, "retryCount": 0,
        "createdAt": "2026-11-15T09:45:00Z",
    });
    let nonsense = json!({"id": "nonsense", "userId": "u", "status": "PENDING"});
    let mut unknown = seed.clone();
    unknown["id"] = json!("unknown");
    unknown["eventType"] = json!("PARTY_STARTED");
    for item in [seed, nonsense, unknown] {
        fixture.documents.write(EVENTS, "u", Write::Create(item)).await.unwrap();
    }
    fixture.settle().await;
    assert_eq!(fixture.status("u", "seed").await, (Status::Completed, Some("no_devices".to_owned())));
    let given_up =
        fixture.rows(EVENTS, Some("u"), "SELECT VALUE c.id FROM c WHERE IS_DEFINED(c.deadLetteredAt)").await;
    assert_eq!(given_up.len(), 2, "{given_up:?}");
    assert!(fixture.event("u", "unknown").await.last_error.unwrap().contains("PARTY_STARTED"));
}

pub async fn events_are_found_without_their_user_and_counted_by_status(place: &Place) {
    let fixture = place.fixture().await;
    let id = fixture.like("u", "Noor", None).await;
    fixture.like("v", "Noor", None).await;
    assert_eq!(fixture.service.find_event(&id).await.unwrap().value.user_id, "u");
    assert!(matches!(fixture.service.find_event("nothing").await, Err(ServiceError::Missing(_))));
    let stats = fixture.service.stats().await.unwrap();
    assert_eq!((&stats["events"]["PENDING"], &stats["sinceStart"]["enqueued"]), (&json!(2), &json!(2)));
    assert_eq!(dispatch::round(&fixture.service).await.unwrap(), 2);
    assert_eq!(dispatch::round(&fixture.service).await.unwrap(), 0);
    let stats = fixture.service.stats().await.unwrap();
    assert_eq!((&stats["events"]["COMPLETED"], &stats["sinceStart"]["noDevices"]), (&json!(2), &json!(2)));
    assert!(stats["requestUnits"]["process"]["average"].as_f64().unwrap() > 0.0);
}

/// S2-87: in order of time, even if found in another order.
pub async fn events_of_a_user_are_pushed_in_their_order(place: &Place) {
    let fixture = place.fixture().await;
    fixture.register("u", "phone").await;
    let mut sent = Vec::new();
    for at in 0..5 {
        sent.push(fixture.send(like("u", "Noor", &format!("post-{at}"), None)).await);
        fixture.advance(1);
    }
    settle(&fixture.service).await;
    let pushed: Vec<String> = fixture.phones.pushes().into_iter().map(|push| push.collapse_id).collect();
    assert_eq!(pushed, sent);
}

pub async fn a_provider_that_is_set_up_wrongly_costs_no_event(place: &Place) {
    let fixture = place.fixture().await;
    fixture.register("u", "phone").await;
    fixture
        .phones
        .answer(|_, _| Outcome::Misconfigured { reason: "the key is no key".to_owned(), status: None });
    let id = fixture.like("u", "Noor", None).await;
    for _ in 0..10 {
        fixture.settle().await;
        fixture.advance(6 * 3_600);
    }
    let event = fixture.event("u", &id).await;
    assert_eq!((event.status, event.retry_count), (Status::Pending, 0));
    assert_eq!(event.defer_reason.as_deref(), Some("provider_misconfigured"));
    assert_eq!(event.last_error.as_deref(), Some("the key is no key"));
    fixture.phones.answer(|_, _| Outcome::Delivered);
    // The hour may be a quiet one by now.
    fixture.advance(12 * 3_600);
    fixture.settle().await;
    fixture.advance(12 * 3_600);
    fixture.settle().await;
    assert_eq!(fixture.status("u", &id).await, (Status::Completed, Some("delivered".to_owned())));
}
