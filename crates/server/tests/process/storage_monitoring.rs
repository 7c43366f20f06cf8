//! What tables and queues are asked, as scrapers, `orrery top`, `orrery alerts`, `orrery advise` and `orrery cost` tell it.

use crate::monitoring::{scrape, value};
use crate::server::{Server, orrery};
use orrery_client::http::Trust;
use orrery_client::storage::queues::{NewMessage, Queues};
use orrery_client::storage::tables::{Entity, EntityQuery, EntityWrite, Tables};
use orrery_client::storage::{Endpoint, StorageCredential};
use orrery_core::Env;
use orrery_protocol::storage::{DEVELOPMENT_ACCOUNT, DEVELOPMENT_KEY, Service};
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::path::Path;
use tempfile::TempDir;

const ENTITIES: usize = 120;
const SCANS: usize = 10;

fn endpoint(service: Service, address: SocketAddr) -> Endpoint {
    let url = format!("http://{address}/{DEVELOPMENT_ACCOUNT}");
    let credential = StorageCredential::key(DEVELOPMENT_ACCOUNT, DEVELOPMENT_KEY).unwrap();
    Endpoint::new(service, &url, credential, Trust::These(Vec::new()), Env::system().unwrap()).unwrap()
}

fn start(here: &Path) -> Server {
    Server::start(&here.join("data"), &["--clock", "manual", "--durability", "relaxed"])
}

/// Entities in one partition, queries that name none, and a message that is got six times and never deleted.
async fn work(server: &Server) {
    let tables = Tables::new(endpoint(Service::Table, server.table));
    tables.create("Runs").await.unwrap();
    for at in 0..ENTITIES {
        let entity = Entity::new("p", &format!("{at:03}"));
        tables.write("Runs", &EntityWrite::Insert(entity)).await.unwrap();
    }
    let filter = Some("Status eq 'secret'".to_owned());
    for _ in 0..SCANS {
        let query = EntityQuery { filter: filter.clone(), ..EntityQuery::default() };
        assert!(tables.query("Runs", &query).await.unwrap().entities.is_empty());
    }
    let queues = Queues::new(endpoint(Service::Queue, server.queue));
    queues.create("turns", &[]).await.unwrap();
    let message = NewMessage { text: "poison".into(), visibility_seconds: None, time_to_live: None };
    queues.put("turns", &message).await.unwrap();
    for _ in 0..6 {
        assert_eq!(queues.get("turns", 1, Some(1)).await.unwrap().len(), 1);
        server.advance(2).await;
    }
}

fn run(server: &Server, arguments: &[&str]) -> (Option<i32>, String) {
    let here = tempfile::tempdir().unwrap();
    let url = format!("http://{}", server.cosmos);
    let output = orrery(here.path()).args(arguments).args(["--url", &url]).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(errors.is_empty(), "{errors}");
    (output.status.code(), String::from_utf8(output.stdout).unwrap())
}

fn json_of(server: &Server, arguments: &[&str]) -> Value {
    let (_, out) = run(server, &[arguments, &["--json"]].concat());
    serde_json::from_str(&out).unwrap()
}

#[tokio::test]
async fn tables_and_queues_are_measured_alarmed_about_and_advised_on() {
    let here: TempDir = tempfile::tempdir().unwrap();
    let server = start(here.path());
    work(&server).await;
    server.advance(700).await;

    let samples = scrape(&server).await;
    let of = |name: &str, labels: &[(&str, &str)]| value(&samples, name, labels);
    let table = [("service", "table"), ("account", DEVELOPMENT_ACCOUNT), ("resource", "Runs")];
    let inserts = [&table[..], &[("operation", "insert"), ("type", "write")]].concat();
    assert_eq!(of("storage_requests_total", &inserts), ENTITIES as f64);
    // Each: 4 bytes, and two a character of both keys.
    assert_eq!(of("storage_stored_bytes", &table), (ENTITIES * (4 + 2 * 4)) as f64);
    assert_eq!(of("tables_entities_read_total", &[("table", "Runs")]), (SCANS * ENTITIES) as f64);
    assert_eq!(of("queues_messages", &[("queue", "turns")]), 1.0);
    assert_eq!(of("queues_messages_got_again_total", &[("queue", "turns")]), 5.0);
    assert!(of("queues_oldest_message_seconds", &[("queue", "turns")]) >= 700.0);
    assert_eq!(of("orrery_alerts", &[("rule", "message_gets")]), 1.0);

    let (code, alerts) = run(&server, &["alerts"]);
    assert_eq!(code, Some(1), "something is firing");
    for words in ["message_wait", "message_gets", "devstoreaccount1 / turns"] {
        assert!(alerts.contains(words), "{alerts}");
    }

    let top = json_of(&server, &["top"]);
    assert_eq!((&top["tables"][0]["table"], &top["tables"][0]["scans"]), (&json!("Runs"), &json!(SCANS)));
    assert_eq!(top["queues"][0]["messages"], 1);
    let (_, drawn) = run(&server, &["top", "--once"]);
    assert!(
        drawn.contains("devstoreaccount1 / Runs") && drawn.contains("devstoreaccount1 / turns"),
        "{drawn}"
    );

    let advice = json_of(&server, &["advise"]);
    let scan = &advice["tables"][0]["findings"][0];
    assert_eq!((&scan["kind"], &scan["evidence"]["filter"]), (&json!("table-scan"), &json!("Status eq ?")));
    assert_eq!(scan["paste"]["$filter"], "PartitionKey eq 'p' and (Status eq ?)");
    assert!(!advice.to_string().contains("secret"), "{advice}");
    let kinds = |at: &Value| -> Vec<String> {
        let findings = at["findings"].as_array().unwrap().iter();
        findings.map(|finding| finding["kind"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(kinds(&advice["queues"][0]), ["waiting-messages", "repeated-messages"]);
    let one = json_of(&server, &["advise", "--queue", "turns"]);
    assert_eq!((&one["tables"], &one["containers"]), (&json!([]), &json!([])));
    assert_eq!(one["queues"].as_array().unwrap().len(), 1);
    let (_, told) = run(&server, &["advise", "--account", DEVELOPMENT_ACCOUNT, "--table", "runs"]);
    assert!(told.starts_with("devstoreaccount1 / table Runs: 120 entities"), "{told}");
}

#[tokio::test]
async fn what_tables_and_queues_used_is_priced_and_outlives_a_restart() {
    let here: TempDir = tempfile::tempdir().unwrap();
    let server = start(here.path());
    work(&server).await;
    server.advance(3600).await;
    let bill = server.ask("GET", "/v1/cost", "").await.1;
    let month = bill["month"].as_str().unwrap().to_owned();
    let check = |bill: &Value| {
        let lines = bill["storage"]["lines"].as_array().unwrap();
        let line = |service: &str| lines.iter().find(|line| line["service"] == service).unwrap();
        let table = line("table");
        assert_eq!(
            (&table["name"], &table["writes"], &table["queries"]),
            (&json!("Runs"), &json!(ENTITIES), &json!(SCANS))
        );
        let paid = table["costs"]["transactions"].as_f64().unwrap();
        let expected = (ENTITIES + SCANS) as f64 / 10_000.0 * 0.00036;
        assert!((paid - expected).abs() < 1e-12, "{bill}");
        assert!(table["costs"]["capacity"].as_f64().unwrap() > 0.0, "{bill}");
        assert_eq!((&line("queue")["reads"], &line("queue")["writes"]), (&json!(6), &json!(1)));
    };
    check(&bill);
    server.stop();
    let server = start(here.path());
    check(&server.ask("GET", &format!("/v1/cost?month={month}"), "").await.1);
    let (_, drawn) = run(&server, &["cost", "--month", &month]);
    assert!(
        drawn.contains("devstoreaccount1 / table Runs") && drawn.contains("Tables and queues"),
        "{drawn}"
    );
}
