//! Measurements, alerts, what is busy and what it costs, as scrapers, collectors and people get them
//! (S1-68 to S1-74, S3-48 to S3-55, S1-50).

use crate::prometheus_text::{Sample, read};
use crate::server::{Server, make_container, orrery};
use orrery_core::{Env, Timestamp};
use orrery_testing_client::{Client, Connection, ContainerPath, Method, Request};
use serde_json::{Value, json};
use std::path::Path;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

const RULES: &str = "
[alerts.request_units]
window_seconds = 10
for_seconds = 10
[alerts.throttled]
window_seconds = 10
for_seconds = 10
[alerts.latency_p95]
above = 0.0001
window_seconds = 10
for_seconds = 10
requests_min = 5
[alerts.partition_storage]
window_seconds = 10
";

fn start(here: &TempDir, flags: &[&str]) -> Server {
    let config = here.path().join("rules.toml");
    std::fs::write(&config, RULES).unwrap();
    let mut all = vec!["--clock", "manual", "--durability", "relaxed", "--config", config.to_str().unwrap()];
    all.extend(flags);
    Server::start(&here.path().join("data"), &all)
}

/// A client by the server's clock, wherever that was moved.
async fn client(server: &Server) -> Client {
    let now = server.ask("GET", "/v1/clock", "").await.1["now_ms"].as_u64().unwrap();
    Client::new(server.cosmos, Env::seeded(Timestamp::from_millis(now), 1))
}

pub async fn scrape(server: &Server) -> Vec<Sample> {
    let mut connection = Connection::connect(server.services).await.unwrap();
    let request = b"GET /metrics HTTP/1.1\r\nhost: localhost\r\ncontent-length: 0\r\n\r\n";
    let reply = connection.exchange(request).await.unwrap().to_owned();
    assert_eq!(
        (reply.status, reply.header("content-type")),
        (200, Some("text/plain; version=0.0.4; charset=utf-8"))
    );
    read(std::str::from_utf8(&reply.body).unwrap())
}

/// The sum of the samples of a name that have these labels.
pub fn value(samples: &[Sample], name: &str, labels: &[(&str, &str)]) -> f64 {
    let has = |sample: &Sample| {
        labels.iter().all(|(name, value)| sample.labels.get(*name).is_some_and(|it| it == value))
    };
    let found: Vec<f64> = samples
        .iter()
        .filter(|sample| sample.name == name && has(sample))
        .map(|sample| sample.value)
        .collect();
    assert!(!found.is_empty(), "there is no {name} with {labels:?}");
    found.iter().sum()
}

async fn write(client: &mut Client, path: &ContainerPath, partition: &str, id: &str, bytes: usize) -> u16 {
    let item = json!({"id": id, "pk": partition, "body": "x".repeat(bytes)});
    client.call(&path.upsert(partition, item.to_string())).await.unwrap().status
}

async fn query(client: &mut Client, path: &ContainerPath, text: &str) {
    let request = Request::new(Method::Post, path.items())
        .header("x-ms-documentdb-isquery", "True")
        .header("x-ms-documentdb-query-enablecrosspartition", "True")
        .header("x-orrery-cross-partition", "direct")
        .body(json!({"query": text}).to_string());
    assert_eq!(client.call(&request).await.unwrap().status, 200);
}

/// Some work: eight writes in two partitions, five reads of which one finds nothing, two queries.
async fn work(server: &Server) -> ContainerPath {
    let mut client = client(server).await;
    let path = make_container(&mut client, &json!({})).await;
    for at in 0..8 {
        assert_eq!(
            write(&mut client, &path, if at < 6 { "hot" } else { "a\"b" }, &at.to_string(), 10).await,
            201
        );
    }
    for id in ["0", "1", "2", "3", "none"] {
        client.read_item(&path, "hot", id).await.unwrap();
    }
    query(&mut client, &path, "SELECT * FROM c WHERE c.pk = 'hot'").await;
    query(&mut client, &path, "SELECT VALUE COUNT(1) FROM c").await;
    path
}

#[tokio::test]
async fn a_scrape_tells_what_clients_did() {
    let here = tempfile::tempdir().unwrap();
    let server = start(&here, &[]);
    work(&server).await;
    server.advance(60).await;
    let samples = scrape(&server).await;
    let of = |name: &str, labels: &[(&str, &str)]| {
        let place = [("database", "d"), ("container", "c")];
        value(&samples, name, &[&place[..], labels].concat())
    };
    assert_eq!(
        of("cosmos_requests_total", &[("operation", "upsert"), ("status", "201"), ("type", "write")]),
        8.0
    );
    assert_eq!(of("cosmos_requests_total", &[("operation", "read"), ("status", "200")]), 4.0);
    assert_eq!(of("cosmos_requests_total", &[("operation", "read"), ("status", "404")]), 1.0);
    assert_eq!(of("cosmos_latency_milliseconds_count", &[("operation", "read")]), 5.0);
    assert_eq!(of("cosmos_latency_milliseconds_bucket", &[("operation", "query"), ("le", "+Inf")]), 2.0);
    assert!(of("cosmos_latency_milliseconds_sum", &[("operation", "query")]) > 0.0);
    let read_units = of("cosmos_request_units_total", &[("operation", "read")]);
    assert!((read_units - 5.24).abs() < 1e-9, "a point read of a KB costs one, a refusal 1.24");
    assert!(of("cosmos_request_units_total", &[("type", "write")]) >= 40.0);
    assert_eq!(of("cosmos_queries_total", &[("reach", "one_partition")]), 1.0);
    assert_eq!(of("cosmos_queries_total", &[("reach", "all_partitions")]), 1.0);
    assert_eq!((of("cosmos_items", &[]), of("cosmos_partitions", &[])), (8.0, 2.0));
    assert!(of("cosmos_storage_bytes", &[]) > 200.0);
    assert_eq!(of("cosmos_provisioned_request_units", &[]), 400.0);
    let hot = [("partition", "[\"hot\"]")];
    assert_eq!(of("cosmos_partition_requests_total", &hot), 11.0);
    assert_eq!(of("cosmos_partition_requests_total", &[("partition", "[\"a\\\"b\"]")]), 2.0);
    assert!(of("cosmos_partition_latency_milliseconds", &[hot[0], ("quantile", "0.95")]) > 0.0);
    assert!(of("cosmos_partition_storage_bytes", &hot) > 150.0);
    assert_eq!(value(&samples, "cosmos_requests_total", &[("database", ""), ("operation", "metadata")]), 2.0);
    assert!(value(&samples, "orrery_commits_total", &[]) >= 10.0);
    assert!(value(&samples, "orrery_engine_journal_bytes", &[]) > 0.0);
    assert_eq!(value(&samples, "orrery_engine_cache_max_bytes", &[]), 134_217_728.0);
    assert!(value(&samples, "orrery_engine_warm_rows_bytes", &[]) > 0.0);
    // Who is not let in makes no series.
    let unsigned = b"GET /dbs/x/colls/y/docs/z HTTP/1.1\r\nhost: localhost\r\n\r\n";
    let mut stranger = Connection::connect(server.cosmos).await.unwrap();
    assert_eq!(stranger.exchange(unsigned).await.unwrap().status, 401);
    let after = scrape(&server).await;
    assert_eq!(
        value(
            &after,
            "cosmos_requests_total",
            &[("operation", "refused"), ("status", "401"), ("container", "")]
        ),
        1.0
    );
    assert!(after.iter().all(|sample| sample.labels.get("database").is_none_or(|name| name != "x")));
    assert_eq!(server.ask("POST", "/metrics", "").await.0, 405);
}

/// The state of a rule's alert about `c`, if it has one.
async fn state(server: &Server, rule: &str) -> Option<Value> {
    let (status, said) = server.ask("GET", "/v1/alerts", "").await;
    assert_eq!(status, 200);
    let mut alerts = said["alerts"].as_array().unwrap().iter();
    alerts.find(|alert| alert["rule"] == rule && alert["container"] == "c").cloned()
}

async fn is(server: &Server, rule: &str, expected: &str) -> Value {
    let found = state(server, rule).await.unwrap_or_default();
    assert_eq!(found["state"].as_str().unwrap_or("none"), expected, "{rule}: {found}");
    let (_, ready) = server.ask("GET", "/readyz", "").await;
    let is_listed = ready["alerts"].as_array().unwrap().contains(&json!(rule));
    assert_eq!(is_listed, expected == "firing", "{ready}");
    found
}

fn logged(server: &Server, rule: &str) -> (usize, usize) {
    let log = format!("{}{}", server.errors(), server.printed());
    let lines = |what: &str| log.lines().filter(|line| line.contains(what) && line.contains(rule)).count();
    (lines("alert: "), lines("alert resolved"))
}

fn alerts_verb(server: &Server, here: &Path) -> (Option<i32>, String) {
    let url = format!("http://{}", server.cosmos);
    let output = orrery(here).args(["alerts", "--url", &url]).output().unwrap();
    (output.status.code(), String::from_utf8(output.stdout).unwrap())
}

#[tokio::test]
async fn spending_and_waiting_fire_after_their_time_and_resolve() {
    let here = tempfile::tempdir().unwrap();
    let server = start(&here, &["--throttle", "on"]);
    let mut client = client(&server).await;
    let path = make_container(&mut client, &json!({})).await;
    assert_eq!(alerts_verb(&server, here.path()), (Some(0), "Nothing is in trouble.\n".to_owned()));
    for round in 0..2 {
        // About 50 request units each, so more than 320 of 400 a second.
        for second in 0..10 {
            for at in 0..7 {
                assert!(write(&mut client, &path, "p", &format!("{second}-{at}"), 95_000).await < 300);
            }
            server.advance(1).await;
        }
        let expected = if round == 0 { "pending" } else { "firing" };
        let spent = is(&server, "request_units", expected).await;
        assert!(spent["value"].as_f64().unwrap() > 80.0 && spent["above"] == 80.0, "{spent}");
        assert_eq!(is(&server, "latency_p95", expected).await["operation"], "write");
    }
    let (code, text) = alerts_verb(&server, here.path());
    assert!(code == Some(1) && text.contains("firing") && text.contains("d / c"), "{text}");
    let samples = scrape(&server).await;
    assert_eq!(value(&samples, "orrery_alerts", &[("rule", "request_units")]), 1.0);
    server.advance(20).await;
    let over = is(&server, "request_units", "resolved").await;
    assert!(over["resolved_ms"].as_u64().unwrap() - over["since_ms"].as_u64().unwrap() >= 20_000, "{over}");
    is(&server, "latency_p95", "resolved").await;
    server.advance(20).await;
    assert_eq!((logged(&server, "request_units"), logged(&server, "latency_p95")), ((1, 1), (1, 1)));
}

#[tokio::test]
async fn spending_is_nobodys_concern_while_throttling_is_off() {
    let here = tempfile::tempdir().unwrap();
    let server = start(&here, &[]);
    let mut client = client(&server).await;
    let path = make_container(&mut client, &json!({})).await;
    for _ in 0..2 {
        for at in 0..80 {
            assert!(write(&mut client, &path, "p", &at.to_string(), 95_000).await < 300);
        }
        server.advance(10).await;
        assert_eq!(state(&server, "request_units").await, None);
    }
    assert_eq!(logged(&server, "request_units"), (0, 0));
}

#[tokio::test]
async fn being_turned_away_fires_and_resolves() {
    let here = tempfile::tempdir().unwrap();
    let server = start(&here, &["--throttle", "on"]);
    let mut client = client(&server).await;
    let path = make_container(&mut client, &json!({})).await;
    for round in 0..2 {
        let mut refused = 0;
        for at in 0..120 {
            let id = format!("{round}-{at}");
            refused += u64::from(write(&mut client, &path, "p", &id, 10).await == 429);
        }
        assert!(refused > 10, "{refused}");
        server.advance(10).await;
        let found = is(&server, "throttled", if round == 0 { "pending" } else { "firing" }).await;
        assert!((found["value"].as_f64().unwrap() - refused as f64 / 1.2).abs() < 0.01, "{found}");
    }
    let samples = scrape(&server).await;
    let labels = [("container", "c"), ("partition", "[\"p\"]")];
    let told = value(&samples, "cosmos_partition_throttled_total", &labels);
    assert_eq!(told, value(&samples, "cosmos_requests_total", &[("container", "c"), ("status", "429")]));
    server.advance(20).await;
    is(&server, "throttled", "resolved").await;
    assert_eq!(logged(&server, "throttled"), (1, 1));
}

#[tokio::test]
async fn a_partition_that_fills_up_fires_and_resolves_when_it_is_emptied() {
    let here = tempfile::tempdir().unwrap();
    let server = start(&here, &["--partition-mb", "1"]);
    let mut client = client(&server).await;
    let path = make_container(&mut client, &json!({})).await;
    for at in 0..9 {
        assert_eq!(write(&mut client, &path, "full", &at.to_string(), 95_000).await, 201);
    }
    server.advance(60).await;
    let full = is(&server, "partition_storage", "firing").await;
    assert_eq!(full["partition"], "[\"full\"]");
    assert!((85.0..86.0).contains(&full["value"].as_f64().unwrap()), "{full}");
    let deleted = client.call(&path.delete("full", "0", None)).await.unwrap();
    assert_eq!(deleted.status, 204);
    server.advance(60).await;
    is(&server, "partition_storage", "resolved").await;
    assert_eq!(logged(&server, "partition_storage"), (1, 1));
}

#[tokio::test]
async fn top_names_the_busy_ones() {
    let here = tempfile::tempdir().unwrap();
    let server = start(&here, &[]);
    work(&server).await;
    let (status, top) = server.ask("GET", "/v1/top", "").await;
    assert_eq!(status, 200);
    let c = &top["containers"][0];
    assert_eq!((&c["container"], &c["requests"]), (&json!("c"), &json!(15)));
    assert_eq!((&c["reads"], &c["writes"], &c["queries"]), (&json!(5), &json!(8), &json!(2)));
    assert_eq!(
        (&top["partitions"][0]["partition"], &top["partitions"][0]["requests"]),
        (&json!("[\"hot\"]"), &json!(11))
    );
    let texts: Vec<&str> =
        top["queries"].as_array().unwrap().iter().map(|query| query["text"].as_str().unwrap()).collect();
    assert!(
        texts.contains(&"SELECT VALUE COUNT(?) FROM c") || texts.iter().any(|it| it.contains("COUNT")),
        "{texts:?}"
    );
    let url = format!("http://{}", server.cosmos);
    let run = |more: &[&str]| {
        let output = orrery(here.path()).args(["top", "--url", &url, "--once"]).args(more).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let text = run(&[]);
    assert!(text.contains("d / c") && text.contains("[\"hot\"]") && text.contains("COUNT"), "{text}");
    let again: Value = serde_json::from_str(&run(&["--json"])).unwrap();
    assert_eq!(again["containers"], top["containers"]);
}

#[tokio::test]
async fn what_was_used_is_priced_and_outlives_a_restart() {
    let here = tempfile::tempdir().unwrap();
    let server = start(&here, &[]);
    work(&server).await;
    let scraped = scrape(&server).await;
    let units = value(&scraped, "cosmos_request_units_total", &[("container", "c"), ("type", "write")])
        + value(&scraped, "cosmos_request_units_total", &[("container", "c"), ("type", "read")])
        + value(&scraped, "cosmos_request_units_total", &[("container", "c"), ("type", "query")]);
    server.advance(3600).await;
    let (status, bill) = server.ask("GET", "/v1/cost", "").await;
    assert_eq!(status, 200, "{bill}");
    let month = bill["month"].as_str().unwrap().to_owned();
    let check = |bill: &Value| {
        let line = &bill["lines"][0];
        assert_eq!((&line["container"], &line["mode"]), (&json!("c"), &json!("manual")), "{bill}");
        assert!((line["request_units"].as_f64().unwrap() - units).abs() < 1e-6, "{units}: {bill}");
        let serverless = line["costs"]["serverless"].as_f64().unwrap();
        assert!((serverless - units / 1e6 * 0.25).abs() < 1e-9, "{bill}");
        assert_eq!(bill["scenarios"][0]["serverless"], "~$15");
    };
    check(&bill);
    assert_eq!(bill["hours_measured"], 1);
    assert!((bill["lines"][0]["costs"]["manual"].as_f64().unwrap() - 0.032).abs() < 1e-9, "{bill}");
    server.stop();
    let server = start(&here, &[]);
    let (_, bill) = server.ask("GET", &format!("/v1/cost?month={month}"), "").await;
    check(&bill);
    assert_eq!(server.ask("GET", "/v1/cost?month=2026-13", "").await.0, 400);
    assert_eq!(server.ask("GET", "/v1/cost?month=1999-01", "").await.1["lines"], json!([]));
    let url = format!("http://{}", server.cosmos);
    let run = |more: &[&str]| {
        let output = orrery(here.path()).args(["cost", "--url", &url]).args(more).output().unwrap();
        (
            output.status.code(),
            String::from_utf8(output.stdout).unwrap(),
            String::from_utf8(output.stderr).unwrap(),
        )
    };
    let (code, text, _) = run(&["--month", &month]);
    assert!(code == Some(0) && text.contains("d / c") && text.contains("$24 (fixed)"), "{text}");
    let (code, _, errors) = run(&["--month", "May"]);
    assert_eq!((code, errors.as_str()), (Some(2), "orrery: the month 'May' is not like 2026-11\n"));
    let (_, json, _) = run(&["--month", &month, "--json"]);
    check(&serde_json::from_str(&json).unwrap());
}

/// One request to a collector that takes everything: its path and its body.
async fn collected(listener: &tokio::net::TcpListener) -> (String, Value) {
    let (mut stream, _) = listener.accept().await.unwrap();
    let (mut bytes, mut chunk) = (Vec::new(), [0; 4096]);
    loop {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.to_ascii_lowercase();
            let length =
                length.split("content-length: ").nth(1).unwrap().lines().next().unwrap().parse::<usize>();
            if body.len() >= length.unwrap() {
                assert!(head.to_ascii_lowercase().contains("content-type: application/json"), "{head}");
                stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}").await.unwrap();
                return (head.lines().next().unwrap().to_owned(), serde_json::from_str(body).unwrap());
            }
        }
        let read = stream.read(&mut chunk).await.unwrap();
        assert!(read > 0, "the request broke off");
        bytes.extend_from_slice(&chunk[..read]);
    }
}

#[tokio::test]
async fn a_collector_gets_the_seeds_metrics_by_their_names() {
    let here = tempfile::tempdir().unwrap();
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let server = start(&here, &["--otlp", &url, "--otlp-seconds", "1"]);
    work(&server).await;
    let metric = |message: &Value, name: &str| {
        let metrics = message["resourceMetrics"][0]["scopeMetrics"][0]["metrics"].as_array().unwrap();
        metrics.iter().find(|metric| metric["name"] == name).cloned().unwrap_or_default()
    };
    let is_read = |point: &&Value| {
        point["attributes"]
            .as_array()
            .unwrap()
            .contains(&json!({"key": "operation", "value": {"stringValue": "read"}}))
    };
    // The first messages may be from before the work.
    let (line, message) = loop {
        let (line, message) = collected(&listener).await;
        if metric(&message, "cosmos.queries") != Value::Null {
            break (line, message);
        }
    };
    assert_eq!(line, "POST /v1/metrics HTTP/1.1");
    let latency = metric(&message, "cosmos.latency");
    assert_eq!(latency["unit"], "ms");
    let points = latency["histogram"]["dataPoints"].as_array().unwrap();
    assert_eq!(points.iter().find(is_read).unwrap()["count"], "5");
    let units = metric(&message, "cosmos.request_units");
    let points = units["sum"]["dataPoints"].as_array().unwrap();
    assert_eq!(points.iter().find(is_read).unwrap()["asDouble"], 5.24);
}

#[tokio::test]
async fn mistakes_in_the_rules_are_a_sentence() {
    let here = tempfile::tempdir().unwrap();
    std::fs::write(here.path().join("orrery.toml"), "[alerts.throttled]\nwindow_seconds = 0\n").unwrap();
    let output = orrery(here.path()).arg("serve").output().unwrap();
    let errors = String::from_utf8(output.stderr).unwrap();
    assert_eq!((output.status.code(), errors.lines().count()), (Some(2), 1));
    assert!(errors.contains("alerts.throttled.window_seconds"), "{errors}");
}
