//! Web pages are kept out of a server on their visitor's machine: by Host, Origin and Sec-Fetch-Site, on every port.

use crate::server::{Server, orrery};
use orrery_testing_client::{Connection, OwnedReply};
use serde_json::{Value, json};
use std::net::SocketAddr;

async fn send(address: SocketAddr, request: &str, headers: &str, body: &str) -> OwnedReply {
    let head = format!("{request} HTTP/1.1\r\n{headers}content-length: {}\r\n\r\n{body}", body.len());
    let mut connection = Connection::connect(address).await.unwrap();
    connection.exchange(head.as_bytes()).await.unwrap().to_owned()
}

fn said(reply: &OwnedReply) -> String {
    reply.json().unwrap()["detail"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_page_of_another_site_moves_no_clock() {
    let here = tempfile::tempdir().unwrap();
    let server = Server::start(&here.path().join("data"), &["--clock", "manual"]);
    let before = server.ask("GET", "/v1/clock", "").await;
    let day = r#"{"advance_seconds":86400}"#;
    let plain = "content-type: text/plain\r\n";
    for (headers, status) in [
        (format!("host: localhost\r\n{plain}"), 415),
        ("host: localhost\r\n".to_owned(), 415),
        (format!("host: localhost\r\norigin: https://evil.example\r\n{plain}"), 403),
        (format!("host: localhost\r\nsec-fetch-site: cross-site\r\nsec-fetch-mode: no-cors\r\n{plain}"), 403),
        ("host: evil.example\r\ncontent-type: application/json\r\n".to_owned(), 403),
        (
            "host: localhost\r\norigin: http://localhost:3000\r\ncontent-type: application/json\r\n"
                .to_owned(),
            403,
        ),
        ("host: localhost\r\norigin: null\r\ncontent-type: application/json\r\n".to_owned(), 403),
    ] {
        let reply = send(server.services, "POST /v1/clock", &headers, day).await;
        assert_eq!(reply.status, status, "{headers}");
        assert!(!said(&reply).is_empty());
        assert_eq!(reply.header("access-control-allow-origin"), None, "{headers}");
    }
    assert_eq!(server.ask("GET", "/v1/clock", "").await, before);
}

#[tokio::test]
async fn a_name_that_is_bound_to_this_machine_by_others_reaches_no_port() {
    let here = tempfile::tempdir().unwrap();
    let server = Server::start(&here.path().join("data"), &[]);
    for address in [server.cosmos, server.services] {
        for path in ["/", "/dbs", "/healthz", "/v1/keys"] {
            let reply = send(address, &format!("GET {path}"), "host: rebound.example:8081\r\n", "").await;
            assert_eq!(reply.status, 403, "{path}");
            assert!(said(&reply).contains("--allow-host rebound.example:8081"), "{}", said(&reply));
            assert_eq!(reply.json().unwrap()["message"], said(&reply), "SDKs show the member message");
        }
    }
}

#[tokio::test]
async fn a_link_may_be_followed_and_the_servers_own_pages_may_ask() {
    let here = tempfile::tempdir().unwrap();
    let server = Server::start(&here.path().join("data"), &[]);
    let link = "host: localhost\r\nsec-fetch-site: cross-site\r\nsec-fetch-mode: navigate\r\nsec-fetch-dest: document\r\n";
    assert_eq!(send(server.services, "GET /v1/docs", link, "").await.status, 200);
    let port = server.services.port();
    let own = format!(
        "host: localhost:{port}\r\norigin: http://localhost:{port}\r\nsec-fetch-site: same-origin\r\n"
    );
    assert_eq!(send(server.services, "GET /healthz", &own, "").await.status, 200);
}

#[tokio::test]
async fn names_and_origins_are_configured() {
    let here = tempfile::tempdir().unwrap();
    let flags = ["--allow-host", "db.test", "--allow-origin", "http://localhost:3000"];
    let server = Server::start(&here.path().join("data"), &flags);
    assert_eq!(send(server.services, "GET /healthz", "host: DB.test:8080\r\n", "").await.status, 200);
    let page = "host: localhost\r\norigin: http://localhost:3000\r\nsec-fetch-site: same-site\r\n";
    for address in [server.cosmos, server.services] {
        let asked = format!(
            "{page}access-control-request-method: PUT\r\naccess-control-request-headers: authorization,x-ms-date\r\n"
        );
        let preflight = send(address, "OPTIONS /v1/schemas/d/c", &asked, "").await;
        assert_eq!(preflight.status, 204);
        assert_eq!(preflight.header("access-control-allow-origin"), Some("http://localhost:3000"));
        assert_eq!(preflight.header("access-control-allow-methods"), Some("PUT"));
        assert_eq!(preflight.header("access-control-allow-headers"), Some("authorization,x-ms-date"));
        let answer = send(address, "GET /nothing", page, "").await;
        assert_eq!(answer.header("access-control-allow-origin"), Some("http://localhost:3000"));
        assert_eq!(answer.header("access-control-expose-headers"), Some("*"));
    }
    let other = page.replace("3000", "3001");
    assert_eq!(send(server.services, "GET /healthz", &other, "").await.status, 403);
}

#[tokio::test]
async fn off_loopback_any_name_is_served_and_a_foreign_page_is_not() {
    let here = tempfile::tempdir().unwrap();
    let scratch = tempfile::tempdir().unwrap();
    let mut command = orrery(scratch.path());
    command.args(["serve", "--host", "0.0.0.0", "--free-ports"]);
    command.args(["--advertise", "db.example:443", "--data"]).arg(here.path().join("data"));
    let server = Server::run(command, scratch);
    assert_eq!(send(server.services, "GET /healthz", "host: whoever.example\r\n", "").await.status, 200);
    let page = "host: whoever.example\r\norigin: https://evil.example\r\n";
    assert_eq!(send(server.services, "GET /healthz", page, "").await.status, 403);
    let printed = server.printed();
    assert!(printed.contains("AccountEndpoint=http://db.example:443/"), "{printed}");
    assert!(!printed.contains("0.0.0.0"), "{printed}");
}

#[tokio::test]
async fn the_account_names_the_endpoint_that_is_advertised() {
    let here = tempfile::tempdir().unwrap();
    let endpoint = |account: &Value| account["writableLocations"][0]["databaseAccountEndpoint"].clone();
    let server = Server::start(&here.path().join("a"), &["--advertise", "db.example:443"]);
    let account = server.client().read_account().await.unwrap().json().unwrap();
    assert_eq!(endpoint(&account), json!("http://db.example:443/"));
    assert_eq!(account["readableLocations"], account["writableLocations"]);
    assert_eq!(send(server.services, "GET /healthz", "host: db.example\r\n", "").await.status, 200);
}
