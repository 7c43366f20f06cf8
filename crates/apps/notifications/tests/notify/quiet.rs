//! Quiet hours in the user's zone (B-4, K4): in-app at once, the push when they are over, once.

use crate::place::Place;
use crate::world::{World, of_type};
use orrery_kit::time;
use orrery_notifications::records::Status;
use orrery_notifications::service::List;
use serde_json::json;

async fn in_zone(world: &World, zone: &str) {
    world.service.put_preferences("u", &json!({"timezone": zone}), None).await.unwrap();
    world.register("u", "phone").await;
}

/// Sends one at the clock's time, and looks when it is pushed, a minute at a time.
async fn pushed_at(place: &Place, start: &str, zone: &str, release: &str) {
    let world = place.world_at(start).await;
    in_zone(&world, zone).await;
    let id = world.send(of_type("u", "POST_COMMENT", "post-42")).await;
    world.settle().await;
    let event = world.event("u", &id).await;
    assert_eq!(
        (event.status, event.defer_reason.as_deref()),
        (Status::Pending, Some("quiet_hours")),
        "{zone}"
    );
    assert_eq!(world.notifications("u").await.len(), 1, "in-app at once");
    let until = time::parse(event.next_retry_at.as_deref().unwrap()).unwrap();
    assert_eq!(time::format(until), release, "{zone}");
    world.advance_to(&time::format(orrery_core::Timestamp::from_millis(until.millis() - 1)));
    // Another process after a restart.
    let restarted = world.another("after-restart").await;
    crate::world::settle(&restarted).await;
    assert_eq!(world.phones.pushes().len(), 0, "K4");
    world.advance(60);
    crate::world::settle(&restarted).await;
    world.advance(3_600);
    crate::world::settle(&restarted).await;
    assert_eq!(world.phones.pushes().len(), 1, "exactly once");
    assert_eq!(world.status("u", &id).await, (Status::Completed, Some("delivered".to_owned())));
    assert_eq!(world.notifications("u").await.len(), 1);
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
    let world = place.world_at("2026-11-15T23:00:00.000Z").await;
    in_zone(&world, "UTC").await;
    for (at, event_type) in ["SAFETY_ACCOUNT_WARNING", "SECURITY_NEW_DEVICE"].iter().enumerate() {
        world.send(of_type("u", event_type, "u")).await;
        world.settle().await;
        assert_eq!(world.phones.pushes().len(), at + 1, "{event_type}");
    }
}

pub async fn who_is_quiet_at_all_hours_is_never_pushed_to(place: &Place) {
    let world = place.world().await;
    in_zone(&world, "UTC").await;
    world.service.patch_preferences("u", &json!({"quietHours": vec![true; 24]}), None).await.unwrap();
    let id = world.send(of_type("u", "POST_COMMENT", "post-42")).await;
    world.settle().await;
    assert_eq!(world.status("u", &id).await, (Status::Completed, Some("inapp_only".to_owned())));
    assert_eq!((world.notifications("u").await.len(), world.phones.pushes().len()), (1, 0));
}

/// The limit is not counted again when it comes back, and the push says what the notification says by then.
pub async fn what_joined_during_the_night_is_in_the_push_of_the_morning(place: &Place) {
    let world = place.world_at("2026-11-15T23:00:00.000Z").await;
    in_zone(&world, "UTC").await;
    let first = world.like("u", "A", Some("k")).await;
    world.settle().await;
    world.like("u", "B", Some("k")).await;
    world.settle().await;
    for at in 0..24 {
        world.send(crate::world::like("u", "C", &format!("post-{at}"), None)).await;
    }
    world.settle().await;
    world
        .service
        .cancel("u", &world.events("u").await.iter().find_map(waiting_but(&first)).unwrap())
        .await
        .unwrap();
    world.advance_to("2026-11-16T07:00:00.000Z");
    world.settle().await;
    let pushes = world.phones.pushes();
    // The first and 24 more are one over the limit; one was cancelled; none is counted again.
    assert_eq!(pushes.len(), 23);
    let joined = pushes.iter().find(|push| push.collapse_id == first).expect("the push of the first");
    assert!(joined.title.contains("A and 1 other"), "{}", joined.title);
    let listed = world.service.list("u", &List { limit: Some(100), ..List::default() }).await.unwrap();
    assert_eq!(listed.items.len(), 25, "what was cancelled after it was seen stays");
}

/// The id of an event that waits, other than this one.
fn waiting_but(id: &str) -> impl Fn(&serde_json::Value) -> Option<String> {
    move |event| {
        let other = event["id"].as_str()?;
        (event["status"] == "PENDING" && other != id).then(|| other.to_owned())
    }
}
