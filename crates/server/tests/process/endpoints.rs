//! The ports file and the services port: health, readiness, the clock.

use crate::server::Server;
use serde_json::{Value, json};

#[tokio::test]
async fn the_ports_file_names_ports_that_answer() {
    let here = tempfile::tempdir().unwrap();
    let server = Server::start(&here.path().join("data"), &[]);
    let ports: Value = serde_json::from_slice(&std::fs::read(server.ports_file()).unwrap()).unwrap();
    assert_eq!(
        (&ports["cosmos"], &ports["services"]),
        (&json!(server.cosmos.port()), &json!(server.services.port()))
    );
    for name in ["queue", "table"] {
        let port = ports[name].as_u64().and_then(|port| u16::try_from(port).ok()).expect(name);
        std::net::TcpStream::connect(("127.0.0.1", port)).expect(name);
    }
    assert!(!server.ports_file().with_extension("new").exists());
    assert_eq!(server.client().read_account().await.unwrap().status, 200);
    let (status, healthy) = server.ask("GET", "/healthz", "").await;
    assert_eq!((status, &healthy["status"]), (200, &json!("ok")));
    assert!(
        server.printed().contains(&format!("AccountEndpoint=http://localhost:{}/", server.cosmos.port()))
    );
    server.stop();
}

#[tokio::test]
async fn a_ready_server_says_how_far_it_is() {
    let here = tempfile::tempdir().unwrap();
    let server = Server::start(&here.path().join("data"), &[]);
    let lsn = |(status, body): (u16, Value)| {
        assert_eq!((status, &body["status"]), (200, &json!("ready")));
        body["lsn"].as_u64().unwrap()
    };
    let before = lsn(server.ask("GET", "/readyz", "").await);
    assert_eq!(server.client().create_database("d").await.unwrap().status, 201);
    assert!(lsn(server.ask("GET", "/readyz", "").await) > before);
}

#[tokio::test]
async fn the_systems_clock_is_shown_and_cannot_be_moved() {
    let here = tempfile::tempdir().unwrap();
    let server = Server::start(&here.path().join("data"), &[]);
    let (status, clock) = server.ask("GET", "/v1/clock", "").await;
    assert_eq!((status, &clock["manual"]), (200, &json!(false)));
    let (status, problem) = server.ask("POST", "/v1/clock", r#"{"advance_seconds":5}"#).await;
    assert_eq!(status, 400);
    assert!(problem["detail"].as_str().unwrap().contains("--clock manual"), "{problem}");
}

#[tokio::test]
async fn a_manual_clock_moves_when_told_and_not_before() {
    let here = tempfile::tempdir().unwrap();
    let server = Server::start(&here.path().join("data"), &["--clock", "manual"]);
    let (_, start) = server.ask("GET", "/v1/clock", "").await;
    assert_eq!(start["manual"], true);
    let (status, moved) = server.ask("POST", "/v1/clock", r#"{"advance_seconds":2592000.5}"#).await;
    assert_eq!(status, 200);
    assert_eq!(moved["now_ms"].as_u64().unwrap(), start["now_ms"].as_u64().unwrap() + 2_592_000_500);
    assert_eq!(server.ask("GET", "/v1/clock", "").await.1, moved);
    let too_far = json!({"advance_seconds": 1e300}).to_string();
    for wrong in [
        "",
        "5",
        "{}",
        "{",
        r#"{"advance_seconds":-1}"#,
        r#"{"advance_seconds":"5"}"#,
        r#"{"advance_seconds":1,"x":2}"#,
        &too_far,
    ] {
        let (status, problem) = server.ask("POST", "/v1/clock", wrong).await;
        assert_eq!((status, problem["status"].as_u64()), (400, Some(400)), "{wrong}");
        assert!(problem["detail"].as_str().unwrap().contains("advance_seconds"), "{problem}");
    }
    assert_eq!(server.ask("GET", "/v1/clock", "").await.1, moved);
}

#[tokio::test]
async fn other_verbs_and_paths_are_problems() {
    let here = tempfile::tempdir().unwrap();
    let server = Server::start(&here.path().join("data"), &[]);
    for path in ["/healthz", "/readyz", "/v1/clock"] {
        assert_eq!(server.ask("DELETE", path, "").await.0, 405, "{path}");
    }
    let (status, problem) = server.ask("GET", "/nothing", "").await;
    let expected = json!({"type": "/v1/docs#not-there", "title": "There is no such thing", "status": 404,
        "detail": "there is nothing at /nothing", "instance": "/nothing"});
    assert_eq!((status, problem), (404, expected));
    let large = format!("{{\"advance_seconds\":5,\"x\":\"{}\"}}", "y".repeat(100_000));
    assert_eq!(server.ask("POST", "/v1/clock", &large).await.0, 400);
}
