//! Bad input: each says which member and what is wrong with it, and leaves nothing behind.

use crate::world::{ADMIN, As, World, event};
use http::Method;
use serde_json::{Value, json};

/// What an event without this change would be.
fn changed(change: impl FnOnce(&mut Value)) -> Value {
    let mut body = event("ann", "p");
    change(&mut body);
    body
}

async fn refused(world: &World, method: Method, path: &str, body: &Value, member: &str) {
    let answer = world.call(&ADMIN, method, path, &[], &body.to_string()).await;
    assert_eq!(answer.status, 400, "{body}: {answer:?}");
    assert_eq!(answer.header("content-type"), "application/problem+json");
    assert_eq!(answer.body["member"], member, "{body}: {answer:?}");
    assert!(answer.body["reason"].as_str().is_some_and(|reason| !reason.is_empty()), "{answer:?}");
    assert_eq!(answer.body["type"], "/v1/docs#invalid-input");
}

#[tokio::test]
async fn events_are_checked() {
    let world = World::new();
    let check = async |body: Value, member: &str| {
        refused(&world, Method::POST, "/v1/notifications/events", &body, member).await;
    };
    check(changed(|body| body["eventType"] = json!("POST_EATEN")), "eventType").await;
    check(changed(|body| body["category"] = json!("SECURITY")), "category").await;
    check(
        changed(|body| drop(body["payload"].as_object_mut().unwrap().remove("targetId"))),
        "payload.targetId",
    )
    .await;
    check(changed(|body| body["payload"]["targetType"] = json!("planet")), "payload.targetType").await;
    check(changed(|body| drop(body.as_object_mut().unwrap().remove("payload"))), "payload").await;
    check(changed(|body| body["payload"]["more"] = json!("x".repeat(200_000))), "payload").await;
    check(changed(|body| drop(body.as_object_mut().unwrap().remove("userId"))), "userId").await;
    check(changed(|body| body["userIds"] = json!(["ann"])), "userIds").await;
    let crowd: Vec<String> = (0..51).map(|at| format!("u{at}")).collect();
    let for_crowd = changed(|body| {
        body.as_object_mut().unwrap().remove("userId");
        body["userIds"] = json!(crowd);
    });
    check(for_crowd, "userIds").await;
    check(changed(|body| body["scheduledAt"] = json!("tomorrow")), "scheduledAt").await;
    check(changed(|body| body["userId"] = json!(7)), "userId").await;
    check(changed(|body| body["usrId"] = json!("ann")), "usrId").await;
    let listed = world.get(&ADMIN, "/v1/notifications/events").await;
    assert_eq!(listed.body["items"], json!([]), "nothing was kept");
}

#[tokio::test]
async fn preferences_are_checked() {
    let world = World::new();
    let path = "/v1/users/ann/preferences";
    let settings = |change: &dyn Fn(&mut Value)| {
        let mut body = json!({ "timezone": "UTC", "quietHours": vec![false; 24],
            "categories": { "social": true, "news": true, "marketing": true } });
        change(&mut body);
        body
    };
    for method in [Method::PUT, Method::PATCH] {
        let check = async |change: &dyn Fn(&mut Value), member: &str| {
            refused(&world, method.clone(), path, &settings(change), member).await;
        };
        check(&|body| body["timezone"] = json!("Mars/Olympus"), "timezone").await;
        check(&|body| body["quietHours"] = json!(vec![true; 23]), "quietHours").await;
        check(&|body| body["quietHours"] = json!(vec![true; 25]), "quietHours").await;
        check(&|body| body["quietHours"][3] = json!("yes"), "quietHours").await;
        check(&|body| body["categories"]["security"] = json!(false), "categories.security").await;
        check(&|body| body["categories"]["social"] = json!("no"), "categories.social").await;
    }
}

#[tokio::test]
async fn devices_are_checked() {
    let world = World::new();
    let device = |change: &dyn Fn(&mut Value)| {
        let mut body = json!({ "deviceId": "d", "platform": "fcm", "pushToken": "t" });
        change(&mut body);
        body
    };
    let check = async |change: &dyn Fn(&mut Value), member: &str| {
        refused(&world, Method::POST, "/v1/users/ann/devices", &device(change), member).await;
    };
    check(&|body| body["platform"] = json!("pager"), "platform").await;
    check(&|body| drop(body.as_object_mut().unwrap().remove("pushToken")), "pushToken").await;
    check(&|body| body["pushToken"] = json!("x".repeat(10_000)), "pushToken").await;
    check(&|body| body["deviceId"] = json!(""), "deviceId").await;
    check(&|body| body["label"] = json!("x".repeat(1000)), "label").await;
}

#[tokio::test]
async fn an_id_in_a_path_that_no_item_can_have_is_refused() {
    let world = World::new();
    for id in ["a%2fb", "a%5Cb", "a%23b", &"x".repeat(1024)] {
        for (method, path, member) in [
            (Method::GET, format!("/v1/users/{id}/notifications"), "user"),
            (Method::GET, format!("/v1/users/{id}/preferences"), "user"),
            (Method::POST, format!("/v1/users/ann/devices/{id}/revoke"), "device"),
            (Method::POST, format!("/v1/users/ann/notifications/{id}/read"), "id"),
            (Method::GET, format!("/v1/notifications/events/{id}"), "id"),
        ] {
            let answer = world.call(&ADMIN, method, &path, &[], "").await;
            assert_eq!((answer.status, &answer.body["member"]), (400, &json!(member)), "{path}: {answer:?}");
        }
    }
}

#[tokio::test]
async fn a_malformed_body_is_a_problem() {
    let world = World::new();
    for body in ["", "{", "[1,", "nonsense", "\u{0}"] {
        let answer = world.call(&ADMIN, Method::POST, "/v1/notifications/events", &[], body).await;
        assert_eq!(answer.status, 400, "{body}: {answer:?}");
        assert!(answer.body["reason"].as_str().unwrap().contains("JSON"), "{answer:?}");
    }
    for body in ["[]", "7", "null", "\"text\""] {
        let answer = world.call(&ADMIN, Method::POST, "/v1/notifications/events", &[], body).await;
        assert_eq!(answer.status, 400, "{body}: {answer:?}");
    }
}

#[tokio::test]
async fn another_users_token_is_refused_before_anything_is_looked_at() {
    let world = World::new();
    let ben = As::User("ben", &[]);
    let answer = world.post(&ben, "/v1/users/ann/devices", &json!("nonsense")).await;
    assert_eq!(answer.status, 403);
    let detail = answer.body["detail"].as_str().unwrap();
    assert!(detail.contains("'ben'") && detail.contains("notifications.admin"), "{detail}");
}
