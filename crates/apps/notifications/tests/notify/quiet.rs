//! Quiet hours in the user's zone (B-4, K4): in-app at once, the push when they end, once.

use crate::fixture::{Fixture, of_type};
use crate::place::Place;
use orrery_kit::time;
use orrery_notifications::records::Status;
use orrery_notifications::service::List;
use serde_json::json;

async fn in_zone(fixture: &Fixture, zone: &str) {
    fixture.service.put_preferences("u", &json!({"timezone": zone}), None).await.unwrap();
    fixture.register("u", "phone").await;
}

/// Sends one at the clock's time, and finds the minute at which it is pushed.
async fn pushed_at(place: &Place, start: &str, zone: &str, release: &str) {
    let fixture = place.world_at(start).await;
    in_zone(&fixture, zone).await;
    let id = fixture.send(of_type("u", "POST_COMMENT", "post-42")).await;
    fixture.settle().await;
    let event = fixture.event("u", &id).await;
    assert_eq!(
        (event.status, event.defer_reason.as_deref()),
        (Status::Pending, Some("quiet_hours")),
        "{zone}"
    );
    assert_eq!(fixture.notifications("u").await.len(), 1, "in-app at once");
    let until = time::parse(event.next_retry_at.as_deref().unwrap()).unwrap();
    assert_eq!(time::format(until), release, "{zone}");
    fixture.advance_to(&time::format(orrery_core::Timestamp::from_millis(until.millis() - 1)));
    // Another process after a restart.
    let restarted = fixture.another("after-restart").await;
    crate::fixture::settle(&restarted).await;
    assert_eq!(fixture.phones.pushes().len(), 0, "K4");
    fixture.advance(60);
    crate::fixture::settle(&restarted).await;
    fixture.advance(3_600);
    crate::fixture::settle(&restarted).await;
    assert_eq!(fixture.phones.pushes().len(), 1, "exactly once");
    assert_eq!(fixture.status("u", &id).await, (Status::Completed, Some("delivered".to_owned())));
    assert_eq!(fixture.notifications("u").await.len(), 1);
}

pub async fn a_push_waits_for_the_morning_in_kolkata(place: &Place) {
    // 23:10 local is 17:40 in UTC; 07:00 local is 01:30.
    pushed_at(place, "2026-11-15T17:40:00.000Z", "Asia/Kolkata", "2026-11-16T01:30:00.000Z").await;
}

/// The clock goes from 02:00 to 03:00 on 8 March 2026, and from 02:00 back to 01:00 on 1 November 2026.
pub async fn a_push_waits_for_the_morning_in_new_york_on_the_days_when_clocks_change(place: &Place) {
    pushed_at(place, "2026-03-08T04:00:00.000Z", "America/New_York", "2026-03-08T11:00:00.000Z").await;
    pushed_at(place, "2026-11-01T03:00:00.000Z", "America/New_York", "2026-11-01T12:00:00.000Z").await;
}

pub async fn an_alarm_does_not_wait(place: &Place) {
    let fixture = place.world_at("2026-11-15T23:00:00.000Z").await;
    in_zone(&fixture, "UTC").await;
    for (at, event_type) in ["SAFETY_ACCOUNT_WARNING", "SECURITY_NEW_DEVICE"].iter().enumerate() {
        fixture.send(of_type("u", event_type, "u")).await;
        fixture.settle().await;
        assert_eq!(fixture.phones.pushes().len(), at + 1, "{event_type}");
    }
}

pub async fn who_is_quiet_at_all_hours_is_never_pushed_to(place: &Place) {
    let fixture = place.fixture().await;
    in_zone(&fixture, "UTC").await;
    fixture.service.patch_preferences("u", &json!({"quietHours": vec![true; 24]}), None).await.unwrap();
    let id = fixture.send(of_type("u", "POST_COMMENT", "post-42")).await;
    fixture.settle().await;
    assert_eq!(fixture.status("u", &id).await, (Status::Completed, Some("inapp_only".to_owned())));
    assert_eq!((fixture.notifications("u").await.len(), fixture.phones.pushes().len()), (1, 0));
}

/// The limit is not counted again afterwards, and the push has the notification's text of that time.
pub async fn what_joined_during_the_night_is_in_the_push_of_the_morning(place: &Place) {
    let fixture = place.world_at("2026-11-15T23:00:00.000Z").await;
    in_zone(&fixture, "UTC").await;
    let first = fixture.like("u", "A", Some("k")).await;
    fixture.settle().await;
    fixture.like("u", "B", Some("k")).await;
    fixture.settle().await;
    for at in 0..24 {
        fixture.send(crate::fixture::like("u", "C", &format!("post-{at}"), None)).await;
    }
    fixture.settle().await;
    fixture
        .service
        .cancel("u", &fixture.events("u").await.iter().find_map(waiting_but(&first)).unwrap())
        .await
        .unwrap();
    fixture.advance_to("2026-11-16T07:00:00.000Z");
    fixture.settle().await;
    let pushes = fixture.phones.pushes();
    // The first and 24 more are one over the limit; one was cancelled; none is counted again.
    assert_eq!(pushes.len(), 23);
    let joined = pushes.iter().find(|push| push.collapse_id == first).expect("the push of the first");
    assert!(joined.title.contains("A and 1 other"), "{}", joined.title);
    let listed = fixture.service.list("u", &List { limit: Some(100), ..List::default() }).await.unwrap();
    assert_eq!(listed.items.len(), 25, "what was cancelled after it was seen stays");
}

/// The id of a waiting event other than this one.
fn waiting_but(id: &str) -> impl Fn(&serde_json::Value) -> Option<String> {
    move |event| {
        let other = event["id"].as_str()?;
        (event["status"] == "PENDING" && other != id).then(|| other.to_owned())
    }
}
