//! The in-app centre: listed, counted, marked; tags and pages.

use crate::world::{ADMIN, As, World};
use http::Method;
use serde_json::{Value, json};
use std::time::Duration;

const ANN: As = As::User("ann", &[]);

fn ids(page: &Value) -> Vec<String> {
    page["items"].as_array().unwrap().iter().map(|item| item["id"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn what_was_enqueued_is_listed_counted_read_and_dismissed() {
    let world = World::new();
    let id = world.notify("ann", "p").await;
    let listed = world.get(&ANN, "/v1/users/ann/notifications").await;
    assert_eq!(ids(&listed.body), [id.as_str()]);
    assert_eq!(listed.body["continuation"], Value::Null);
    assert_eq!(listed.body["items"][0]["read"], false);
    assert!(listed.body["items"][0].get("ttl").is_none() && listed.body["items"][0].get("_etag").is_none());
    let count = async || {
        world.get(&ANN, "/v1/users/ann/notifications/unread-count").await.body["unreadCount"].clone()
    };
    assert_eq!(count().await, 1);
    let read = world.post(&ANN, &format!("/v1/users/ann/notifications/{id}/read"), &Value::Null).await;
    assert_eq!((read.status, &read.body["read"]), (200, &json!(true)));
    assert!(!read.header("etag").is_empty());
    assert_eq!(count().await, 0, "K7: the count is that of the list");
    world.env.advance(Duration::from_secs(60));
    let again = world.post(&ANN, &format!("/v1/users/ann/notifications/{id}/read"), &Value::Null).await;
    assert_eq!(again.body["readAt"], read.body["readAt"], "S2-21: the first mark stays");
    let dismissed =
        world.post(&ANN, &format!("/v1/users/ann/notifications/{id}/dismiss"), &Value::Null).await;
    assert_eq!(dismissed.body["dismissed"], true);
    assert!(ids(&world.get(&ANN, "/v1/users/ann/notifications").await.body).is_empty());
    let missing = world.post(&ANN, "/v1/users/ann/notifications/none/read", &Value::Null).await;
    assert_eq!((missing.status, &missing.body["status"]), (404, &json!(404)));
}

#[tokio::test]
async fn pages_go_on_where_they_ended_and_are_stable_under_inserts() {
    let world = World::new();
    let mut made = Vec::new();
    for at in 0..7 {
        made.push(world.notify("ann", &format!("p{at}")).await);
        world.env.advance(Duration::from_secs(1));
    }
    made.reverse();
    let (mut seen, mut continuation) = (Vec::new(), None::<String>);
    loop {
        let mut path = "/v1/users/ann/notifications?limit=3".to_owned();
        if let Some(text) = &continuation {
            let text: String = text.bytes().map(|byte| format!("%{byte:02X}")).collect();
            path.push_str(&format!("&continuation={text}"));
        }
        let page = world.get(&ANN, &path).await;
        assert_eq!(page.status, 200, "{page:?}");
        seen.extend(ids(&page.body));
        continuation = page.body["continuation"].as_str().map(str::to_owned);
        if continuation.is_none() {
            break;
        }
        if seen.len() == 3 {
            world.notify("ann", "new").await;
        }
    }
    assert_eq!(seen, made, "S2-25");
    let bad = world.get(&ANN, "/v1/users/ann/notifications?continuation=nonsense").await;
    assert_eq!(bad.status, 400, "{bad:?}");
}

#[tokio::test]
async fn filters_are_checked() {
    let world = World::new();
    world.notify("ann", "p").await;
    for (query, status, found) in [
        ("category=SOCIAL", 200, 1),
        ("category=social", 200, 1),
        ("category=NEWS", 200, 0),
        ("unread=true", 200, 1),
        ("limit=100", 200, 1),
        ("category=FUN", 400, 0),
        ("unread=perhaps", 400, 0),
        ("limit=0", 400, 0),
        ("limit=101", 400, 0),
        ("limit=many", 400, 0),
    ] {
        let answer = world.get(&ANN, &format!("/v1/users/ann/notifications?{query}")).await;
        assert_eq!(answer.status, status, "{query}: {answer:?}");
        if status == 200 {
            assert_eq!(ids(&answer.body).len(), found, "{query}");
        } else {
            assert_eq!(answer.body["member"], query.split('=').next().unwrap());
        }
    }
}

#[tokio::test]
async fn all_are_read_or_those_before_a_time() {
    let world = World::new();
    world.notify("ann", "p").await;
    world.env.advance(Duration::from_secs(60));
    world.notify("ann", "q").await;
    let path = "/v1/users/ann/notifications/read-all";
    let before = "2026-11-15T10:00:30.5+00:00";
    assert_eq!(world.post(&ANN, path, &json!({ "before": before })).await.body["read"], 1);
    assert_eq!(world.post(&ANN, path, &Value::Null).await.body["read"], 1);
    let bad = world.post(&ANN, path, &json!({ "before": "yesterday" })).await;
    assert_eq!((bad.status, &bad.body["member"]), (400, &json!("before")));
}

#[tokio::test]
async fn a_tag_that_is_old_is_refused_with_what_is_there_now() {
    let world = World::new();
    let path = "/v1/users/ann/preferences";
    let settings = |zone: &str| {
        json!({ "timezone": zone, "quietHours": vec![false; 24],
        "categories": { "social": true, "news": false, "marketing": false } })
    };
    let put = async |zone: &str, tag: Option<&str>| {
        let headers: Vec<(&str, &str)> = tag.map(|tag| ("if-match", tag)).into_iter().collect();
        world.call(&ANN, Method::PUT, path, &headers, &settings(zone).to_string()).await
    };
    let first = put("Asia/Kolkata", None).await;
    assert_eq!(first.status, 200, "{first:?}");
    let tag = first.header("etag").to_owned();
    assert_eq!(world.get(&ANN, path).await.header("etag"), tag);
    let second = put("Europe/Berlin", Some(&tag)).await;
    assert_eq!(second.status, 200, "{second:?}");
    let stale = put("America/New_York", Some(&tag)).await;
    assert_eq!(
        (stale.status, &stale.body["current"]["timezone"]),
        (412, &json!("Europe/Berlin")),
        "{stale:?}"
    );
    assert_eq!(stale.header("etag"), second.header("etag"));
    assert!(stale.body["current"].get("_etag").is_none());
    let patched = world
        .call(
            &ANN,
            Method::PATCH,
            path,
            &[("if-match", second.header("etag"))],
            r#"{"categories":{"news":true}}"#,
        )
        .await;
    assert_eq!((patched.status, &patched.body["categories"]["news"]), (200, &json!(true)), "{patched:?}");
    assert_eq!(patched.body["timezone"], "Europe/Berlin");
}

#[tokio::test]
async fn a_user_may_have_any_name() {
    let world = World::new();
    world.notify("a+b c&%41ü", "p").await;
    let listed = world.get(&ADMIN, "/v1/users/a+b%20c&%2541%C3%BC/notifications").await;
    assert_eq!((listed.status, ids(&listed.body).len()), (200, 1), "{listed:?}");
}
