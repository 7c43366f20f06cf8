//! From an event to its notification, over HTTP.

use crate::asking::{ask, ended, event, start_awake, token, until, with_key};
use crate::server::Server;
use orrery_testing_client::{Method, Request};
use serde_json::{Value, json};

#[tokio::test]
async fn an_event_is_accepted_dispatched_listed_and_read() {
    let here = tempfile::tempdir().unwrap();
    let data = here.path().join("data");
    let server = start_awake(&data, &["--durability", "relaxed"]);
    let (ann, ben) = (token(&data, "ann", &[]), token(&data, "ben", &[]));
    let sender = token(&data, "backend", &["notifications.send"]);
    let bearer = |token: &str| format!("Bearer {token}");
    let sent = ask(
        &server,
        "POST",
        "/v1/notifications/events",
        &[("authorization", &bearer(&sender)), ("idempotency-key", "1")],
        &event("ann", "p").to_string(),
    )
    .await;
    assert_eq!(sent.status, 202, "{}", sent.body);
    let id = sent.body[0]["id"].as_str().unwrap().to_owned();
    let event = ended(&server, &id, "ann").await;
    assert_eq!(event["outcome"], "no_devices");
    let path = "/v1/users/ann/notifications";
    let listed = ask(&server, "GET", path, &[("authorization", &bearer(&ann))], "").await;
    assert_eq!((listed.status, &listed.body["items"][0]["id"]), (200, &json!(id)), "{}", listed.body);
    assert!(listed.reply.header("x-ratelimit-limit").is_some());
    for (who, status) in [(&ben, 403), (&sender, 403)] {
        let refused = ask(&server, "GET", path, &[("authorization", &bearer(who))], "").await;
        assert_eq!(refused.status, status, "S2-83");
        assert_eq!(refused.reply.header("content-type"), Some("application/problem+json"));
    }
    let nobody = ask(&server, "GET", path, &[], "").await;
    assert_eq!(nobody.status, 401);
    let read =
        ask(&server, "POST", &format!("{path}/{id}/read"), &[("authorization", &bearer(&ann))], "").await;
    assert_eq!((read.status, &read.body["read"]), (200, &json!(true)));
    let count =
        ask(&server, "GET", &format!("{path}/unread-count"), &[("authorization", &bearer(&ann))], "").await;
    assert_eq!(count.body["unreadCount"], 0);
    // The service's data is the seed's items, for any SDK.
    let mut client = server.client();
    let container = orrery_testing_client::ContainerPath::new("asora", "notifications");
    let item = client.read_item(&container, "ann", &id).await.unwrap();
    assert_eq!((item.status, item.json().unwrap()["read"].clone()), (200, json!(true)));
    server.stop();
}

#[tokio::test]
async fn a_server_that_nobody_asks_for_notifications_stays_empty() {
    let here = tempfile::tempdir().unwrap();
    let server = Server::start(&here.path().join("data"), &[]);
    let (status, ready) = server.ask("GET", "/readyz", "").await;
    assert_eq!((status, &ready["status"]), (200, &json!("ready")), "{ready}");
    assert_eq!(ready["services"]["notifications"]["troubles"], json!([]));
    assert_eq!(server.ask("GET", "/v1/openapi.json", "").await.0, 200);
    let databases = server.client().call(&Request::new(Method::Get, "dbs")).await.unwrap();
    assert_eq!(databases.json().unwrap()["_count"], 0);
}

#[tokio::test]
async fn switched_off_there_is_nothing() {
    let here = tempfile::tempdir().unwrap();
    let server = Server::start(&here.path().join("data"), &["--notifications", "off"]);
    assert_eq!(with_key(&server, "GET", "/v1/notifications/stats", &Value::Null).await.status, 404);
    assert_eq!(server.ask("GET", "/readyz", "").await.1["services"], Value::Null);
}

#[tokio::test]
async fn measurements_tell_what_was_done() {
    let here = tempfile::tempdir().unwrap();
    let server = start_awake(&here.path().join("data"), &["--durability", "relaxed"]);
    let sent = with_key(&server, "POST", "/v1/notifications/events", &event("ann", "p")).await;
    ended(&server, sent.body[0]["id"].as_str().unwrap(), "ann").await;
    let metrics = ask(&server, "GET", "/metrics", &[], "").await;
    let text = String::from_utf8(metrics.reply.body.to_vec()).unwrap();
    let has = |line: &str| assert!(text.lines().any(|it| it == line), "S2-92: no {line} in\n{text}");
    has("notifications_enqueued_total 1");
    has("notifications_no_devices_total 1");
    has("notifications_ended_total 1");
    has("notifications_dead_lettered_total 0");
    assert!(text.contains("# TYPE notifications_latency_milliseconds_total counter"));
    let stats = until(&server, "/v1/notifications/stats", |stats| stats.is_object()).await;
    assert!(stats.to_string().contains("enqueued"), "{stats}");
}
