//! Devices over HTTP; erasure.

use crate::world::{ADMIN, As, World, event};
use http::Method;
use serde_json::{Value, json};
use std::time::Duration;

const ANN: As = As::User("ann", &[]);
const PATH: &str = "/v1/users/ann/devices";

fn device(id: &str) -> Value {
    json!({ "deviceId": id, "platform": "fcm", "pushToken": format!("token-of-{id}"), "label": "a phone" })
}

#[tokio::test]
async fn a_device_is_registered_seen_and_revoked_and_its_token_is_never_told() {
    let world = World::new();
    let made = world.post(&ANN, PATH, &device("d1")).await;
    assert_eq!((made.status, &made.body["revokedAt"]), (201, &Value::Null), "{made:?}");
    world.env.advance(Duration::from_secs(60));
    let seen = world.call(&ANN, Method::PATCH, &format!("{PATH}/d1"), &[], "").await;
    assert_eq!(seen.status, 200, "S2-88: {seen:?}");
    assert_ne!(seen.body["lastSeenAt"], made.body["lastSeenAt"]);
    let stale = world
        .call(&ANN, Method::PATCH, &format!("{PATH}/d1"), &[("if-match", made.header("etag"))], "{}")
        .await;
    assert_eq!((stale.status, &stale.body["current"]["deviceId"]), (412, &json!("d1")), "{stale:?}");
    let revoked = world.post(&ANN, &format!("{PATH}/d1/revoke"), &Value::Null).await;
    assert_eq!((revoked.status, &revoked.body["revokeReason"]), (200, &json!("user")), "{revoked:?}");
    let listed = world.get(&ANN, PATH).await;
    for answer in [made.body, seen.body, stale.body, revoked.body, listed.body] {
        assert!(!answer.to_string().contains("token-of"), "{answer}");
    }
    assert_eq!(world.post(&ANN, &format!("{PATH}/none/revoke"), &Value::Null).await.status, 404);
}

#[tokio::test]
async fn the_fourth_device_revokes_the_one_seen_longest_ago() {
    let world = World::new();
    for id in ["d1", "d2", "d3", "d4"] {
        assert_eq!(world.post(&ANN, PATH, &device(id)).await.status, 201);
        world.env.advance(Duration::from_secs(1));
    }
    let listed = world.get(&ANN, PATH).await;
    let active = |id: &str| {
        let devices = listed.body["items"].as_array().unwrap();
        devices.iter().find(|device| device["deviceId"] == id).unwrap()["revokedAt"].is_null()
    };
    assert_eq!(["d1", "d2", "d3", "d4"].map(active), [false, true, true, true], "S2-44");
}

#[tokio::test]
async fn an_erased_user_has_nothing_and_gets_nothing() {
    let world = World::new();
    world.post(&ANN, PATH, &device("d1")).await;
    world.notify("ann", "p").await;
    let erased = world.call(&ANN, Method::DELETE, "/v1/users/ann", &[], "").await;
    assert_eq!((erased.status, &erased.body["notifications"]), (200, &json!(1)), "{erased:?}");
    let later = world.post(&ADMIN, "/v1/notifications/events", &event("ann", "p")).await;
    assert_eq!(later.status, 202);
    assert_eq!(later.body[0], json!({ "userId": "ann", "status": "dropped", "reason": "user_erased" }));
    assert_eq!(world.get(&ANN, "/v1/users/ann/notifications").await.body["items"], json!([]));
}

#[tokio::test]
async fn statistics_and_jobs_are_told_and_devices_purged() {
    let world = World::new();
    world.post(&ANN, PATH, &device("d1")).await;
    world.post(&ANN, &format!("{PATH}/d1/revoke"), &Value::Null).await;
    world.env.advance(Duration::from_secs(91 * 86_400));
    let purged = world.post(&ADMIN, "/v1/notifications/devices/purge", &json!({ "olderThanDays": 90 })).await;
    assert_eq!((purged.status, &purged.body["purged"]), (200, &json!(1)), "S2-69: {purged:?}");
    let bad = world.post(&ADMIN, "/v1/notifications/devices/purge", &json!({ "olderThanDays": -1 })).await;
    assert_eq!((bad.status, &bad.body["member"]), (400, &json!("olderThanDays")));
    assert_eq!(world.get(&ADMIN, "/v1/notifications/stats").await.status, 200);
    assert_eq!(world.get(&ADMIN, "/v1/notifications/jobs").await.status, 200);
}
