//! The disk's reserve: below it writes are refused before the engine meets a full disk, and reads go on.

use crate::server::{Server, make_container, message};
use serde_json::json;

/// More than any disk has.
const ALL_OF_IT: &str = "1000000000000";

#[tokio::test]
async fn below_the_reserve_writes_are_refused_and_reads_answered() {
    let here = tempfile::tempdir().unwrap();
    let data = here.path().join("data");
    let server = Server::start(&data, &[]);
    let path = make_container(&mut server.client(), &json!({})).await;
    assert_eq!(
        server.client().create_item(&path, "p", &json!({"id": "a", "pk": "p"})).await.unwrap().status,
        201
    );
    server.stop();
    let server = Server::start(&data, &["--disk-reserve-mb", ALL_OF_IT]);
    let mut client = server.client();
    assert_eq!(server.ask("GET", "/readyz", "").await.0, 200, "nothing has failed yet");
    for id in ["a", "b"] {
        let refused = client.upsert_item(&path, "p", &json!({"id": id, "pk": "p", "n": 1})).await.unwrap();
        assert_eq!(refused.status, 503);
        assert!(message(&refused).contains("make room"), "{}", message(&refused));
    }
    assert_eq!(client.create_database("e").await.unwrap().status, 503);
    let read = client.read_item(&path, "p", "a").await.unwrap();
    assert_eq!((read.status, read.json().unwrap().get("n")), (200, None));
    assert_eq!(client.read_item(&path, "p", "b").await.unwrap().status, 404);
    let (status, problem) = server.ask("GET", "/readyz", "").await;
    assert_eq!(status, 503);
    assert!(problem["detail"].as_str().unwrap().contains("make room"), "{problem}");
    assert_eq!(server.ask("GET", "/healthz", "").await.0, 200);
    server.stop();
    let server = Server::start(&data, &[]);
    assert_eq!(
        server.client().create_item(&path, "p", &json!({"id": "b", "pk": "p"})).await.unwrap().status,
        201
    );
}

#[tokio::test]
async fn a_server_whose_own_writes_are_refused_is_alive_and_not_ready() {
    let here = tempfile::tempdir().unwrap();
    let data = here.path().join("data");
    let server = Server::start(&data, &["--clock", "manual"]);
    let path = make_container(&mut server.client(), &json!({"defaultTtl": 5})).await;
    assert_eq!(
        server.client().create_item(&path, "p", &json!({"id": "a", "pk": "p"})).await.unwrap().status,
        201
    );
    server.stop();
    let server = Server::start(&data, &["--clock", "manual", "--disk-reserve-mb", ALL_OF_IT]);
    server.advance(3600).await;
    let problem = server.readiness(503).await;
    assert!(problem["detail"].as_str().unwrap().contains("make room"), "{problem}");
    assert_eq!(server.ask("GET", "/healthz", "").await.0, 200);
    assert_eq!(
        server.client().read_item(&path, "p", "a").await.unwrap().status,
        404,
        "it has expired all the same"
    );
    server.stop();
}
