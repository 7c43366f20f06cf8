//! B-8: a user is erased while events are being worked on, and an erasure that is cut off ends by itself.

use crate::asking::{pressing, try_ask, until, wait_for_end, with_key};
use crate::crashes::items;
use crate::fake::{Fake, device};
use crate::server::Server;
use orrery_testing_client::EMULATOR_KEY;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use tempfile::TempDir;

const EVENTS: &str = "/v1/notifications/events";
const CONTAINERS: [&str; 4] =
    ["notification_events", "notifications", "notification_preferences", "device_tokens"];
/// Of a lease: longer than a test takes, so that it ends when the clock is moved and not before.
const LEASE_SECONDS: u64 = 900;

struct World {
    fake: Fake,
    here: TempDir,
}

impl World {
    fn new() -> Self {
        let world = Self { fake: Fake::start(), here: tempfile::tempdir().unwrap() };
        std::fs::write(world.policy(), json!({ "leaseSeconds": LEASE_SECONDS }).to_string()).unwrap();
        world
    }

    fn policy(&self) -> PathBuf {
        self.here.path().join("policy.json")
    }

    fn start(&self, data: &Path, failpoint: Option<&str>) -> Server {
        let (push, policy) = (self.fake.config(), self.policy());
        let mut flags = vec!["--clock", "manual", "--push-config", push.to_str().unwrap()];
        flags.extend(["--notifications-config", policy.to_str().unwrap()]);
        flags.extend(failpoint.into_iter().flat_map(|name| ["--failpoint", name]));
        Server::start(data, &flags)
    }
}

async fn prepare(server: &Server, user: &str) {
    let devices = format!("/v1/users/{user}/devices");
    assert_eq!(with_key(server, "POST", &devices, &device(user, "fcm")).await.status, 201);
    let (zone, preferences) =
        (json!({ "timezone": "Asia/Kolkata" }), format!("/v1/users/{user}/preferences"));
    assert_eq!(with_key(server, "PATCH", &preferences, &zone).await.status, 200);
}

async fn is_empty(server: &Server) -> bool {
    for container in CONTAINERS {
        if items(server, container).await > 0 {
            return false;
        }
    }
    true
}

/// Nothing is left, nothing was pushed, and what comes later is dropped, however much time goes by.
async fn is_forgotten(world: &World, server: &Server, user: &str) {
    let dropped = with_key(server, "POST", EVENTS, &pressing(user, "late")).await;
    assert_eq!(
        (dropped.status, &dropped.body[0]["status"], &dropped.body[0]["reason"]),
        (202, &json!("dropped"), &json!("user_erased")),
        "{}",
        dropped.body
    );
    server.advance(2 * 86_400).await;
    // Something that is dispatched now shows that the dispatcher has looked.
    let other = with_key(server, "POST", EVENTS, &pressing("other", "p")).await;
    crate::asking::ended(server, other.body[0]["id"].as_str().unwrap(), "other").await;
    let erased = with_key(server, "DELETE", "/v1/users/other", &Value::Null).await;
    assert_eq!(erased.status, 200, "{}", erased.body);
    assert!(is_empty(server).await);
    let token = device(user, "fcm")["pushToken"].clone();
    assert!(world.fake.taken().await.iter().all(|push| push["token"] != token), "K4");
}

/// Ten processes were killed in the middle of an event each, so ten are PROCESSING under leases that still run.
#[tokio::test]
async fn a_user_is_erased_while_ten_events_are_processing() {
    let world = World::new();
    let data = world.here.path().join("data");
    let server = world.start(&data, None);
    prepare(&server, "eve").await;
    server.stop();
    for at in 0..10 {
        let mut server = world.start(&data, Some("notify.project.after"));
        let headers = [("x-api-key", EMULATOR_KEY)];
        // It may end before it answers.
        drop(
            try_ask(&server, "POST", EVENTS, &headers, &pressing("eve", &format!("p{at}")).to_string()).await,
        );
        wait_for_end(&mut server);
    }
    let server = world.start(&data, None);
    let path = format!("{EVENTS}?userId=eve&status=PROCESSING");
    let processing = with_key(&server, "GET", &path, &Value::Null).await;
    assert_eq!(processing.body["items"].as_array().unwrap().len(), 10, "{}", processing.body);
    let erasing = with_key(&server, "DELETE", "/v1/users/eve", &Value::Null);
    let moving = async {
        let dropped = json!("dropped");
        let is_begun = async || {
            with_key(&server, "POST", EVENTS, &pressing("eve", "x")).await.body[0]["status"] == dropped
        };
        while !is_begun().await {}
        // The erasure waits for the leases: nobody knows here that their owners are gone.
        server.advance(LEASE_SECONDS + 60).await;
    };
    let (erased, ()) = tokio::join!(erasing, moving);
    assert_eq!(erased.status, 200, "{}", erased.body);
    assert!(is_empty(&server).await);
    is_forgotten(&world, &server, "eve").await;
}

/// Killed right after the tombstone, and half way: the next process ends it, though nobody asks for it again.
#[tokio::test]
async fn an_erasure_that_is_killed_ends_by_itself() {
    for step in ["notify.erase.tombstoned", "notify.erase.half"] {
        let world = World::new();
        let data = world.here.path().join("data");
        let mut server = world.start(&data, Some(step));
        prepare(&server, "eve").await;
        let now = server.ask("GET", "/v1/clock", "").await.1["now_ms"].as_u64().unwrap();
        let tomorrow = orrery_kit::time::format(orrery_core::Timestamp::from_millis(now + 86_400_000));
        for at in 0..10 {
            let mut body = pressing("eve", &format!("p{at}"));
            body["scheduledAt"] = json!(tomorrow);
            assert_eq!(with_key(&server, "POST", EVENTS, &body).await.status, 202);
        }
        let headers = [("x-api-key", EMULATOR_KEY)];
        let erased = try_ask(&server, "DELETE", "/v1/users/eve", &headers, "").await;
        assert!(erased.is_none(), "{step}: it was to be killed");
        wait_for_end(&mut server);
        let server = world.start(&data, None);
        assert!(!is_empty(&server).await, "{step}: something was left");
        // An hour passes, and no event is due in it.
        server.advance(3_600).await;
        let deadline = Instant::now() + Duration::from_secs(30);
        while !is_empty(&server).await {
            assert!(Instant::now() < deadline, "{step}: it does not end by itself");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        until(&server, &format!("{EVENTS}?userId=eve"), |body| body["items"] == json!([])).await;
        is_forgotten(&world, &server, "eve").await;
    }
}
