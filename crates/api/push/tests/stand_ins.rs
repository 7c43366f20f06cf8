//! The stand-ins themselves: what they refuse, and their control port.

mod support;

use bytes::Bytes;
use http::{Method, Request};
use orrery_kit::http::{Client, Tls, Trust, Versions, certificates};
use orrery_notifications::push::Outcome;
use orrery_notifications::records::Platform;
use serde_json::{Value, json};
use std::time::Duration;
use support::World;

const TIME_MAX: Duration = Duration::from_secs(20);

async fn ask(client: &Client, method: Method, url: &str, body: &Value) -> (u16, Value) {
    let body = if body.is_null() { Bytes::new() } else { Bytes::from(body.to_string()) };
    let request = Request::builder().method(method).uri(url).body(body).expect("a request");
    let answer = client.send(request, TIME_MAX, 1_000_000).await.expect("an answer");
    (answer.status().as_u16(), serde_json::from_slice(answer.body()).unwrap_or_default())
}

fn anybody(versions: Versions) -> Client {
    Client::new(Tls { trust: Trust::Anything, versions }).expect("a client")
}

#[tokio::test]
async fn failures_are_scripted_and_pushes_shown_on_the_control_port() {
    let world = World::start();
    let client = anybody(Versions::Any);
    let control = format!("http://127.0.0.1:{}/control", world.ports.control);
    let rule = json!({ "match": { "token": "d" }, "answer": { "status": 410, "reason": "Unregistered" }, "times": 1 });
    assert_eq!(ask(&client, Method::POST, &control, &rule).await, (201, json!({ "id": 1 })));
    assert!(matches!(world.push(Platform::Apns, "d").await, Outcome::Unregistered { .. }));
    assert_eq!(world.push(Platform::Apns, "d").await, Outcome::Delivered);
    assert_eq!(world.push(Platform::Fcm, "e").await, Outcome::Delivered);
    let received = format!("{control}/received");
    let (_, shown) = ask(&client, Method::GET, &received, &Value::Null).await;
    assert_eq!((&shown["count"], &shown["delivered"]), (&json!(3), &json!(2)));
    assert_eq!(
        shown["byToken"],
        json!({ "d": { "count": 2, "delivered": 1 }, "e": { "count": 1, "delivered": 1 } })
    );
    assert_eq!((&shown["pushes"][0]["status"], &shown["pushes"][0]["n"]), (&json!(410), &json!(1)));
    assert_eq!(shown["counters"]["tokenExchanges"], 1);
    let (_, one) = ask(&client, Method::GET, &format!("{received}?token=e"), &Value::Null).await;
    assert_eq!((&one["count"], &one["pushes"][0]["platform"]), (&json!(1), &json!("fcm")));
    assert_eq!(ask(&client, Method::DELETE, &control, &Value::Null).await.0, 200);
    assert_eq!(ask(&client, Method::GET, &received, &Value::Null).await.1["count"], 0);
    for wrong in
        [json!({ "answer": { "status": 99 } }), json!({ "answer": { "status": 500 }, "times": 0 }), json!([])]
    {
        assert_eq!(ask(&client, Method::POST, &control, &wrong).await.0, 400, "{wrong}");
    }
}

#[tokio::test]
async fn what_is_not_signed_is_not_taken() {
    let world = World::start();
    let client = anybody(Versions::Any);
    let fcm = format!("https://127.0.0.1:{}", world.ports.fcm);
    let send = format!("{fcm}/v1/projects/orrery-local/messages:send");
    let (status, error) = ask(&client, Method::POST, &send, &json!({ "message": { "token": "d" } })).await;
    assert_eq!((status, &error["error"]["status"]), (401, &json!("UNAUTHENTICATED")));
    let (status, error) =
        ask(&client, Method::POST, &format!("{fcm}/token"), &json!("grant_type=none")).await;
    assert_eq!((status, &error["error"]), (400, &json!("unsupported_grant_type")));
    let apns = format!("https://127.0.0.1:{}/3/device/d", world.ports.apns);
    let (status, error) = ask(&client, Method::POST, &apns, &json!({})).await;
    assert_eq!((status, &error["reason"]), (403, &json!("MissingProviderToken")));
    let (status, _) = ask(&anybody(Versions::Http1), Method::POST, &apns, &json!({})).await;
    assert_eq!(status, 505, "APNs is HTTP/2");
    assert_eq!(world.state.counters().received, 0);
}

#[tokio::test]
async fn the_certificate_that_is_written_is_the_one_that_is_shown() {
    let world = World::start();
    let pem = world.files.iter().find(|file| file.name == "ca.pem").expect("a certificate");
    let trust = Trust::These(certificates(pem.text.as_bytes()).expect("a certificate"));
    let client = Client::new(Tls { trust, versions: Versions::Http2 }).expect("a client");
    for host in ["127.0.0.1", "localhost"] {
        let url = format!("https://{host}:{}/nothing", world.ports.apns);
        assert_eq!(ask(&client, Method::POST, &url, &json!({})).await.0, 404);
    }
    let request = Request::get(format!("https://127.0.0.1:{}/", world.ports.apns))
        .body(Bytes::new())
        .expect("a request");
    let system = Client::new(Tls::default());
    if let Ok(system) = system {
        let error = system.send(request, TIME_MAX, 1000).await.expect_err("not trusted");
        assert!(!error.may_have_arrived() && error.to_string().contains("certificate"), "{error}");
    }
}

#[tokio::test]
async fn keys_and_tokens_are_written_for_their_owner_only() {
    let world = World::start();
    let secrets: Vec<&str> = world.files.iter().filter(|file| file.is_secret).map(|file| file.name).collect();
    assert_eq!(secrets, ["service-account.json", "apns.p8"]);
}
