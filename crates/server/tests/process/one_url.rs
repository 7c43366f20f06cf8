//! `--url` is all that a verb needs: the services port is found from it, and never belongs to another server.

use crate::server::{Server, orrery};
use serde_json::{Value, json};
use std::io::{Read as _, Write as _};
use std::path::Path;

const BLUEPRINT: &str = "
blueprint: shop
database: shop
containers:
  - id: orders
    partitionKey: /customer
    schema: {validation: enforce, schema: {required: [customer]}}
";

struct Said {
    code: Option<i32>,
    out: String,
    errors: String,
}

fn run(here: &Path, arguments: &[&str]) -> Said {
    let output = orrery(here).args(arguments).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Said { code: output.status.code(), out: text(output.stdout), errors: text(output.stderr) }
}

fn url(server: &Server) -> String {
    format!("http://{}", server.cosmos)
}

async fn has_schema(server: &Server) -> bool {
    server.ask("GET", "/v1/schemas/shop/orders", "").await.0 == 200
}

#[tokio::test]
async fn a_schema_goes_to_the_server_that_the_url_names_and_to_no_other() {
    let here = tempfile::tempdir().unwrap();
    std::fs::write(here.path().join("shop.yaml"), BLUEPRINT).unwrap();
    let a = Server::start(&here.path().join("a"), &["--durability", "relaxed"]);
    let b = Server::start(&here.path().join("b"), &["--durability", "relaxed"]);
    let of_b = format!("http://{}", b.services);
    let mixed = run(here.path(), &["apply", "shop.yaml", "--url", &url(&a), "--services-url", &of_b]);
    assert_eq!(mixed.code, Some(2), "{}", mixed.errors);
    assert!(mixed.errors.contains(&format!("{of_b} is a port of another server than {}", url(&a))));
    let databases = run(
        here.path(),
        &["query", "SELECT 1", "--url", &url(&a), "--database", "shop", "--container", "orders"],
    );
    assert!(databases.errors.contains("404"), "nothing was begun: {}", databases.errors);
    let applied = run(here.path(), &["apply", "shop.yaml", "--url", &url(&a)]);
    assert_eq!(applied.code, Some(0), "{}", applied.errors);
    assert_eq!((has_schema(&a).await, has_schema(&b).await), (true, false));
}

#[tokio::test]
async fn one_environment_variable_is_enough_for_every_verb() {
    let here = tempfile::tempdir().unwrap();
    let server = Server::start(&here.path().join("data"), &["--durability", "relaxed"]);
    for arguments in [
        &["top", "--once"][..],
        &["alerts"],
        &["cost"],
        &["advise"],
        &["doctor"],
        &["keys", "ls"],
        &["role", "ls"],
        &["notify", "ls", "--user", "ann"],
        &["notify", "stats"],
        &["table", "ls"],
        &["queue", "ls"],
        &["account", "ls"],
    ] {
        let mut command = orrery(here.path());
        if arguments[0] == "keys" {
            // The published key opens everything else.
            let keys = std::fs::read(here.path().join("data/keys.json")).unwrap();
            let keys: Value = serde_json::from_slice(&keys).unwrap();
            command.env("ORRERY_KEY", keys["primary"].as_str().unwrap());
        }
        let output = command.args(arguments).env("ORRERY_URL", url(&server)).output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    }
}

#[tokio::test]
async fn https_is_spoken_to_both_ports() {
    let here = tempfile::tempdir().unwrap();
    let server = Server::start(&here.path().join("data"), &[]);
    let secure = format!("https://localhost:{}", server.cosmos.port());
    let said = run(here.path(), &["top", "--once", "--json", "--url", &secure]);
    assert_eq!(said.code, Some(0), "{}", said.errors);
    assert!(serde_json::from_str::<Value>(&said.out).unwrap()["containers"].is_array());
    assert_eq!(run(here.path(), &["alerts", "--url", &secure, "--ca", "data/cert.pem"]).code, Some(0));
    let other = Server::start(&here.path().join("other"), &[]);
    let refused = run(here.path(), &["alerts", "--url", &secure, "--ca", "other/cert.pem"]);
    assert!(refused.code == Some(2) && refused.errors.contains("certificate"), "{}", refused.errors);
    drop(other);
}

#[tokio::test]
async fn the_id_belongs_to_the_folder() {
    let here = tempfile::tempdir().unwrap();
    let id = async |folder: &str| {
        let server = Server::start(&here.path().join(folder), &[]);
        let told = server.client().read_account().await.unwrap().json().unwrap()["orrery"].clone();
        let healthy = server.ask("GET", "/healthz", "").await.1;
        let ports: Value = serde_json::from_slice(&std::fs::read(server.ports_file()).unwrap()).unwrap();
        let expected = json!({
            "accountId": healthy["accountId"],
            "servicesPort": ports["services"],
            "queuePort": ports["queue"],
            "tablePort": ports["table"],
        });
        assert_eq!(told, expected);
        server.stop();
        told["accountId"].as_str().unwrap().to_owned()
    };
    let (first, again, other) = (id("a").await, id("a").await, id("b").await);
    assert_eq!((first.len(), &first), (36, &again));
    assert_ne!(first, other);
}

/// Answers one request as an account that is no Orrery.
fn another_service() -> String {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let _ = stream.read(&mut [0; 4096]).unwrap();
        stream
            .write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 14\r\n\r\n{\"id\":\"azure\"}"[..].as_ref())
            .unwrap();
    });
    url
}

#[test]
fn a_server_that_does_not_tell_its_services_port_is_not_guessed_at() {
    let here = tempfile::tempdir().unwrap();
    let said = run(here.path(), &["top", "--url", &another_service()]);
    assert_eq!(said.code, Some(2));
    assert!(said.errors.contains("does not say where its services are"), "{}", said.errors);
}
