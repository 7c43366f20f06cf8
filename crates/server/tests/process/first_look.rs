//! What a person sees first: pages in a browser, lines in the log, both names of this machine.

use crate::server::{Server, make_container};
use orrery_testing_client::{Connection, EMULATOR_KEY, OwnedReply};
use serde_json::{Value, json};
use std::net::{Ipv6Addr, SocketAddr};
use std::process::Command;

async fn browse(address: SocketAddr, path: &str) -> OwnedReply {
    let port = address.port();
    let request = format!(
        "GET {path} HTTP/1.1\r\nhost: localhost:{port}\r\naccept: text/html,application/xhtml+xml;q=0.9,*/*;q=0.8\r\n\
         sec-fetch-site: none\r\nsec-fetch-mode: navigate\r\nsec-fetch-dest: document\r\n\r\n"
    );
    let mut connection = Connection::connect(address).await.unwrap();
    connection.exchange(request.as_bytes()).await.unwrap().to_owned()
}

#[tokio::test]
async fn a_browser_sees_pages_at_the_roots_of_both_ports() {
    let here = tempfile::tempdir().unwrap();
    let server = Server::start(&here.path().join("data"), &[]);
    let page = browse(server.services, "/").await;
    let text = String::from_utf8(page.body.clone()).unwrap();
    assert_eq!((page.status, page.header("content-type")), (200, Some("text/html; charset=utf-8")));
    assert!(text.contains(&format!("http://localhost:{}/", server.cosmos.port())), "{text}");
    for path in text.split("href=\"").skip(1).map(|rest| rest.split('"').next().unwrap()) {
        assert_eq!(browse(server.services, path).await.status, 200, "{path}");
    }
    assert!(page.header("content-security-policy").unwrap().contains("default-src 'none'"));
    let sentence = browse(server.cosmos, "/").await;
    let text = String::from_utf8(sentence.body.clone()).unwrap();
    assert_eq!((sentence.status, sentence.header("content-type")), (200, Some("text/html; charset=utf-8")));
    assert!(text.contains("SDK") && text.contains(&server.services.port().to_string()), "{text}");
    assert!(!text.contains(EMULATOR_KEY));
    let mut connection = Connection::connect(server.cosmos).await.unwrap();
    let program = b"GET / HTTP/1.1\r\nhost: localhost\r\naccept: application/json\r\n\r\n";
    assert_eq!(connection.exchange(program).await.unwrap().status, 401, "a program without a key is told so");
}

#[tokio::test]
async fn localhost_answers_whichever_address_it_means() {
    let here = tempfile::tempdir().unwrap();
    let server = Server::start(&here.path().join("data"), &[]);
    if std::net::TcpListener::bind((Ipv6Addr::LOCALHOST, 0)).is_err() {
        assert!(server.errors().contains("there is no IPv6 here"), "{}", server.errors());
        return;
    }
    for port in [server.cosmos.port(), server.services.port()] {
        let mut connection = Connection::connect((Ipv6Addr::LOCALHOST, port).into()).await.unwrap();
        let request = format!("GET /healthz HTTP/1.1\r\nhost: [::1]:{port}\r\n\r\n");
        assert!(connection.exchange(request.as_bytes()).await.unwrap().status < 500);
    }
}

#[tokio::test]
async fn the_request_log_has_a_line_for_each_request_and_no_secret() {
    for (format, is_json) in [("text", false), ("json", true)] {
        let here = tempfile::tempdir().unwrap();
        let flags = ["--log", "requests", "--log-format", format];
        let server = Server::start(&here.path().join("data"), &flags);
        let path = make_container(&mut server.client(), &json!({})).await;
        let mut client = server.client();
        let created = client.call(&path.create("p", r#"{"id":"a","pk":"p"}"#)).await.unwrap();
        assert_eq!(client.call(&path.read("p", "none")).await.unwrap().status, 404);
        let secret = format!("/v1/users/ann/notifications?token={EMULATOR_KEY}");
        assert_eq!(server.ask("GET", &secret, "").await.0, 401);
        let activity = created.header("x-ms-activity-id").unwrap();
        let log = server.errors();
        let line =
            |has: &str| log.lines().find(|line| line.contains(has)).unwrap_or_else(|| panic!("{has}: {log}"));
        let write = line(activity);
        if is_json {
            let fields: Value = serde_json::from_str(write).unwrap();
            let fields = &fields["fields"];
            assert_eq!(fields["method"], "POST");
            assert_eq!((&fields["path"], &fields["status"]), (&json!("/dbs/d/colls/c/docs"), &json!(201)));
            assert_eq!(fields["ru"].as_f64(), created.header("x-ms-request-charge").unwrap().parse().ok());
            assert!(fields["ms"].as_f64().unwrap() > 0.0 && fields["port"] == "cosmos");
            assert_eq!(fields.get("substatus"), None);
        } else {
            for field in [
                "port=\"cosmos\"",
                "method=\"POST\"",
                "path=\"/dbs/d/colls/c/docs\"",
                "status=201",
                "ru=",
                "ms=",
            ] {
                assert!(write.contains(field), "{field}: {write}");
            }
        }
        assert!(line("/docs/none").contains("404"));
        assert!(line("/v1/users/ann/notifications").contains("401"));
        assert!(!log.contains(EMULATOR_KEY) && !log.contains("sig="), "{log}");
        assert!(log.contains("the data folder is open"), "the rest is logged as by default: {log}");
    }
}

#[tokio::test]
async fn a_start_tells_what_it_found_and_no_request() {
    let here = tempfile::tempdir().unwrap();
    let data = here.path().join("data");
    let server = Server::start(&data, &[]);
    make_container(&mut server.client(), &json!({})).await;
    assert!(!server.errors().contains("/dbs"), "{}", server.errors());
    server.stop();
    let server = Server::start(&data, &[]);
    let log = server.errors();
    let lines: Vec<&str> = log.lines().filter(|line| line.contains("the data folder is open")).collect();
    assert!(
        lines.len() == 1 && lines[0].contains("databases=1") && lines[0].contains("containers=1"),
        "{log}"
    );
    assert!(lines[0].contains("lsn=") && lines[0].contains("ms="), "{log}");
}

#[tokio::test]
async fn a_flood_leaves_files_to_the_engine_where_few_may_be_open() {
    let here = tempfile::tempdir().unwrap();
    let scratch = tempfile::tempdir().unwrap();
    let mut command = Command::new("sh");
    command
        .args(["-c", "ulimit -n 256; exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_orrery"), "serve"])
        .env_clear();
    command.args(["--free-ports", "--data"]).arg(here.path().join("data"));
    let server = Server::run(command, scratch);
    assert!(server.errors().contains("few connections"), "{}", server.errors());
    let mut flood = Vec::new();
    for _ in 0..300 {
        flood.push(Connection::connect(server.cosmos).await.unwrap());
    }
    let path = make_container(&mut server.client(), &json!({})).await;
    for id in 0..10 {
        let created =
            server.client().call(&path.create("p", format!(r#"{{"id":"{id}","pk":"p"}}"#))).await.unwrap();
        assert_eq!(created.status, 201, "{}", server.errors());
    }
    let (_, ready) = server.ask("GET", "/readyz", "").await;
    assert_eq!(ready["status"], "ready");
}
