//! README's commands, in their order, from a folder where nothing is: each must do what it is there for.
//!
//! What the README starts in the background is started here on free ports, and `curl` is played by the test.

use crate::server::{Server, orrery, poll};
use orrery_testing_client::{ContainerPath, Method, Request};
use serde_json::{Value, json};
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::LazyLock;

static README: LazyLock<String> = LazyLock::new(|| {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../README.md");
    std::fs::read_to_string(path).unwrap()
});

/// The commands after `$ `, without comments, of the section with this heading.
fn commands(heading: &str) -> Vec<String> {
    let section = README.split("\n## ").find(|section| section.starts_with(heading)).unwrap();
    let joined = section.replace("\\\n", " ");
    let lines = joined.lines().filter_map(|line| line.strip_prefix("$ "));
    lines.map(|line| line.split(" #").next().unwrap().trim().to_owned()).collect()
}

/// Runs a command line of `orrery` in a shell, as a reader would; what it prints.
fn run(here: &Path, server: &Server, line: &str) -> String {
    let program = env!("CARGO_BIN_EXE_orrery");
    let line = line.replacen("orrery", program, 1);
    let mut shell = std::process::Command::new("sh");
    shell.env_clear().current_dir(here).stdin(Stdio::null());
    let output = shell.args(["-c", &line]).env("ORRERY_URL", format!("http://{}", server.cosmos)).output();
    let output = output.unwrap();
    let (out, errors) = (output.stdout, String::from_utf8(output.stderr).unwrap());
    assert!(output.status.success(), "{line}: {errors}");
    String::from_utf8(out).unwrap()
}

/// What the first programs of the README store.
async fn store_saturn(server: &Server) {
    let mut client = server.client();
    let path = ContainerPath::new("observatory", "planets");
    assert_eq!(client.create_database("observatory").await.unwrap().status, 201);
    let by_system =
        json!({"id": "planets", "partitionKey": {"paths": ["/system"], "kind": "Hash", "version": 2}});
    let made = Request::new(Method::Post, "dbs/observatory/colls").body(by_system.to_string());
    assert_eq!(client.call(&made).await.unwrap().status, 201);
    let saturn = json!({"id": "saturn", "system": "sol", "moons": 274}).to_string();
    assert_eq!(client.call(&path.upsert("sol", saturn)).await.unwrap().status, 201);
}

#[tokio::test]
async fn queries_data_blueprints_and_migrations_work_in_the_order_of_the_page() {
    let here = tempfile::tempdir().unwrap();
    let server = Server::start(&here.path().join("data"), &["--durability", "relaxed"]);
    store_saturn(&server).await;
    let queries = commands("Queries");
    assert_eq!(queries.len(), 1, "{queries:?}");
    assert_eq!(run(here.path(), &server, &queries[0]), "id      moons\n------  -----\nsaturn  274\n");
    let data = commands("Data");
    assert_eq!(data.len(), 6, "{data:?}");
    for line in &data {
        let printed = run(here.path(), &server, line);
        if line.starts_with("orrery ls") {
            assert!(["mars", "neptune", "saturn"].iter().all(|id| printed.contains(id)), "{printed}");
        }
    }
    let storage = commands("Tables and queues");
    assert_eq!(storage.len(), 6, "{storage:?}");
    for line in &storage {
        let printed = run(here.path(), &server, line);
        match line.split(' ').take(3).collect::<Vec<_>>()[1..] {
            ["table", "query"] if !line.contains("--explain") => {
                assert!(README.contains(&format!("{line}\n{printed}")), "{line}: {printed}");
            }
            ["table", "query"] => assert!(printed.starts_with("access  full scan"), "{printed}"),
            ["queue", "get"] => assert!(printed.contains("ship order 1 of ann"), "{printed}"),
            ["account", "add"] => assert!(printed.contains("AccountName=shop;AccountKey="), "{printed}"),
            _ => {}
        }
    }
    let blueprints = commands("Blueprints");
    let begins: Vec<String> =
        blueprints.iter().map(|line| line.split(' ').take(2).collect::<Vec<_>>().join(" ")).collect();
    let expected = ["apply", "query", "doctor", "apply", "migrate", "migrate"];
    assert_eq!(begins, expected.map(|verb| format!("orrery {verb}")));
    for line in &blueprints {
        let printed = run(here.path(), &server, line);
        match line.split(' ').nth(1).unwrap() {
            "query" => assert!(printed.contains(char::is_numeric), "{line}: {printed}"),
            "doctor" => assert!(!printed.contains("bad"), "{line}: {printed}"),
            _ => {}
        }
    }
}

/// The suites of the SDKs run these files.
#[test]
fn the_programs_of_the_page_are_those_that_are_tested() {
    for name in ["quickstart.py", "quickstart.mjs", "storage.py"] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testing/sdk/snippets").join(name);
        let program = std::fs::read_to_string(path).unwrap();
        assert!(README.contains(program.trim()), "{name}");
    }
}

/// A program that runs until the test is over.
struct Background(Child);

impl Drop for Background {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn fetch(port: u64, path: &str) -> String {
    let mut stream = TcpStream::connect(("127.0.0.1", port as u16)).unwrap();
    let request = format!("GET {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[tokio::test]
async fn the_demonstration_of_notifications_ends_in_a_push() {
    let here = tempfile::tempdir().unwrap();
    let mut lines = commands("Notifications").into_iter();
    assert_eq!(lines.next().as_deref(), Some("orrery notify fake-push &"));
    assert_eq!(lines.next().as_deref(), Some("orrery serve --push-config fake-push/providers.json &"));
    let mut fake = orrery(here.path());
    fake.args(["notify", "fake-push", "--fcm-port", "0", "--apns-port", "0", "--control-port", "0"]);
    let fake = fake.args(["--ports-file", "ports.json"]).stdout(Stdio::null()).spawn().unwrap();
    let _fake = Background(fake);
    let ports = here.path().join("ports.json");
    let ports: Value =
        poll("the stand-ins answer", || serde_json::from_slice(&std::fs::read(&ports).ok()?).ok());
    let providers = here.path().join("fake-push/providers.json");
    let flags = ["--durability", "relaxed", "--push-config", providers.to_str().unwrap()];
    let server = Server::start(&here.path().join("data"), &flags);
    let mut is_pushed = false;
    for line in lines {
        match line.strip_prefix("curl http://127.0.0.1:9445") {
            None => {
                let printed = run(here.path(), &server, &line);
                assert!(!line.contains(" ls ") || printed.contains("Ben"), "{line}: {printed}");
            }
            Some(path) => {
                let control = ports["control"].as_u64().unwrap();
                poll("the push arrives", || fetch(control, path).contains("Ben").then_some(()));
                is_pushed = true;
            }
        }
    }
    assert!(is_pushed);
}
