//! Who may use the administrative routes of the services port: keys, tokens, and on loopback the operator.

use crate::server::{Server, make_container, orrery};
use orrery_core::Env;
use orrery_testing_client::{Client, Connection, EMULATOR_KEY, OwnedReply};
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

/// Routes that show something, and what the first of them would show is a query's rows.
const SHOWING: [&str; 8] = [
    "/v1/blueprints/asora-notifications/queries/pending-events?now=2026-11-15T00:00:00Z",
    "/v1/blueprints",
    "/metrics",
    "/v1/clock",
    "/v1/alerts",
    "/v1/top",
    "/v1/cost",
    "/v1/schemas/d/c",
];

async fn send(server: &Server, request: &str, headers: &str, body: &str) -> OwnedReply {
    let head = format!(
        "{request} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n{headers}content-length: {}\r\n\r\n{body}",
        body.len()
    );
    let mut connection = Connection::connect(server.services).await.unwrap();
    connection.exchange(head.as_bytes()).await.unwrap().to_owned()
}

/// A server that others can reach too.
fn exposed(data: &Path) -> Server {
    let scratch = tempfile::tempdir().unwrap();
    let mut command = orrery(scratch.path());
    command.args(["serve", "--host", "0.0.0.0", "--free-ports"]);
    command.args(["--blueprint", "asora-notifications", "--data"]).arg(data);
    Server::run(command, scratch)
}

fn keys(data: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(data.join("keys.json")).unwrap()).unwrap()
}

#[tokio::test]
async fn off_loopback_a_peer_on_the_same_machine_is_nobody() {
    let here = tempfile::tempdir().unwrap();
    let data = here.path().join("data");
    let server = exposed(&data);
    for path in SHOWING {
        let refused = send(&server, &format!("GET {path}"), "", "").await;
        assert_eq!(
            (refused.status, refused.header("www-authenticate")),
            (401, Some("Bearer realm=\"orrery\"")),
            "{path}"
        );
    }
    let schema = r#"{"validation":"enforce","schema":{"type":"object"}}"#;
    let put = "PUT /v1/schemas/asora/NotificationEvents";
    assert_eq!(send(&server, put, "", schema).await.status, 401);
    assert_eq!(send(&server, put, &format!("x-api-key: {EMULATOR_KEY}\r\n"), schema).await.status, 401);
    assert_eq!(send(&server, "GET /healthz", "", "").await.status, 200);
    let ready = send(&server, "GET /readyz", "", "").await;
    assert_eq!((ready.status, ready.json().unwrap()), (200, json!({"status": "ready"})));
    let keys = keys(&data);
    let with = |kind: &str| format!("x-api-key: {}\r\n", keys[kind].as_str().unwrap());
    for path in &SHOWING[..7] {
        for kind in ["primary", "primary_readonly"] {
            assert_eq!(send(&server, &format!("GET {path}"), &with(kind), "").await.status, 200, "{path}");
        }
    }
    let bearer = with("secondary_readonly").replace("x-api-key: ", "authorization: Bearer ");
    assert_eq!(send(&server, "GET /metrics", &bearer, "").await.status, 200, "as Prometheus sends it");
    let read_only = send(&server, put, &with("primary_readonly"), schema).await;
    assert_eq!(read_only.status, 403);
    assert!(send(&server, "GET /readyz", &with("primary"), "").await.json().unwrap()["lsn"].is_u64());
}

#[tokio::test]
async fn on_loopback_the_operator_needs_no_key_unless_a_proxy_speaks() {
    let here = tempfile::tempdir().unwrap();
    let data = here.path().join("data");
    let server = Server::start(&data, &["--clock", "manual"]);
    make_container(&mut server.client(), &json!({})).await;
    let schema = r#"{"validation":"enforce","schema":{"type":"object"}}"#;
    assert_eq!(send(&server, "PUT /v1/schemas/d/c", "", schema).await.status, 200);
    let advance = r#"{"advance_seconds":5}"#;
    for path in &SHOWING[1..] {
        assert_eq!(send(&server, &format!("GET {path}"), "", "").await.status, 200, "{path}");
    }
    for header in [
        "x-forwarded-for: 203.0.113.9",
        "forwarded: for=203.0.113.9",
        "x-forwarded-proto: https",
        "via: 1.1 proxy",
        "x-real-ip: 203.0.113.9",
        "x-api-key: bm90IGEga2V5",
        "authorization: Bearer bm90IGEga2V5",
        "authorization: type=master&ver=1.0&sig=bm90IGEga2V5",
    ] {
        let header = format!("{header}\r\n");
        for path in SHOWING {
            assert_eq!(
                send(&server, &format!("GET {path}"), &header, "").await.status,
                401,
                "{path} {header}"
            );
        }
        assert_eq!(send(&server, "POST /v1/clock", &header, advance).await.status, 401, "{header}");
        assert_eq!(send(&server, "DELETE /v1/schemas/d/c", &header, "").await.status, 401, "{header}");
    }
    let proxied = format!("x-forwarded-for: 203.0.113.9\r\nx-api-key: {EMULATOR_KEY}\r\n");
    assert_eq!(
        send(&server, "GET /v1/top", &proxied, "").await.status,
        200,
        "a credential counts through a proxy"
    );
    assert_eq!(
        send(&server, "GET /v1/roles", "", "").await.status,
        401,
        "credentials are never for the operator alone"
    );
    let keys = format!("authorization: Bearer {EMULATOR_KEY}\r\nx-forwarded-for: 203.0.113.9\r\n");
    assert_eq!(send(&server, "GET /v1/keys", &keys, "").await.status, 403, "keys do not leave the machine");
    let users = send(&server, "GET /v1/users/ann/notifications", "", "").await;
    assert_eq!(users.status, 401, "a user's routes want a credential everywhere");
}

#[tokio::test]
async fn a_token_opens_what_its_role_opens() {
    let here = tempfile::tempdir().unwrap();
    let data = here.path().join("data");
    let server = Server::start(&data, &[]);
    let mint = |role: &str| {
        let mut command = orrery(here.path());
        let output = command.arg("token").arg("--data").arg(&data).args(["--role", role]).output().unwrap();
        format!("authorization: Bearer {}\r\n", String::from_utf8(output.stdout).unwrap().trim())
    };
    let (administrator, other) = (mint("orrery.admin"), mint("notifications.admin"));
    assert_eq!(send(&server, "GET /v1/top", &administrator, "").await.status, 200);
    assert_eq!(send(&server, "GET /v1/roles", &administrator, "").await.status, 200);
    let refused = send(&server, "GET /v1/top", &other, "").await;
    assert_eq!(refused.status, 403);
    assert!(refused.json().unwrap()["detail"].as_str().unwrap().contains("orrery.admin"));
}

#[tokio::test]
async fn verbs_show_their_key_so_that_they_work_off_loopback() {
    let here = tempfile::tempdir().unwrap();
    let data = here.path().join("data");
    let server = exposed(&data);
    let key = keys(&data)["primary"].as_str().unwrap().to_owned();
    let run = |key: Option<&str>, arguments: &[&str]| {
        let mut command: Command = orrery(here.path());
        command.args(arguments).args(["--url", &format!("http://{}", server.cosmos)]);
        command.args(["--services-url", &format!("http://{}", server.services)]);
        if let Some(key) = key {
            command.args(["--key", key]);
        }
        let output = command.output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    let schema = here.path().join("schema.json");
    std::fs::write(&schema, r#"{"validation":"warn","schema":{"type":"object"}}"#).unwrap();
    let container = ["--database", "asora", "--container", "notification_events"];
    let set = [&["schema", "set", schema.to_str().unwrap()][..], &container].concat();
    for verb in
        [&["advise"][..], &["alerts"], &["cost"], &["apply", "asora-notifications"], &["role", "ls"], &set]
    {
        let (code, errors) = run(Some(&key), verb);
        assert_eq!(code, Some(0), "{verb:?}: {errors}");
        let (code, errors) = run(None, verb);
        assert!(code == Some(2) && errors.contains("401"), "{verb:?}: {errors}");
    }
}

#[tokio::test]
async fn the_data_folder_is_its_owners() {
    let here = tempfile::tempdir().unwrap();
    let data = here.path().join("data");
    let mode = || std::fs::metadata(&data).unwrap().permissions().mode() & 0o777;
    Server::start(&data, &[]).stop();
    assert_eq!(mode(), 0o700);
    std::fs::set_permissions(&data, std::fs::Permissions::from_mode(0o755)).unwrap();
    let server = Server::start(&data, &[]);
    assert_eq!(mode(), 0o700);
    assert!(server.errors().contains("its mode is 700 now"), "{}", server.errors());
}

#[tokio::test]
async fn a_failed_start_leaves_no_folder_behind() {
    let here = tempfile::tempdir().unwrap();
    let data = here.path().join("some/data");
    let other = Server::start(&here.path().join("other"), &[]);
    let taken = other.cosmos.port().to_string();
    for flags in [
        &["--cosmos-port", &taken, "--free-ports"][..],
        &["--free-ports", "--blueprint", "no-such-blueprint"],
        &["--free-ports", "--issuer", "http://login.example"],
    ] {
        let mut command = orrery(here.path());
        let output = command.args(["serve", "--data"]).arg(&data).args(flags).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{flags:?}");
        assert!(!here.path().join("some").exists(), "{flags:?}: {}", String::from_utf8_lossy(&output.stderr));
    }
    assert_eq!(Client::new(other.cosmos, Env::system().unwrap()).read_account().await.unwrap().status, 200);
}
