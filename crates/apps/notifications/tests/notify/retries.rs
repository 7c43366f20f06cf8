//! Provider responses and their retries (B-6, B-7, K8).

use crate::fixture::Fixture;
use crate::place::Place;
use orrery_kit::time;
use orrery_notifications::push::Outcome;
use orrery_notifications::records::{Event, Status};
use orrery_notifications::service::containers::EVENTS;
use serde_json::json;
use std::time::Duration;

fn later(seconds: Option<u64>) -> Outcome {
    let after = seconds.map(Duration::from_secs);
    Outcome::Later { after, reason: "answered 503".to_owned(), status: Some(503), may_have_arrived: false }
}

fn wait_of(fixture: &Fixture, event: &Event) -> u64 {
    let next = time::parse(event.next_retry_at.as_deref().unwrap()).unwrap();
    next.abs_diff(fixture.env.now()).as_secs()
}

pub async fn a_token_that_is_gone_revokes_its_device_and_is_not_tried_again(place: &Place) {
    let fixture = place.fixture().await;
    fixture.register("u", "gone").await;
    fixture.register("u", "here").await;
    fixture.phones.answer(|device, _| match device.id.as_str() {
        "gone" => Outcome::Unregistered { reason: "UNREGISTERED".to_owned(), status: Some(404) },
        _ => Outcome::Delivered,
    });
    let id = fixture.like("u", "Noor", None).await;
    fixture.settle().await;
    assert_eq!(fixture.status("u", &id).await, (Status::Completed, Some("delivered".to_owned())));
    let devices = fixture.service.devices("u").await.unwrap();
    let gone = devices.iter().find(|device| device.value.id == "gone").unwrap();
    assert_eq!(gone.value.revoke_reason.as_deref(), Some("invalid"));
    fixture.service.revoke("u", "here").await.unwrap();
    fixture
        .service
        .register("u", &json!({"deviceId": "gone", "pushToken": "t-2", "platform": "fcm"}))
        .await
        .unwrap();
    let id = fixture.like("u", "Noor", None).await;
    fixture.settle().await;
    assert_eq!(fixture.status("u", &id).await.1.as_deref(), Some("no_devices"), "its only token is gone");
}

pub async fn a_message_that_is_refused_fails_for_good_and_the_device_stays(place: &Place) {
    let fixture = place.fixture().await;
    fixture.register("u", "phone").await;
    fixture
        .phones
        .answer(|_, _| Outcome::Refused { reason: "INVALID_ARGUMENT".to_owned(), status: Some(400) });
    let id = fixture.like("u", "Noor", None).await;
    fixture.settle().await;
    let event = fixture.event("u", &id).await;
    assert_eq!((event.status, event.retry_count), (Status::Failed, 5));
    assert!(event.dead_lettered_at.is_some() && event.last_error.unwrap().contains("INVALID_ARGUMENT"));
    assert!(fixture.service.devices("u").await.unwrap()[0].value.revoked_at.is_none());
    assert_eq!(
        fixture.told(EVENTS, "u").await,
        ["event.deadlettered", "notification.created", "push.failed"]
    );
}

pub async fn a_provider_that_asks_for_two_minutes_gets_them(place: &Place) {
    let fixture = place.fixture().await;
    fixture.register("u", "phone").await;
    fixture.phones.answer(|_, _| later(Some(120)));
    let id = fixture.like("u", "Noor", None).await;
    fixture.settle().await;
    let event = fixture.event("u", &id).await;
    assert_eq!((event.status, wait_of(&fixture, &event)), (Status::Failed, 120));
}

/// B-7, C-40: 30 s, 2 min, 8 min, 32 min, 2 h, each with a fifth of jitter; then it is dead-lettered, and can
/// be queued again.
pub async fn a_provider_that_is_down_for_hours_leads_to_a_dead_letter_that_can_be_queued_again(
    place: &Place,
) {
    let fixture = place.fixture().await;
    fixture.register("u", "phone").await;
    fixture.phones.answer(|_, _| later(None));
    let id = fixture.like("u", "Noor", None).await;
    let mut next_before = String::new();
    for (retries, seconds) in [30u64, 120, 480, 1_920, 7_200].into_iter().enumerate() {
        fixture.settle().await;
        let event = fixture.event("u", &id).await;
        assert_eq!((event.status, event.retry_count), (Status::Failed, retries as u32));
        let wait = wait_of(&fixture, &event);
        assert!((seconds * 8 / 10..=seconds * 12 / 10).contains(&wait), "{wait} is not about {seconds}");
        let next = event.next_retry_at.unwrap();
        assert!(next > next_before, "K8");
        fixture.advance(wait - 1);
        fixture.settle().await;
        assert_eq!(fixture.event("u", &id).await.attempts.len(), retries + 1, "not before its time");
        next_before = next;
        fixture.advance(2);
    }
    fixture.settle().await;
    let dead = fixture.event("u", &id).await;
    assert_eq!((dead.status, dead.retry_count, dead.attempts.len()), (Status::Failed, 5, 6));
    assert!(dead.dead_lettered_at.is_some());
    assert_eq!(fixture.service.stats().await.unwrap()["deadLettered"], 1);
    fixture.advance(86_400);
    fixture.settle().await;
    assert_eq!(fixture.event("u", &id).await.attempts.len(), 6);
    fixture.phones.answer(|_, _| Outcome::Delivered);
    fixture.service.requeue("u", &id).await.unwrap();
    fixture.settle().await;
    assert_eq!(fixture.status("u", &id).await, (Status::Completed, Some("delivered".to_owned())));
    assert_eq!(fixture.notifications("u").await.len(), 1);
}

/// K6: a device that has it does not get it again while another is retried.
pub async fn a_retry_goes_only_to_those_who_do_not_have_it(place: &Place) {
    let fixture = place.fixture().await;
    fixture.register("u", "quick").await;
    fixture.register("u", "slow").await;
    fixture.phones.answer(|device, _| if device.id == "slow" { later(None) } else { Outcome::Delivered });
    let id = fixture.like("u", "Noor", None).await;
    for _ in 0..3 {
        fixture.settle().await;
        fixture.advance(600);
    }
    assert_eq!(fixture.phones.pushes().len(), 1);
    fixture.phones.answer(|_, _| Outcome::Delivered);
    fixture.advance(7_200);
    fixture.settle().await;
    let devices: Vec<String> = fixture.phones.pushes().into_iter().map(|push| push.device).collect();
    assert_eq!(devices, ["quick", "slow"]);
    assert_eq!(fixture.status("u", &id).await, (Status::Completed, Some("delivered".to_owned())));
}
