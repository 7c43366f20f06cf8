//! `orrery notify` as people and scripts use it.

use crate::asking::{ended, start_awake};
use crate::server::{Server, orrery};
use serde_json::{Value, json};
use std::path::Path;
use std::process::Output;

fn notify(server: &Server, here: &Path, arguments: &[&str]) -> Output {
    let url = format!("http://{}", server.cosmos);
    orrery(here).arg("notify").args(arguments).args(["--url", &url]).output().unwrap()
}

fn told(output: &Output) -> Value {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[tokio::test]
async fn verbs_send_list_read_and_change() {
    let here = tempfile::tempdir().unwrap();
    let server = start_awake(&here.path().join("data"), &["--durability", "relaxed"]);
    let run = |arguments: &[&str]| notify(&server, here.path(), arguments);
    let sent = told(&run(&[
        "send",
        "--user",
        "ann",
        "--type",
        "POST_LIKE",
        "--target",
        "p",
        "--actor-name",
        "Ben",
        "--json",
    ]));
    let id = sent[0]["id"].as_str().unwrap().to_owned();
    ended(&server, &id, "ann").await;
    let listed = run(&["ls", "--user", "ann"]);
    let text = String::from_utf8(listed.stdout).unwrap();
    assert!(text.contains("SOCIAL") && text.contains(&id), "{text}");
    assert_eq!(told(&run(&["event", &id, "--json"]))["status"], "COMPLETED");
    assert_eq!(told(&run(&["read", "--user", "ann", &id, "--json"]))["read"], true);
    assert_eq!(told(&run(&["read", "--user", "ann", "--json"]))["read"], 0);
    assert_eq!(told(&run(&["dismiss", "--user", "ann", &id, "--json"]))["dismissed"], true);
    let prefs =
        told(&run(&["prefs", "--user", "ann", "--timezone", "Asia/Kolkata", "--quiet", "21-8", "--json"]));
    assert_eq!(
        (&prefs["timezone"], &prefs["quietHours"][7], &prefs["quietHours"][8]),
        (&json!("Asia/Kolkata"), &json!(true), &json!(false))
    );
    let device = told(&run(&[
        "devices",
        "add",
        "--user",
        "ann",
        "--device",
        "d",
        "--platform",
        "fcm",
        "--push-token",
        "t",
        "--json",
    ]));
    assert_eq!(device["deviceId"], "d");
    assert!(told(&run(&["devices", "ls", "--user", "ann", "--json"]))["items"][0].get("pushToken").is_none());
    assert_eq!(told(&run(&["devices", "revoke", "--user", "ann", "d", "--json"]))["revokeReason"], "user");
    assert_eq!(told(&run(&["purge", "--older-than", "90d", "--json"]))["purged"], 0);
    assert_eq!(told(&run(&["events", "--status", "FAILED", "--json"]))["items"], json!([]));
    let refused = run(&["send", "--user", "ann", "--type", "NOTHING", "--target", "p"]);
    let said = String::from_utf8(refused.stderr).unwrap();
    assert!(refused.status.code() == Some(2) && said.contains("eventType"), "{said}");
    let refused = run(&["requeue", &id]);
    assert!(String::from_utf8(refused.stderr).unwrap().contains("409"));
    // With what tells others of the marks.
    assert_eq!(told(&run(&["erase", "--user", "ann", "--yes", "--json"]))["notifications"], 3);
}

#[test]
fn a_day_is_replayed_against_a_policy() {
    let here = tempfile::tempdir().unwrap();
    let day = here.path().join("day.jsonl");
    let like = |at: &str, target: &str, key: Option<&str>| {
        let mut event = json!({ "userId": "ann", "eventType": "POST_LIKE",
            "payload": { "targetId": target, "targetType": "post", "actorName": "Ben" } });
        if let Some(key) = key {
            event["dedupeKey"] = json!(key);
        }
        json!({ "at": at, "event": event }).to_string()
    };
    let mut lines = vec![
        json!({ "at": "2026-11-15T06:00:00Z", "preferences": { "userId": "ann", "timezone": "Asia/Kolkata" } }).to_string(),
        // 17:00 in Kolkata: pushed; a second one of the key joins it.
        like("2026-11-15T11:30:00Z", "p1", Some("likes")),
        like("2026-11-15T11:31:00Z", "p1", Some("likes")),
        // 23:10 there: waits for the morning.
        like("2026-11-15T17:40:00Z", "p2", None),
    ];
    lines.extend((0..6).map(|at| like(&format!("2026-11-16T05:0{at}:00Z"), "p3", None)));
    std::fs::write(&day, lines.join("\n")).unwrap();
    let output = orrery(here.path()).args(["notify", "sim", "--json"]).arg(&day).output().unwrap();
    let told = told(&output);
    let summary = &told["summary"];
    // Four of one target in a quarter of an hour are pushed, two are not (C-42).
    assert_eq!(
        summary,
        &json!({ "events": 9, "pushed": 6, "deferred": 1, "rateLimited": 2, "deduplicated": 1, "suppressed": 0, "waiting": 0 }),
        "{told:#}"
    );
    let deferred =
        told["events"].as_array().unwrap().iter().find(|event| event["at"] == "2026-11-15T17:40:00.000Z");
    assert_eq!(deferred.unwrap()["pushes"][0]["at"], "2026-11-16T01:30:00.000Z", "07:00 in Kolkata");
    let again = orrery(here.path()).args(["notify", "sim", "--json"]).arg(&day).output().unwrap();
    assert_eq!(again.stdout, output.stdout, "the same day is the same each time");
    let drawn = orrery(here.path()).args(["notify", "sim"]).arg(&day).output().unwrap();
    assert!(String::from_utf8(drawn.stdout).unwrap().contains("rateLimited 2"));
    std::fs::write(&day, "{\"at\": \"noon\", \"event\": {}}").unwrap();
    let refused = orrery(here.path()).args(["notify", "sim"]).arg(&day).output().unwrap();
    let said = String::from_utf8(refused.stderr).unwrap();
    assert!(refused.status.code() == Some(2) && said.contains("day.jsonl:1"), "{said}");
}

#[tokio::test]
async fn the_doctor_finds_nothing_wrong_with_a_server_that_is_well() {
    let here = tempfile::tempdir().unwrap();
    let server = Server::start(&here.path().join("data"), &[]);
    let doctor = |more: &[&str]| {
        let mut command = orrery(here.path());
        command.args(["doctor", "--url", &format!("http://{}", server.cosmos)]);
        command.args(more).output().unwrap()
    };
    let well = doctor(&["--json"]);
    let told: Value = serde_json::from_slice(&well.stdout).unwrap();
    assert_eq!((well.status.code(), &told["healthy"]), (Some(0), &json!(true)), "{told:#}");
    let wrong = doctor(&["--key", "bm90IGEga2V5"]);
    let said = String::from_utf8(wrong.stdout).unwrap();
    assert_eq!(wrong.status.code(), Some(1), "{said}");
    assert!(said.contains("bad   key") && said.contains("bad   server"), "{said}");
    let missing = doctor(&["--push-config", "none.json"]);
    assert!(String::from_utf8(missing.stdout).unwrap().contains("bad   providers  --push-config none.json"));
    let nobody = orrery(here.path()).args(["doctor", "--url", "http://127.0.0.1:1"]).output().unwrap();
    assert_eq!(nobody.status.code(), Some(1));
    assert!(String::from_utf8(nobody.stdout).unwrap().contains("bad   server"));
}
