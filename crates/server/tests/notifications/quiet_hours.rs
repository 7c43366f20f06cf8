//! B-4: a push that waits for the end of quiet hours, with a restart in between.

use crate::asking::{ended, event, titles, until, with_key};
use crate::fake::{Fake, device};
use crate::server::Server;
use orrery_core::Timestamp;
use orrery_kit::time;
use serde_json::{Value, json};
use std::path::Path;

const DAY_MILLIS: u64 = 86_400_000;
/// Asia/Kolkata is five and a half hours ahead all year.
const AHEAD_MILLIS: u64 = 19_800_000;

fn start(data: &Path, fake: &Fake) -> Server {
    Server::start(data, &["--clock", "manual", "--push-config", fake.config().to_str().unwrap()])
}

async fn now(server: &Server) -> u64 {
    server.ask("GET", "/v1/clock", "").await.1["now_ms"].as_u64().unwrap()
}

/// Moves the clock to a moment that is not before now.
async fn move_to(server: &Server, millis: u64) {
    let seconds = (millis - now(server).await).div_ceil(1000);
    server.advance(seconds).await;
}

#[tokio::test]
async fn a_push_in_the_night_comes_in_the_morning_once_and_a_restart_does_not_lose_it() {
    let fake = Fake::start();
    let here = tempfile::tempdir().unwrap();
    let data = here.path().join("data");
    let server = start(&data, &fake);
    with_key(&server, "POST", "/v1/users/asha/devices", &device("asha", "fcm")).await;
    let zone = json!({ "timezone": "Asia/Kolkata" });
    assert_eq!(with_key(&server, "PATCH", "/v1/users/asha/preferences", &zone).await.status, 200);
    // Tomorrow at 23:10 in Kolkata, and the morning after at 07:00.
    let midnight = (now(&server).await + AHEAD_MILLIS) / DAY_MILLIS * DAY_MILLIS + DAY_MILLIS;
    let night = midnight + 23 * 3_600_000 + 600_000 - AHEAD_MILLIS;
    let morning = midnight + DAY_MILLIS + 7 * 3_600_000 - AHEAD_MILLIS;
    move_to(&server, night).await;
    let sent = with_key(&server, "POST", "/v1/notifications/events", &event("asha", "p")).await;
    let id = sent.body[0]["id"].as_str().unwrap().to_owned();
    let path = format!("/v1/notifications/events/{id}?userId=asha");
    let deferred = until(&server, &path, |event| event["deferReason"] == "quiet_hours").await;
    assert_eq!(deferred["status"], "PENDING");
    assert_eq!(deferred["nextRetryAt"], time::format(Timestamp::from_millis(morning)));
    assert_eq!(titles(&server, "asha").await.len(), 1, "it is in the app at once");
    server.stop();
    let server = start(&data, &fake);
    move_to(&server, morning - 60_000).await;
    // Something that is dispatched now shows that the dispatcher has looked.
    let mut pressing = event("other", "p");
    pressing["eventType"] = json!("SECURITY_NEW_DEVICE");
    let other = with_key(&server, "POST", "/v1/notifications/events", &pressing).await;
    ended(&server, other.body[0]["id"].as_str().unwrap(), "other").await;
    let still = with_key(&server, "GET", &path, &Value::Null).await;
    assert_eq!(still.body["status"], "PENDING");
    assert_eq!(fake.taken().await.len(), 0, "K4: no push inside quiet hours");
    move_to(&server, morning).await;
    let event = ended(&server, &id, "asha").await;
    assert_eq!(event["outcome"], "delivered", "{event}");
    let at = time::parse(event["processedAt"].as_str().unwrap()).unwrap().millis();
    assert!((morning..=morning + 60_000).contains(&at), "{event}");
    assert_eq!(fake.taken().await.len(), 1);
    assert_eq!(titles(&server, "asha").await.len(), 1);
}
