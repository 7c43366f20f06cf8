//! Bad input, each with its member and its reason; bad configuration, before and after the start.

use crate::asking::{ask, event, pressing, until, with_key};
use crate::fake::device;
use crate::server::{Server, orrery};
use orrery_testing_client::EMULATOR_KEY;
use serde_json::{Value, json};

#[tokio::test]
async fn bad_input_names_the_member_and_the_reason() {
    let here = tempfile::tempdir().unwrap();
    let server = Server::start(&here.path().join("data"), &["--durability", "relaxed"]);
    let with = |change: &dyn Fn(&mut Value)| {
        let mut body = event("ann", "p");
        change(&mut body);
        body
    };
    let settings = |zone: &str, hours: usize| {
        json!({ "timezone": zone, "quietHours": vec![false; hours],
        "categories": { "social": true, "news": true, "marketing": true } })
    };
    let events = "/v1/notifications/events";
    let preferences = "/v1/users/ann/preferences";
    for (verb, path, body, member) in [
        ("POST", events, with(&|body| body["eventType"] = json!("POST_EATEN")), "eventType"),
        ("POST", events, with(&|body| body["category"] = json!("NEWS")), "category"),
        (
            "POST",
            events,
            with(&|body| drop(body["payload"].as_object_mut().unwrap().remove("targetId"))),
            "payload.targetId",
        ),
        ("POST", events, with(&|body| body["payload"]["extra"] = json!("x".repeat(100_000))), "payload"),
        ("PUT", preferences, settings("Mars/Olympus", 24), "timezone"),
        ("PUT", preferences, settings("UTC", 23), "quietHours"),
        ("PUT", preferences, settings("UTC", 25), "quietHours"),
    ] {
        let refused = with_key(&server, verb, path, &body).await;
        assert_eq!((refused.status, &refused.body["member"]), (400, &json!(member)), "{}", refused.body);
        assert!(refused.body["reason"].as_str().is_some_and(|reason| !reason.is_empty()), "{}", refused.body);
        assert_eq!(refused.reply.header("content-type"), Some("application/problem+json"));
    }
    let large = with(&|body| body["payload"]["extra"] = json!("x".repeat(300_000))).to_string();
    let refused = ask(&server, "POST", events, &[("x-api-key", EMULATOR_KEY)], &large).await;
    assert_eq!(
        (refused.status, &refused.body["type"]),
        (413, &json!("/v1/docs#too-large")),
        "{}",
        refused.body
    );
    let listed = with_key(&server, "GET", events, &Value::Null).await;
    assert_eq!(listed.body["items"], json!([]), "nothing of it was kept");
}

#[test]
fn a_configuration_that_is_not_understood_keeps_the_server_from_starting() {
    let here = tempfile::tempdir().unwrap();
    let check = |name: &str, text: &str, flag: &str, fragment: &str| {
        let path = here.path().join(name);
        std::fs::write(&path, text).unwrap();
        let mut command = orrery(here.path());
        command.args(["serve", "--free-ports", "--data"]).arg(here.path().join("data"));
        let ended = command.arg(flag).arg(&path).output().unwrap();
        let said = String::from_utf8(ended.stderr).unwrap();
        assert_eq!(ended.status.code(), Some(2), "{said}");
        assert!(said.contains(flag) && said.contains(fragment), "{said}");
        assert_eq!(said.lines().count(), 1, "{said}");
    };
    check("policy.json", r#"{"dedupeMinutes": 0}"#, "--notifications-config", "dedupeMinutes");
    check("policy2.json", r#"{"dedupMinutes": 5}"#, "--notifications-config", "dedupMinutes");
    check("push.json", "{", "--push-config", "");
    let apns =
        r#"{"apns": {"keyFile": "none.p8", "keyId": "ABC1234567", "teamId": "DEF1234567", "topic": "t"}}"#;
    check("push2.json", apns, "--push-config", "none.p8");
    std::fs::write(
        here.path().join("bad.p8"),
        "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n",
    )
    .unwrap();
    let apns =
        r#"{"apns": {"keyFile": "bad.p8", "keyId": "ABC1234567", "teamId": "DEF1234567", "topic": "t"}}"#;
    check("push3.json", apns, "--push-config", "");
    for (flags, fragment) in [
        (&["--store", "https://127.0.0.1:1"][..], "--store-key or --store-token"),
        (&["--store-key", "a2V5"], "say which with --store"),
        (&["--services-rate", "0"], "let no request in"),
    ] {
        let mut command = orrery(here.path());
        command.args(["serve", "--free-ports", "--data"]).arg(here.path().join("data"));
        let ended = command.args(flags).output().unwrap();
        let said = String::from_utf8(ended.stderr).unwrap();
        assert!(ended.status.code() == Some(2) && said.contains(fragment), "{said}");
    }
}

/// No event is lost by a provider that is not configured, and everybody who asks is told.
#[tokio::test]
async fn a_provider_that_is_missing_is_told_by_readiness_and_by_the_doctor() {
    let here = tempfile::tempdir().unwrap();
    let server = Server::start(&here.path().join("data"), &["--durability", "relaxed"]);
    assert_eq!(with_key(&server, "POST", "/v1/users/ann/devices", &device("d", "fcm")).await.status, 201);
    let sent = with_key(&server, "POST", "/v1/notifications/events", &pressing("ann", "p")).await;
    assert_eq!(sent.status, 202, "{}", sent.body);
    let id = sent.body[0]["id"].as_str().unwrap();
    let waiting = until(&server, &format!("/v1/notifications/events/{id}?userId=ann"), |event| {
        event["deferReason"] == "provider_misconfigured"
    })
    .await;
    assert!(waiting["nextRetryAt"].is_string(), "{waiting}");
    let (status, ready) = server.ask("GET", "/readyz", "").await;
    assert_eq!((status, &ready["status"]), (200, &json!("degraded")), "{ready}");
    let trouble = ready["services"]["notifications"]["troubles"][0].as_str().unwrap();
    assert!(trouble.contains("--push-config"), "{trouble}");
    let doctor =
        orrery(here.path()).args(["doctor", "--url", &format!("http://{}", server.cosmos)]).output().unwrap();
    let said = String::from_utf8(doctor.stdout).unwrap();
    // Nobody configured one, so nothing is broken.
    assert_eq!(doctor.status.code(), Some(0), "{said}");
    assert!(
        said.lines().any(|line| line.starts_with("look  providers") && line.contains("--push-config")),
        "{said}"
    );
    for fine in ["server", "disk", "clock", "key", "services"] {
        assert!(said.lines().any(|line| line.starts_with(&format!("ok    {fine}"))), "{fine} in {said}");
    }
    let still = with_key(&server, "GET", "/v1/users/ann/notifications", &Value::Null).await;
    assert_eq!(still.body["items"].as_array().unwrap().len(), 1, "it is in the app");
}
