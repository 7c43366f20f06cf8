//! Scheduled jobs (C-82, S2-69), and events that would expire unnoticed (C-36).

use crate::place::Place;
use orrery_notifications::push::Outcome;
use orrery_notifications::records::Status;
use orrery_notifications::service::ServiceError;
use orrery_notifications::service::containers::DEVICES;
use serde_json::{Value, json};
use std::time::Duration;

fn job<'a>(jobs: &'a Value, name: &str) -> &'a Value {
    jobs.as_array().unwrap().iter().find(|job| job["name"] == name).unwrap()
}

pub async fn devices_revoked_a_quarter_ago_are_purged_on_the_first_of_the_quarter(place: &Place) {
    let fixture = place.fixture().await;
    fixture.register("u", "old").await;
    fixture.register("u", "kept").await;
    fixture.service.revoke("u", "old").await.unwrap();
    assert_eq!(fixture.service.run_jobs().await.unwrap(), 0, "the first look only writes down when");
    let jobs = fixture.service.jobs().await.unwrap();
    assert_eq!(job(&jobs, "purge-devices")["nextRunAt"], "2027-01-01T03:00:00.000Z");
    fixture.advance_to("2027-01-01T03:00:00.000Z");
    fixture.service.run_jobs().await.unwrap();
    assert_eq!(fixture.service.devices("u").await.unwrap().len(), 2, "not yet ninety days");
    fixture.advance_to("2027-04-02T00:00:00.000Z");
    let second = fixture.another("worker-2").await;
    // Of two servers, one runs the job.
    let ran = tokio::join!(fixture.service.run_jobs(), second.run_jobs());
    let runs = fixture.service.jobs().await.unwrap();
    let runs = job(&runs, "purge-devices")["runs"].as_array().unwrap().clone();
    assert_eq!((runs.len(), &runs[0]["count"], &runs[1]["count"]), (2, &json!(1), &json!(0)), "{ran:?}");
    let devices = fixture.service.devices("u").await.unwrap();
    assert_eq!(devices.iter().map(|one| one.value.id.as_str()).collect::<Vec<_>>(), ["kept"]);
    let outbox = fixture.rows(DEVICES, Some("u"), "SELECT c.id FROM c WHERE c.kind = 'outbox'").await;
    assert_eq!(outbox.len(), 0, "the container has no expiry of its own");
}

pub async fn a_purge_is_run_by_hand_and_spares_who_came_back(place: &Place) {
    let fixture = place.fixture().await;
    fixture.register("u", "gone").await;
    fixture.register("u", "back").await;
    for device in ["gone", "back"] {
        fixture.service.revoke("u", device).await.unwrap();
    }
    fixture.advance(10 * 86_400);
    fixture.register("u", "back").await;
    assert_eq!(fixture.service.purge_devices(Duration::from_secs(20 * 86_400)).await.unwrap(), 0);
    assert_eq!(fixture.service.purge_devices(Duration::from_secs(9 * 86_400)).await.unwrap(), 1);
    assert_eq!(fixture.service.devices("u").await.unwrap().len(), 1);
}

/// C-36: thirty days from the beginning, however often it was written; a day before that it is dead-lettered,
/// not lost.
pub async fn an_event_that_was_never_delivered_is_given_up_before_it_expires(place: &Place) {
    let fixture = place.fixture().await;
    fixture.register("u", "phone").await;
    fixture.phones.answer(|_, _| Outcome::Misconfigured { reason: "no key".to_owned(), status: None });
    let id = fixture.like("u", "Noor", None).await;
    fixture.settle().await;
    fixture.advance(29 * 86_400 - 60);
    assert_eq!(fixture.service.sweep_events().await.unwrap(), 0);
    fixture.settle().await;
    assert!(fixture.event("u", &id).await.ttl <= 86_400 + 60);
    fixture.advance(120);
    assert_eq!(fixture.service.sweep_events().await.unwrap(), 1);
    let event = fixture.event("u", &id).await;
    assert_eq!((event.status, event.retry_count), (Status::Failed, 5));
    assert!(event.dead_lettered_at.is_some());
    assert_eq!(fixture.service.sweep_events().await.unwrap(), 0);
    fixture.advance(86_400);
    assert!(matches!(fixture.service.event("u", &id).await, Err(ServiceError::Missing(_))), "expired");
}

/// Their container has no expiry, and three months of outbox items would slow down every read of a user's
/// devices.
pub async fn what_was_told_of_devices_goes_after_a_week(place: &Place) {
    let fixture = place.fixture().await;
    fixture.register("u", "phone").await;
    assert_eq!(fixture.service.run_jobs().await.unwrap(), 0, "the first look only writes down when");
    let told = async || {
        fixture.service.run_jobs().await.unwrap();
        fixture.told(DEVICES, "u").await
    };
    fixture.advance(6 * 86_400);
    assert_eq!(told().await, ["device.registered"]);
    fixture.advance(2 * 86_400);
    assert_eq!(told().await, [""; 0]);
    assert_eq!(fixture.service.devices("u").await.unwrap().len(), 1);
}
