//! Killed between any two steps, a server loses no event and does nothing twice (K1, K2, K6; B-1, B-8).

use crate::asking::{ask, ended, pressing, titles, try_ask, until, wait_for_end, with_key};
use crate::fake::{Fake, device};
use crate::server::Server;
use orrery_testing_client::{ContainerPath, EMULATOR_KEY, Method, Request};
use serde_json::{Value, json};
use std::path::Path;

const EVENTS: &str = "/v1/notifications/events";

/// By a clock that is moved: it begins at the system's time with each start, so a lease is over when the test says so.
fn start(data: &Path, fake: &Fake, failpoint: Option<&str>) -> Server {
    let config = fake.config();
    let mut flags = vec!["--clock", "manual", "--push-config", config.to_str().unwrap()];
    flags.extend(failpoint.into_iter().flat_map(|name| ["--failpoint", name]));
    Server::start(data, &flags)
}

/// Sends an event to a server that may end before it answers.
async fn send(server: &Server, body: &Value, key: &str) -> Option<String> {
    let headers = [("x-api-key", EMULATOR_KEY), ("idempotency-key", key)];
    let reply = try_ask(server, "POST", EVENTS, &headers, &body.to_string()).await?;
    assert_eq!(reply.status, 202);
    Some(reply.json().unwrap()[0]["id"].as_str().unwrap().to_owned())
}

/// K1 at every step in turn; at the last push it is B-1.
#[tokio::test]
async fn killed_at_any_step_an_event_ends_once() {
    let fake = Fake::start();
    let steps = [
        "notify.enqueue.after",
        "notify.decide.before",
        "notify.decide.after",
        "notify.project.after",
        "notify.push.after",
        "notify.finish.before",
        "notify.finish.after",
    ];
    for step in steps {
        let here = tempfile::tempdir().unwrap();
        let data = here.path().join("data");
        let user = format!("ann-at-{}", step.replace('.', "-"));
        let server = start(&data, &fake, None);
        let registered =
            with_key(&server, "POST", &format!("/v1/users/{user}/devices"), &device(&user, "fcm")).await;
        assert_eq!(registered.status, 201, "{}", registered.body);
        server.stop();
        let mut server = start(&data, &fake, Some(step));
        let accepted = send(&server, &pressing(&user, "p"), "k").await;
        wait_for_end(&mut server);
        let server = start(&data, &fake, None);
        // Whoever got no answer asks again with the same key, and gets the event that there is.
        let id = match accepted {
            Some(id) => id,
            None => send(&server, &pressing(&user, "p"), "k").await.unwrap(),
        };
        server.advance(60).await;
        let event = ended(&server, &id, &user).await;
        assert_eq!(
            (&event["status"], &event["outcome"]),
            (&json!("COMPLETED"), &json!("delivered")),
            "{step}: {event}"
        );
        assert_eq!(titles(&server, &user).await.len(), 1, "{step}: one notification");
        let listed = with_key(&server, "GET", &format!("{EVENTS}?userId={user}"), &Value::Null).await;
        assert_eq!(listed.body["items"].as_array().unwrap().len(), 1, "{step}: one event");
        let token = device(&user, "fcm")["pushToken"].clone();
        let mut pushes = fake.taken().await;
        pushes.retain(|push| push["token"] == token);
        let pushes_max = if ["notify.push.after", "notify.finish.before"].contains(&step) { 2 } else { 1 };
        assert!((1..=pushes_max).contains(&pushes.len()), "{step}: {pushes:?}");
        let notification = event["notificationId"].clone();
        assert!(pushes.iter().all(|push| push["collapseId"] == notification), "K6 at {step}: {pushes:?}");
        server.stop();
    }
}

/// B-1 with both providers: accepted by them, killed before the commit.
#[tokio::test]
async fn killed_after_a_provider_took_it_the_same_push_comes_once_more_at_most() {
    let fake = Fake::start();
    for platform in ["fcm", "apns"] {
        let here = tempfile::tempdir().unwrap();
        let data = here.path().join("data");
        let user = format!("ben-{platform}");
        let server = start(&data, &fake, None);
        with_key(&server, "POST", &format!("/v1/users/{user}/devices"), &device(&user, platform)).await;
        server.stop();
        let mut server = start(&data, &fake, Some("notify.push.after"));
        let id = send(&server, &pressing(&user, "p"), "k").await;
        wait_for_end(&mut server);
        let server = start(&data, &fake, None);
        let id = match id {
            Some(id) => id,
            None => send(&server, &pressing(&user, "p"), "k").await.unwrap(),
        };
        server.advance(60).await;
        let event = ended(&server, &id, &user).await;
        assert_eq!(event["status"], "COMPLETED");
        let token = device(&user, platform)["pushToken"].clone();
        let mut pushes = fake.taken().await;
        pushes.retain(|push| push["token"] == token);
        assert_eq!(pushes.len(), 2, "{platform}: before the crash, and once more");
        assert_eq!(pushes[0]["collapseId"], pushes[1]["collapseId"]);
        assert_eq!(titles(&server, &user).await.len(), 1);
    }
}

/// B-8, killed in the middle: what was begun is ended by asking again, and nothing is sent meanwhile or later.
#[tokio::test]
async fn an_erasure_that_is_killed_half_way_is_ended_by_asking_again() {
    let fake = Fake::start();
    for step in ["notify.erase.tombstoned", "notify.erase.half"] {
        let here = tempfile::tempdir().unwrap();
        let data = here.path().join("data");
        let user = format!("cat-{}", step.replace('.', "-"));
        let mut server = start(&data, &fake, Some(step));
        with_key(&server, "POST", &format!("/v1/users/{user}/devices"), &device(&user, "fcm")).await;
        let patched = with_key(
            &server,
            "PATCH",
            &format!("/v1/users/{user}/preferences"),
            &json!({ "timezone": "Asia/Kolkata" }),
        )
        .await;
        assert_eq!(patched.status, 200, "{}", patched.body);
        // Ten events that wait: for tomorrow, so that none is pushed before the user is gone.
        let now = server.ask("GET", "/v1/clock", "").await.1["now_ms"].as_u64().unwrap();
        let tomorrow = orrery_kit::time::format(orrery_core::Timestamp::from_millis(now + 86_400_000));
        for at in 0..10 {
            let mut body = pressing(&user, &format!("p{at}"));
            body["scheduledAt"] = json!(tomorrow);
            assert_eq!(with_key(&server, "POST", EVENTS, &body).await.status, 202);
        }
        let erased =
            try_ask(&server, "DELETE", &format!("/v1/users/{user}"), &[("x-api-key", EMULATOR_KEY)], "")
                .await;
        assert!(erased.is_none(), "{step}: it was to be killed");
        wait_for_end(&mut server);
        let server = start(&data, &fake, None);
        let dropped = with_key(&server, "POST", EVENTS, &pressing(&user, "late")).await;
        assert_eq!(dropped.body[0]["reason"], "user_erased", "{step}: {}", dropped.body);
        server.advance(2 * 86_400).await;
        let erased =
            ask(&server, "DELETE", &format!("/v1/users/{user}"), &[("x-api-key", EMULATOR_KEY)], "").await;
        assert_eq!(erased.status, 200, "{step}: {}", erased.body);
        for container in ["notification_events", "notifications", "notification_preferences", "device_tokens"]
        {
            assert_eq!(items(&server, container).await, 0, "{step}: {container}");
        }
        let token = device(&user, "fcm")["pushToken"].clone();
        assert!(fake.taken().await.iter().all(|push| push["token"] != token), "K4 at {step}");
        server.stop();
    }
}

/// As an SDK counts them.
pub async fn items(server: &Server, container: &str) -> u64 {
    let now = server.ask("GET", "/v1/clock", "").await.1["now_ms"].as_u64().unwrap();
    let env = orrery_core::Env::seeded(orrery_core::Timestamp::from_millis(now), 1);
    let mut client = orrery_testing_client::Client::new(server.cosmos, env);
    let path = ContainerPath::new("asora", container);
    let request = Request::new(Method::Post, path.items())
        .header("x-ms-documentdb-isquery", "True")
        .header("x-ms-documentdb-query-enablecrosspartition", "True")
        .header("x-orrery-cross-partition", "direct")
        .body(json!({ "query": "SELECT VALUE COUNT(1) FROM c" }).to_string());
    let reply = client.call(&request).await.unwrap();
    assert_eq!(reply.status, 200);
    reply.json().unwrap()["Documents"][0].as_u64().unwrap()
}

/// What a provider did not take is tried again by a server that was killed meanwhile, and not before its time.
#[tokio::test]
async fn a_retry_that_was_planned_is_kept_over_a_kill() {
    let fake = Fake::start();
    let here = tempfile::tempdir().unwrap();
    let data = here.path().join("data");
    let mut server = start(&data, &fake, None);
    with_key(&server, "POST", "/v1/users/dan/devices", &device("dan", "fcm")).await;
    fake.script(&json!({ "match": { "platform": "fcm" }, "times": 1,
        "answer": { "status": 503, "reason": "UNAVAILABLE", "retryAfter": 120 } }))
        .await;
    let id = send(&server, &pressing("dan", "p"), "k").await.unwrap();
    let path = format!("{EVENTS}/{id}?userId=dan");
    let failed = until(&server, &path, |event| event["status"] == "FAILED").await;
    assert!(failed["nextRetryAt"].is_string(), "{failed}");
    server.signal("-KILL");
    server.wait();
    let server = start(&data, &fake, None);
    server.advance(60).await;
    let still = until(&server, &path, |event| event["status"].is_string()).await;
    assert_eq!(still["status"], "FAILED", "B-6: a provider that names a time is not asked before it");
    server.advance(300).await;
    let event = ended(&server, &id, "dan").await;
    assert_eq!(event["outcome"], "delivered");
    assert_eq!(event["attempts"].as_array().unwrap().len(), 2);
}
