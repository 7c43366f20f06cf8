//! Who may do what (S2-83).

use crate::world::{ADMIN, As, KEY, READ_ONLY, World, event};
use http::Method;
use serde_json::json;

const SENDER: As = As::User("backend", &["notifications.send"]);
const ADMINISTRATOR: As = As::User("boss", &["notifications.admin"]);
const ANN: As = As::User("ann", &[]);
const BEN: As = As::User("ben", &["reader", "other.admin"]);

#[tokio::test]
async fn every_route_lets_in_whom_it_should_and_nobody_else() {
    let world = World::new();
    let id = world.notify("ann", "p").await;
    let body = |method: &Method, path: &str| match (method, path) {
        (&Method::POST, "/v1/notifications/events") => event("ann", "p").to_string(),
        (&Method::POST, "/v1/users/ann/devices") => {
            json!({ "deviceId": "d", "platform": "fcm", "pushToken": "t" }).to_string()
        }
        (&Method::PATCH | &Method::PUT, "/v1/users/ann/preferences") => {
            json!({ "timezone": "UTC", "quietHours": vec![false; 24],
                "categories": { "social": true, "news": true, "marketing": true } })
            .to_string()
        }
        _ => String::new(),
    };
    // Method, path, and whether a sender and the owner may; an administrator and the key always may.
    let routes = [
        (Method::POST, "/v1/notifications/events".to_owned(), true, false),
        (Method::GET, "/v1/notifications/events".to_owned(), true, false),
        (Method::GET, format!("/v1/notifications/events/{id}?userId=ann"), true, false),
        (Method::POST, format!("/v1/notifications/events/{id}/cancel?userId=ann"), true, false),
        (Method::POST, format!("/v1/notifications/events/{id}/requeue?userId=ann"), false, false),
        (Method::GET, "/v1/users/ann/notifications".to_owned(), false, true),
        (Method::GET, "/v1/users/ann/notifications/unread-count".to_owned(), false, true),
        (Method::POST, format!("/v1/users/ann/notifications/{id}/read"), false, true),
        (Method::POST, format!("/v1/users/ann/notifications/{id}/dismiss"), false, true),
        (Method::POST, "/v1/users/ann/notifications/read-all".to_owned(), false, true),
        (Method::GET, "/v1/users/ann/preferences".to_owned(), false, true),
        (Method::PUT, "/v1/users/ann/preferences".to_owned(), false, true),
        (Method::PATCH, "/v1/users/ann/preferences".to_owned(), false, true),
        (Method::GET, "/v1/users/ann/devices".to_owned(), false, true),
        (Method::POST, "/v1/users/ann/devices".to_owned(), false, true),
        (Method::PATCH, "/v1/users/ann/devices/d".to_owned(), false, true),
        (Method::POST, "/v1/users/ann/devices/d/revoke".to_owned(), false, true),
        (Method::GET, "/v1/notifications/stats".to_owned(), false, false),
        (Method::GET, "/v1/notifications/jobs".to_owned(), false, false),
        (Method::POST, "/v1/notifications/devices/purge".to_owned(), false, false),
        (Method::DELETE, "/v1/users/ann".to_owned(), false, true),
    ];
    for (method, path, sender_may, owner_may) in routes {
        for (who, may) in [
            (As::Nobody, false),
            (BEN, false),
            (SENDER, sender_may),
            (ANN, owner_may),
            (ADMINISTRATOR, true),
            (ADMIN, true),
        ] {
            let body = body(&method, path.split('?').next().unwrap());
            let answer = world.call(&who, method.clone(), &path, &[], &body).await;
            let refused = if matches!(who, As::Nobody) { 401 } else { 403 };
            let is_refused = [401, 403].contains(&answer.status);
            assert_eq!(is_refused, !may, "{method} {path} as {who:?}: {answer:?}");
            assert!(may || answer.status == refused, "{method} {path} as {who:?}: {answer:?}");
            assert!(answer.status < 500, "{method} {path} as {who:?}: {answer:?}");
        }
    }
}

#[tokio::test]
async fn a_key_comes_as_a_bearer_or_by_itself_and_a_wrong_one_says_what_to_send() {
    let world = World::new();
    let path = "/v1/notifications/stats";
    let with = async |name: &str, value: String| {
        world.call(&As::Nobody, Method::GET, path, &[(name, value.as_str())], "").await
    };
    assert_eq!(with("authorization", format!("Bearer {KEY}")).await.status, 200);
    assert_eq!(with("authorization", format!("bearer {KEY}")).await.status, 200);
    assert_eq!(with("x-api-key", KEY.to_owned()).await.status, 200);
    for (name, value) in [
        ("x-api-key", "bm90IGEga2V5"),
        ("x-api-key", "#"),
        ("authorization", "Bearer"),
        ("authorization", "Bearer bm90IGEga2V5"),
        ("authorization", "Bearer a.b.c"),
        ("authorization", "Basic dTpw"),
    ] {
        let answer = with(name, value.to_owned()).await;
        assert_eq!(answer.status, 401, "{name}: {value}");
        assert_eq!(answer.header("www-authenticate"), "Bearer realm=\"orrery\"");
    }
    let answer = world.get(&As::Nobody, path).await;
    let detail = answer.body["detail"].as_str().unwrap();
    assert!(detail.contains("Authorization: Bearer") && detail.contains("x-api-key"), "{detail}");
}

#[tokio::test]
async fn a_read_only_key_reads() {
    let world = World::new();
    let reader = As::Key(READ_ONLY);
    assert_eq!(world.get(&reader, "/v1/users/ann/notifications").await.status, 200);
    let refused = world.post(&reader, "/v1/notifications/events", &event("ann", "p")).await;
    assert_eq!(refused.status, 403);
}

#[tokio::test]
async fn an_old_token_is_refused() {
    let world = World::new();
    let token = format!("Bearer {}", world.token("ann", &[]));
    let path = "/v1/users/ann/notifications";
    let ask = async || world.call(&As::Nobody, Method::GET, path, &[("authorization", &token)], "").await;
    assert_eq!(ask().await.status, 200);
    world.env.advance(std::time::Duration::from_secs(2 * 3600));
    let late = ask().await;
    assert_eq!(late.status, 401);
    assert!(late.body["detail"].as_str().unwrap().contains("expired"), "{late:?}");
}

#[tokio::test]
async fn the_paths_of_the_seeds_application_are_of_the_caller() {
    let world = World::new();
    world.notify("ann", "p").await;
    let listed = world.get(&ANN, "/api/notifications").await;
    assert_eq!((listed.status, listed.body["items"].as_array().unwrap().len()), (200, 1));
    assert_eq!(world.get(&BEN, "/api/notifications").await.body["items"].as_array().unwrap().len(), 0);
    assert_eq!(world.get(&ANN, "/api/notifications/unread-count").await.body["unreadCount"], 1);
    assert_eq!(world.get(&ANN, "/api/notifications/preferences").await.status, 200);
    assert_eq!(world.get(&ADMIN, "/api/notifications").await.status, 401);
}
