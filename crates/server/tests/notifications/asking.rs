//! Asking the services of a server as somebody.

use crate::server::{Server, orrery, poll};
use orrery_testing_client::{Connection, EMULATOR_KEY, OwnedReply};
use serde_json::{Value, json};
use std::path::Path;
use std::time::{Duration, Instant};

pub struct Asked {
    pub status: u16,
    pub body: Value,
    pub reply: OwnedReply,
}

/// A server whose users sleep at no hour, so that a test says the same by day and by night.
pub fn start_awake(data: &Path, flags: &[&str]) -> Server {
    let policy = data.with_file_name("policy.json");
    std::fs::write(&policy, json!({ "defaultQuietHours": vec![false; 24] }).to_string()).unwrap();
    let mut all = vec!["--notifications-config", policy.to_str().unwrap()];
    all.extend(flags);
    Server::start(data, &all)
}

/// A request with headers, such as whose it is.
pub async fn ask(server: &Server, verb: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Asked {
    let reply = try_ask(server, verb, path, headers, body).await.unwrap();
    Asked { status: reply.status, body: reply.json().unwrap_or_default(), reply }
}

/// What the services port wants to hear of every body.
const JSON: &str = "content-type: application/json\r\n";

/// None if the server ends meanwhile.
pub async fn try_ask(
    server: &Server,
    verb: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: &str,
) -> Option<OwnedReply> {
    let headers: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    let request = format!(
        "{verb} {path} HTTP/1.1\r\nhost: localhost\r\n{JSON}{headers}content-length: {}\r\n\r\n{body}",
        body.len()
    );
    let mut connection = Connection::connect(server.services).await.ok()?;
    Some(connection.exchange(request.as_bytes()).await.ok()?.to_owned())
}

/// The same with the account's key.
pub async fn with_key(server: &Server, verb: &str, path: &str, body: &Value) -> Asked {
    let body = if body.is_null() { String::new() } else { body.to_string() };
    ask(server, verb, path, &[("x-api-key", EMULATOR_KEY)], &body).await
}

pub fn event(user: &str, target: &str) -> Value {
    json!({ "userId": user, "eventType": "POST_LIKE",
        "payload": { "targetId": target, "targetType": "post", "actorName": "Ann" } })
}

/// One that is pushed at any hour.
pub fn pressing(user: &str, target: &str) -> Value {
    let mut body = event(user, target);
    body["eventType"] = json!("SECURITY_NEW_DEVICE");
    body["payload"]["targetType"] = json!("user");
    body
}

/// A token as `orrery token` mints it.
pub fn token(data: &Path, user: &str, roles: &[&str]) -> String {
    let mut command = orrery(data.parent().unwrap());
    command.args(["token", "--principal", user, "--data"]).arg(data);
    for role in roles {
        command.args(["--role", role]);
    }
    let minted = command.output().unwrap();
    assert!(minted.status.success(), "{}", String::from_utf8_lossy(&minted.stderr));
    String::from_utf8(minted.stdout).unwrap().trim().to_owned()
}

/// What is at `path` once it is as wanted.
pub async fn until(server: &Server, path: &str, is_so: impl Fn(&Value) -> bool) -> Value {
    let deadline = Instant::now() + Duration::from_secs(60);
    loop {
        let asked = with_key(server, "GET", path, &Value::Null).await;
        if asked.status == 200 && is_so(&asked.body) {
            return asked.body;
        }
        assert!(Instant::now() < deadline, "waited in vain at {path}: {} {}", asked.status, asked.body);
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// An event once it is done with.
pub async fn ended(server: &Server, id: &str, user: &str) -> Value {
    let path = format!("/v1/notifications/events/{id}?userId={user}");
    until(server, &path, |event| {
        ["COMPLETED", "RATE_LIMITED", "DEDUPLICATED"].iter().any(|status| event["status"] == *status)
    })
    .await
}

pub async fn titles(server: &Server, user: &str) -> Vec<String> {
    let listed = with_key(server, "GET", &format!("/v1/users/{user}/notifications"), &Value::Null).await;
    let items = listed.body["items"].as_array().unwrap().iter();
    items.map(|item| item["title"].as_str().unwrap().to_owned()).collect()
}

pub fn wait_for_end(server: &mut Server) {
    let status = server.wait();
    assert!(!status.success(), "it was to be ended by its failpoint");
}

/// Looks at what other tests wait for as well.
pub fn looked<T>(what: &str, look: impl FnMut() -> Option<T>) -> T {
    poll(what, look)
}
