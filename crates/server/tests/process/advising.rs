//! `orrery advise`: what it finds in a container that could be better, and in one that is well.

use crate::server::{Server, orrery};
use orrery_testing_client::{Client, ContainerPath, Method, Request};
use serde_json::{Value, json};
use std::process::Output;
use tempfile::TempDir;

struct World {
    server: Server,
    client: Client,
    _here: TempDir,
}

impl World {
    async fn new(containers: &[&str]) -> Self {
        let here = tempfile::tempdir().unwrap();
        let server = Server::start(&here.path().join("data"), &["--durability", "relaxed"]);
        let mut client = server.client();
        assert_eq!(client.create_database("d").await.unwrap().status, 201);
        for name in containers {
            let made = client.create_container(&ContainerPath::new("d", *name), &json!({})).await;
            assert_eq!(made.unwrap().status, 201);
        }
        Self { server, client, _here: here }
    }

    async fn write(&mut self, container: &str, partition: &str, item: Value) {
        let path = ContainerPath::new("d", container);
        let reply = self.client.create_item(&path, partition, &item).await.unwrap();
        assert_eq!(reply.status, 201, "{}", String::from_utf8_lossy(&reply.body));
    }

    /// All pages of a query, of 40 rows each.
    async fn query(&mut self, container: &str, text: &str, partition: Option<&str>) {
        let mut continuation: Option<String> = None;
        loop {
            let request = Request::new(Method::Post, ContainerPath::new("d", container).items())
                .header("x-ms-documentdb-isquery", "True")
                .header("x-ms-documentdb-query-enablecrosspartition", "True")
                .header("x-orrery-cross-partition", "direct")
                .header("x-ms-max-item-count", "40")
                .header_if("x-ms-documentdb-partitionkey", partition)
                .header_if("x-ms-continuation", continuation.as_deref())
                .body(json!({"query": text}).to_string());
            let reply = self.client.call(&request).await.unwrap();
            assert_eq!(reply.status, 200, "{}", String::from_utf8_lossy(&reply.body));
            continuation = reply.header("x-ms-continuation").map(str::to_owned);
            if continuation.is_none() {
                return;
            }
        }
    }

    /// Exit code, standard output and standard error.
    fn advise(&self, arguments: &[&str]) -> (Option<i32>, String, String) {
        let here = tempfile::tempdir().unwrap();
        let url = format!("http://{}", self.server.cosmos);
        let mut command = orrery(here.path());
        command.args(["advise", "--endpoint", &url]).args(arguments);
        let Output { status, stdout, stderr } = command.output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (status.code(), text(stdout), text(stderr))
    }

    /// What is found in the container `c`, by kind.
    fn findings(&self) -> Vec<Value> {
        let (code, out, errors) = self.advise(&["--database", "d", "--container", "c", "--json"]);
        assert_eq!(code, Some(0), "{errors}");
        let said: Value = serde_json::from_str(&out).unwrap();
        assert_eq!(said["containers"].as_array().unwrap().len(), 1);
        said["containers"][0]["findings"].as_array().unwrap().clone()
    }
}

fn item(at: u64, partition: &str) -> Value {
    json!({
        "id": format!("i{at}"), "pk": partition, "status": format!("s{}", at % 5), "created": at,
        "context": {"host": format!("h{at}"), "attempt": at}, "note": format!("note {at}"),
    })
}

/// Twelve partitions, of which one has most items and requests; one large item; one query, asked often.
async fn troubled() -> World {
    let mut world = World::new(&["c"]).await;
    for at in 0..300 {
        let partition = if at < 200 { "hot".to_owned() } else { format!("p{}", at % 11) };
        world.write("c", &partition, item(at, &partition)).await;
    }
    let large =
        json!({"id": "large", "pk": "hot", "status": "s1", "created": 0, "body": "x".repeat(100_000)});
    world.write("c", "hot", large).await;
    let path = ContainerPath::new("d", "c");
    for _ in 0..4 {
        for at in 0..200 {
            let read = world.client.read_item(&path, "hot", &format!("i{at}")).await.unwrap();
            assert_eq!(read.status, 200);
        }
    }
    for at in 0..25 {
        let text = format!("SELECT c.id FROM c WHERE c.status = 's{}' ORDER BY c.created DESC", at % 5);
        world.query("c", &text, None).await;
        // These ask one partition, by their filter or by their header.
        world.query("c", "SELECT * FROM c WHERE c.pk = 'p3' AND c.created = 5", None).await;
        world.query("c", "SELECT * FROM c WHERE c.status = 's1'", Some("[\"p3\"]")).await;
    }
    world
}

fn of_kind<'a>(findings: &'a [Value], kind: &str) -> &'a Value {
    findings
        .iter()
        .find(|finding| finding["kind"] == kind)
        .unwrap_or_else(|| panic!("no {kind} in {findings:#?}"))
}

#[tokio::test]
async fn each_kind_of_trouble_is_found_with_its_evidence_and_what_to_paste() {
    let mut world = troubled().await;
    let findings = world.findings();

    let unused = of_kind(&findings, "unused-paths");
    let paths: Vec<&str> = unused["evidence"]["paths"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["path"].as_str().unwrap())
        .collect();
    assert_eq!(paths, ["/context/*", "/note/?", "/body/?"]);
    assert_eq!(unused["evidence"]["queries"], 75);
    let excluded = json!([
        {"path": "/\"_etag\"/?"}, {"path": "/context/*"}, {"path": "/note/?"}, {"path": "/body/?"},
    ]);
    assert_eq!(unused["paste"]["indexingPolicy"]["excludedPaths"], excluded);

    let missing = of_kind(&findings, "missing-composites");
    assert_eq!(missing["evidence"][0]["index"], "/status ASC, /created DESC");
    assert_eq!(missing["evidence"][0]["queries"], 25);
    assert!(missing["evidence"][0]["charge"].as_f64().unwrap() > 25.0, "{missing}");

    let hot = of_kind(&findings, "hot-partition");
    assert_eq!((&hot["evidence"]["key"], &hot["evidence"]["partitions"]), (&json!(["hot"]), &json!(12)));
    assert_eq!(hot["evidence"]["items"], json!({"part": 201, "whole": 301}));
    let requests = &hot["evidence"]["requests"];
    assert!(requests["part"].as_u64().unwrap() * 10 > requests["whole"].as_u64().unwrap() * 7, "{hot}");
    assert_eq!(hot["paste"]["partitionKey"]["paths"], json!(["/pk", "/id"]));

    let large = of_kind(&findings, "large-items");
    assert_eq!(
        (&large["evidence"]["items"][0]["id"], &large["evidence"]["member"]),
        (&json!("large"), &json!("body"))
    );
    assert_eq!(large["evidence"]["items"][0]["member_bytes"], 100_002);

    let cross = of_kind(&findings, "cross-partition-query");
    let shape = "SELECT c.id FROM c WHERE c.status = ? ORDER BY c.created DESC";
    assert_eq!((&cross["evidence"]["query"], &cross["evidence"]["queries"]), (&json!(shape), &json!(25)));
    assert_eq!(
        (&cross["evidence"]["filter"], &cross["evidence"]["rows_mean"]),
        (&json!("c.pk = @pk"), &json!(60.2))
    );
    assert_eq!(cross["paste"]["parameters"], json!([{"name": "@pk", "value": "hot"}]));
    assert_eq!(findings.len(), 5, "{findings:#?}");

    let (_, text, _) = world.advise(&[]);
    assert!(text.starts_with("d / c: 301 items, "), "{text}");
    for finding in &findings {
        assert!(text.contains(finding["finding"].as_str().unwrap()), "{text}");
        assert!(text.contains(&format!("Paste: {}", finding["paste"])), "{text}");
    }
    world.paste_and_see(missing).await;
}

impl World {
    /// A container with the policy to paste misses the index no more.
    async fn paste_and_see(&mut self, missing: &Value) {
        let definition = json!({
            "id": "c", "partitionKey": {"paths": ["/pk"], "kind": "Hash", "version": 2},
            "indexingPolicy": missing["paste"]["indexingPolicy"],
        });
        let request = Request::new(Method::Put, "dbs/d/colls/c").body(definition.to_string());
        let replaced = self.client.call(&request).await.unwrap();
        assert_eq!(replaced.status, 200, "{}", String::from_utf8_lossy(&replaced.body));
        let findings = self.findings();
        assert!(!findings.iter().any(|finding| finding["kind"] == "missing-composites"), "{findings:#?}");
    }
}

#[tokio::test]
async fn a_container_that_is_well_is_left_alone_and_a_dropped_one_forgotten() {
    let mut world = World::new(&["c", "well"]).await;
    world.write("well", "p", json!({"id": "a", "pk": "p", "n": 1})).await;
    for _ in 0..30 {
        world.query("c", "SELECT * FROM c WHERE c.x = 1", None).await;
        world.query("well", "SELECT * FROM c WHERE c.n = 1", None).await;
    }
    let (code, text, errors) = world.advise(&["--database", "d"]);
    assert_eq!((code, errors.as_str()), (Some(0), ""));
    assert!(text.contains("\nd / well: 1 item, 25 bytes, 1 partition; 30 queries in "), "{text}");
    assert_eq!(text.matches("Nothing to advise.").count(), 2, "{text}");
    let dropped = world.client.call(&Request::new(Method::Delete, "dbs/d/colls/c")).await.unwrap();
    assert_eq!(dropped.status, 204);
    let made = world.client.create_container(&ContainerPath::new("d", "c"), &json!({})).await;
    assert_eq!(made.unwrap().status, 201);
    assert!(world.advise(&[]).1.contains("d / c: 0 items, 0 bytes, 0 partitions; 0 queries in "));
}

#[tokio::test]
async fn what_cannot_be_asked_is_said_in_a_sentence() {
    let world = World::new(&["c"]).await;
    let check = |arguments: &[&str], fragment: &str| {
        let (code, out, errors) = world.advise(arguments);
        assert_eq!((code, out.as_str(), errors.lines().count()), (Some(2), "", 1), "{errors}");
        assert!(errors.starts_with("orrery: ") && errors.contains(fragment), "{errors}");
    };
    check(&["--database", "d", "--container", "other"], "answers 404");
    check(&["--database", "other"], "answers 404");
    check(&["--container", "c"], "--database");
    check(&["--key", "bm90IGEga2V5"], "answers 401");
}

#[tokio::test]
async fn the_report_names_its_container_in_the_query_string() {
    let world = World::new(&["c"]).await;
    let (status, report) = world.server.ask("GET", "/v1/advice?database=d&container=c", "").await;
    assert_eq!(
        (status, &report["statistics"]["items"], &report["usage"]["queries"]),
        (200, &json!(0), &json!(0))
    );
    assert_eq!(world.server.ask("GET", "/v1/advice?database=d", "").await.0, 400);
    assert_eq!(world.server.ask("GET", "/v1/advice?database=d&container=x", "").await.0, 404);
    assert_eq!(world.server.ask("POST", "/v1/advice?database=d&container=c", "").await.0, 405);
}
