//! Events: accepted, looked at, cancelled; keys that make a request happen once.

use crate::world::{ADMIN, World, event};
use http::Method;
use serde_json::{Value, json};

const PATH: &str = "/v1/notifications/events";

#[tokio::test]
async fn one_is_accepted_for_each_user() {
    let world = World::new();
    let mut body = event("ann", "p");
    body.as_object_mut().unwrap().remove("userId");
    body["userIds"] = json!(["ann", "ben"]);
    let answer = world.post(&ADMIN, PATH, &body).await;
    assert_eq!(answer.status, 202, "S2-82: {answer:?}");
    let users: Vec<&str> =
        answer.body.as_array().unwrap().iter().map(|one| one["userId"].as_str().unwrap()).collect();
    assert_eq!(users, ["ann", "ben"]);
    assert!(
        answer.body.as_array().unwrap().iter().all(|one| one["status"] == "PENDING" && one["id"].is_string())
    );
}

#[tokio::test]
async fn an_event_is_found_with_or_without_its_user_and_tells_its_attempts() {
    let world = World::new();
    let device = json!({ "deviceId": "d", "platform": "fcm", "pushToken": "secret-token" });
    assert_eq!(world.post(&ADMIN, "/v1/users/ann/devices", &device).await.status, 201);
    let id = world.notify("ann", "p").await;
    for query in ["", "?userId=ann"] {
        let found = world.get(&ADMIN, &format!("{PATH}/{id}{query}")).await;
        assert_eq!((found.status, &found.body["status"]), (200, &json!("COMPLETED")), "{found:?}");
        assert_eq!(found.body["outcome"], "delivered");
        assert_eq!(found.body["attempts"][0]["result"], "delivered");
        assert!(!found.body.to_string().contains("secret-token"));
        assert!(found.body.get("decision").is_none());
    }
    assert_eq!(world.get(&ADMIN, &format!("{PATH}/{id}?userId=ben")).await.status, 404);
    let listed = world.get(&ADMIN, &format!("{PATH}?status=COMPLETED&userId=ann")).await;
    assert_eq!(listed.body["items"][0]["id"], id);
    assert_eq!(world.get(&ADMIN, &format!("{PATH}?status=DONE")).await.body["member"], "status");
}

#[tokio::test]
async fn a_scheduled_event_can_be_cancelled_once() {
    let world = World::new();
    let mut body = event("ann", "p");
    body["scheduledAt"] = json!("2026-11-16T10:00:00Z");
    let id = world.post(&ADMIN, PATH, &body).await.body[0]["id"].as_str().unwrap().to_owned();
    world.dispatch().await;
    let cancelled = world.post(&ADMIN, &format!("{PATH}/{id}/cancel"), &Value::Null).await;
    assert_eq!((cancelled.status, &cancelled.body["outcome"]), (200, &json!("cancelled")), "{cancelled:?}");
    let again = world.post(&ADMIN, &format!("{PATH}/{id}/cancel"), &Value::Null).await;
    assert_eq!(again.status, 409, "{again:?}");
    let requeued = world.post(&ADMIN, &format!("{PATH}/{id}/requeue"), &Value::Null).await;
    assert_eq!(requeued.status, 409, "{requeued:?}");
}

#[tokio::test]
async fn a_key_makes_a_request_happen_once() {
    let world = World::new();
    let send = async |key: &str, body: &Value| {
        world.call(&ADMIN, Method::POST, PATH, &[("idempotency-key", key)], &body.to_string()).await
    };
    let first = send("k1", &event("ann", "p")).await;
    let again = send("k1", &event("ann", "p")).await;
    assert_eq!((first.status, again.status), (202, 202));
    assert_eq!(first.body, again.body);
    let other = send("k1", &event("ann", "q")).await;
    assert_eq!((other.status, &other.body["member"]), (422, &json!("Idempotency-Key")), "{other:?}");
    let fresh = send("k2", &event("ann", "p")).await;
    assert_ne!(fresh.body[0]["id"], first.body[0]["id"]);
    // Another caller's key of the same name is another key.
    let sender = crate::world::As::User("backend", &["notifications.send"]);
    let theirs = world
        .call(&sender, Method::POST, PATH, &[("idempotency-key", "k1")], &event("ann", "p").to_string())
        .await;
    assert_ne!(theirs.body[0]["id"], first.body[0]["id"]);
    world.env.advance(std::time::Duration::from_secs(25 * 3600));
    let long = "k".repeat(300);
    let refused = send(&long, &event("ann", "p")).await;
    assert_eq!((refused.status, &refused.body["member"]), (400, &json!("idempotency-key")));
}

#[tokio::test]
async fn a_key_of_a_request_that_failed_can_be_used_again() {
    let world = World::new();
    let send =
        async |body: &str| world.call(&ADMIN, Method::POST, PATH, &[("idempotency-key", "k")], body).await;
    let bad = json!({ "userId": "ann", "eventType": "POST_LIKE", "payload": {} }).to_string();
    assert_eq!(send(&bad).await.status, 400);
    assert_eq!(send(&bad).await.status, 400, "it is judged again");
}
