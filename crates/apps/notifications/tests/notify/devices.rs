//! Devices: never more than three (K3, B-5); revoked ones get nothing (K4).

use crate::place::Place;
use orrery_notifications::records::{Device, Status};
use orrery_notifications::service::containers::DEVICES;
use orrery_notifications::service::{ServiceError, Tagged};
use serde_json::json;
use std::time::Duration;
use tokio::task::JoinSet;

fn body(device: &str) -> serde_json::Value {
    json!({"deviceId": device, "pushToken": format!("token-{device}"), "platform": "apns", "label": "A phone"})
}

fn active(devices: &[Tagged<Device>]) -> Vec<&str> {
    let active = devices.iter().filter(|device| device.value.revoked_at.is_none());
    active.map(|device| device.value.id.as_str()).collect()
}

/// B-5, with two processes.
pub async fn of_a_hundred_registrations_at_once_three_stay(place: &Place) {
    let fixture = place.fixture().await;
    let second = fixture.another("worker-2").await;
    let mut clients = JoinSet::new();
    for at in 0..100 {
        let service = if at % 2 == 0 { fixture.service.clone() } else { second.clone() };
        let env = fixture.env.clone();
        clients.spawn(async move {
            env.advance(Duration::from_millis(5));
            service.register("u", &body(&format!("d-{at}"))).await.map(drop)
        });
    }
    while let Some(done) = clients.join_next().await {
        done.unwrap().unwrap();
        let text = "SELECT VALUE COUNT(1) FROM c WHERE c.userId = 'u' AND c.revokedAt = null";
        let count = fixture.rows(DEVICES, Some("u"), text).await[0].as_u64().unwrap();
        assert!(count <= 3, "K3: {count} are active");
    }
    let devices = fixture.service.devices("u").await.unwrap();
    let kept: Vec<&Device> =
        devices.iter().map(|one| &one.value).filter(|device| device.revoked_at.is_none()).collect();
    let evicted: Vec<&Device> =
        devices.iter().map(|one| &one.value).filter(|device| device.revoked_at.is_some()).collect();
    assert_eq!((kept.len(), evicted.len()), (3, 97));
    let oldest_kept = kept.iter().map(|device| &device.last_seen_at).min().unwrap();
    for device in evicted {
        assert_eq!(device.revoke_reason.as_deref(), Some("evicted"));
        assert!(device.last_seen_at <= *oldest_kept, "each is older than those that stay");
    }
}

/// C-46, S2-45.
pub async fn a_device_that_registers_again_is_the_same_device(place: &Place) {
    let fixture = place.fixture().await;
    let first = fixture.service.register("u", &body("d")).await.unwrap().value;
    fixture.service.revoke("u", "d").await.unwrap();
    fixture.advance(60);
    let mut again = body("d");
    again["pushToken"] = json!("token-new");
    let again = fixture.service.register("u", &again).await.unwrap().value;
    assert_eq!((&again.id, &again.created_at), (&first.id, &first.created_at));
    assert_eq!((again.push_token.as_str(), again.revoked_at, again.revoke_reason), ("token-new", None, None));
    assert_eq!(fixture.service.devices("u").await.unwrap().len(), 1);
}

pub async fn the_one_seen_longest_ago_makes_room_and_a_heartbeat_is_being_seen(place: &Place) {
    let fixture = place.fixture().await;
    for device in ["a", "b", "c"] {
        fixture.service.register("u", &body(device)).await.unwrap();
        fixture.advance(60);
    }
    fixture.service.patch_device("u", "a", &json!({}), None).await.unwrap();
    fixture.advance(60);
    fixture.service.register("u", &body("d")).await.unwrap();
    let devices = fixture.service.devices("u").await.unwrap();
    assert_eq!(active(&devices), ["d", "a", "c"]);
    let refused = fixture.service.patch_device("u", "b", &json!({"pushToken": "x"}), None).await.unwrap_err();
    assert!(matches!(refused, ServiceError::Conflict(_)));
    assert_eq!(
        fixture.told(DEVICES, "u").await,
        [
            "device.registered",
            "device.registered",
            "device.registered",
            "device.registered",
            "device.revoked"
        ]
    );
}

/// The seed's queries find only devices; `revokedAt = null` finds the active ones (B-9).
pub async fn the_guard_is_in_no_answer_of_the_seeds_queries(place: &Place) {
    let fixture = place.fixture().await;
    for device in ["a", "b"] {
        fixture.service.register("u", &body(device)).await.unwrap();
    }
    fixture.service.revoke("u", "b").await.unwrap();
    let check = async |text: &str, expected: usize| {
        assert_eq!(fixture.rows(DEVICES, Some("u"), text).await.len(), expected, "{text}");
    };
    check("SELECT * FROM c WHERE c.userId = 'u' AND c.revokedAt = null ORDER BY c.lastSeenAt DESC", 1).await;
    check("SELECT * FROM c WHERE NOT IS_DEFINED(c.revokedAt) OR IS_NULL(c.revokedAt)", 1).await;
    check("SELECT * FROM c WHERE c.revokedAt < '2027-01-01T00:00:00Z'", 1).await;
    check("SELECT * FROM c WHERE c.userId = 'u' AND c.deviceId = 'a'", 1).await;
    for reserved in ["guard", "outbox:d:1"] {
        let refused = fixture.service.register("u", &body(reserved)).await.unwrap_err();
        assert!(matches!(refused, ServiceError::Invalid { member, .. } if member == "deviceId"));
    }
}

/// K4, S2-89.
pub async fn a_device_that_was_revoked_gets_nothing(place: &Place) {
    let fixture = place.fixture().await;
    fixture.register("u", "a").await;
    fixture.register("u", "b").await;
    fixture.service.revoke("u", "a").await.unwrap();
    let again = fixture.service.revoke("u", "a").await.unwrap().value;
    assert_eq!(again.revoke_reason.as_deref(), Some("user"));
    fixture.like("u", "Noor", None).await;
    fixture.settle().await;
    let pushed: Vec<String> = fixture.phones.pushes().into_iter().map(|push| push.device).collect();
    assert_eq!(pushed, ["b"]);
    assert!(matches!(fixture.service.revoke("u", "nothing").await, Err(ServiceError::Missing(_))));
}

pub async fn every_active_device_gets_one_push(place: &Place) {
    let fixture = place.fixture().await;
    for device in ["a", "b", "c"] {
        fixture.register("u", device).await;
    }
    let id = fixture.like("u", "Noor", None).await;
    fixture.settle().await;
    let mut pushed: Vec<String> = fixture.phones.pushes().into_iter().map(|push| push.device).collect();
    pushed.sort();
    assert_eq!(pushed, ["a", "b", "c"]);
    assert_eq!(fixture.event("u", &id).await.attempts.len(), 3);
    assert_eq!(fixture.status("u", &id).await.0, Status::Completed);
}
