//! `orrery apply`, `orrery init`, `serve --blueprint` and named queries, on servers of their own.

use crate::server::{Server, orrery, poll};
use orrery_client::http::Trust;
use orrery_client::storage::queues::Queues;
use orrery_client::storage::tables::{Tables, Value as TableValue};
use orrery_client::storage::{Endpoint, StorageCredential};
use orrery_core::Env;
use orrery_protocol::storage::{DEVELOPMENT_ACCOUNT, DEVELOPMENT_KEY, Service};
use orrery_testing_client::{ContainerPath, Method, Request};
use serde_json::{Value, json};
use std::path::Path;
use std::process::{Output, Stdio};
use tempfile::TempDir;

struct Said {
    code: Option<i32>,
    out: String,
    errors: String,
}

/// `orrery` in a folder.
fn said(here: &Path, arguments: &[&str]) -> Said {
    let Output { status, stdout, stderr } = orrery(here).args(arguments).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Said { code: status.code(), out: text(stdout), errors: text(stderr) }
}

struct World {
    here: TempDir,
    server: Server,
}

impl World {
    fn new(flags: &[&str]) -> Self {
        let here = tempfile::tempdir().unwrap();
        let server =
            Server::start(&here.path().join("data"), &[&["--durability", "relaxed"], flags].concat());
        Self { here, server }
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.here.path().join(name), text).unwrap();
    }

    fn apply(&self, arguments: &[&str]) -> Said {
        apply_to(&self.server, self.here.path(), arguments)
    }

    /// The container as the server shows it.
    async fn container(&self, database: &str, container: &str) -> Value {
        let request = Request::new(Method::Get, format!("dbs/{database}/colls/{container}"));
        let reply = self.server.client().call(&request).await.unwrap();
        assert_eq!(reply.status, 200, "{container}");
        reply.json().unwrap()
    }
}

fn apply_to(server: &Server, here: &Path, arguments: &[&str]) -> Said {
    said(here, &[&["apply", "--url", &format!("http://{}", server.cosmos)], arguments].concat())
}

const SHOP: &str = "
blueprint: shop
database: shop
containers:
  - id: orders
    partitionKey: /customer
    defaultTtl: 60
    indexingPolicy: {includedPaths: [{path: /customer/?}, {path: /at/?}], excludedPaths: [{path: /lines/*/notes/*}]}
    environments: {production: {autoscale: 4000}}
    fixtures: [{id: a, customer: ada, at: 1}, {id: b, customer: ada, at: 2}, {id: c, customer: bob, at: 3}]
  - id: events
    partitionKey: [/tenant, /user]
    uniqueKeys: [[/number]]
    fixtures: [{id: e, tenant: t, number: 1}]
queries:
  of-customer:
    container: orders
    sql: SELECT VALUE c.id FROM c WHERE c.customer = @customer AND c.at >= @since ORDER BY c.at
    parameters: {customer: {type: string, example: ada}, since: {type: number, example: 1}}
    partitionKey: customer
";

/// S0-116: containers, policies and time to live stand up with one command, and the second time nothing is done.
#[tokio::test]
async fn a_blueprint_is_applied_once_and_then_there_is_nothing_to_do() {
    let world = World::new(&[]);
    world.write("shop.yaml", SHOP);
    let check = world.apply(&["shop.yaml", "--check"]);
    assert_eq!(check.code, Some(1), "{}", check.errors);
    assert!(check.out.ends_with("3 to create, 0 to change, 0 as declared\n"), "{}", check.out);
    let first = world.apply(&["shop.yaml", "--fixtures"]);
    assert_eq!(first.code, Some(0), "{}", first.errors);
    for line in [
        "shop (development)",
        "  create   database shop",
        "  create   container shop/orders",
        "  create   container shop/events",
        "  note: orders: the indexing path '/lines/*/notes/*' became '/lines/[]/notes/*'.",
        "  4 example items inserted, 0 there before",
        "3 created, 0 changed, 0 as declared",
    ] {
        assert!(first.out.lines().any(|known| known == line), "no {line:?} in\n{}", first.out);
    }
    let orders = world.container("shop", "orders").await;
    assert_eq!(
        (&orders["defaultTtl"], &orders["partitionKey"]["paths"]),
        (&json!(60), &json!(["/customer"]))
    );
    let excluded = json!([{"path": "/lines/[]/notes/*"}, {"path": "/*"}, {"path": "/\"_etag\"/?"}]);
    assert_eq!(orders["indexingPolicy"]["excludedPaths"], excluded);
    assert_eq!(world.container("shop", "events").await["partitionKey"]["kind"], "MultiHash");
    let again = world.apply(&["shop.yaml", "--fixtures", "--json"]);
    assert_eq!(again.code, Some(0), "{}", again.errors);
    let report: Value = serde_json::from_str(&again.out).unwrap();
    assert_eq!((&report["applied"], &report["differed"]), (&json!(true), &json!(false)));
    assert_eq!(report["blueprints"][0]["fixtures"], json!({"inserted": 0, "there": 4}));
    assert_eq!(world.container("shop", "orders").await["_etag"], orders["_etag"], "nothing was written");
    assert_eq!(world.apply(&["shop.yaml", "--check"]).code, Some(0));
}

#[tokio::test]
async fn what_differs_is_changed_in_place_and_the_rest_kept() {
    let world = World::new(&[]);
    world.write("shop.yaml", SHOP);
    assert_eq!(world.apply(&["shop.yaml"]).code, Some(0));
    world.write(
        "shop.yaml",
        &SHOP.replace("defaultTtl: 60", "defaultTtl: 120").replace("{path: /at/?}", "{path: /at/*}"),
    );
    let check = world.apply(&["shop.yaml", "--check", "--env", "production"]);
    let expected = "  change   container shop/orders: defaultTtl: 60 s -> 120 s; indexing included: +/at/* -/at/?; \
                    throughput: 400 RU/s -> autoscale up to 4000 RU/s";
    assert!(check.code == Some(1) && check.out.contains(expected), "{}", check.out);
    let changed = world.apply(&["shop.yaml", "--env", "production"]);
    assert_eq!(changed.code, Some(0), "{}", changed.errors);
    assert!(changed.out.ends_with("0 created, 1 changed, 2 as declared\n"), "{}", changed.out);
    assert_eq!(world.container("shop", "orders").await["defaultTtl"], 120);
    assert_eq!(world.apply(&["shop.yaml", "--check", "--env", "production"]).code, Some(0));
}

#[tokio::test]
async fn another_partition_key_is_refused_with_the_way_out_and_nothing_is_begun() {
    let world = World::new(&[]);
    world.write("shop.yaml", SHOP);
    assert_eq!(world.apply(&["shop.yaml"]).code, Some(0));
    let other = SHOP.replace("/customer\n", "/number\n").replace("id: events", "id: other");
    world.write("shop.yaml", &other);
    let refused = world.apply(&["shop.yaml"]);
    assert_eq!((refused.code, refused.errors.as_str()), (Some(1), ""));
    assert!(
        refused.out.contains("refused  container shop/orders: its partition key is /customer"),
        "{}",
        refused.out
    );
    assert!(
        refused.out.contains("orrery migrate copies it into a container with the other key"),
        "{}",
        refused.out
    );
    let request = Request::new(Method::Get, "dbs/shop/colls/other".to_owned());
    assert_eq!(world.server.client().call(&request).await.unwrap().status, 404);
}

#[tokio::test]
async fn the_terraform_of_seed_002_and_the_templates_of_000_and_001_apply() {
    let world = World::new(&[]);
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../models/blueprint/tests/fixtures");
    let file = |name: &str| fixtures.join(name).display().to_string();
    let (asora, ascension, studio) = (file("asora.tf"), file("ascension.json"), file("studio.json"));
    let words = [asora.as_str(), &ascension, &studio, "--var", "azurerm_cosmosdb_sql_database.db.name=asora"];
    let applied = world.apply(&words);
    assert_eq!(applied.code, Some(0), "{}", applied.errors);
    assert!(applied.out.ends_with("11 created, 0 changed, 0 as declared\n"), "{}", applied.out);
    assert_eq!(world.container("asora", "notification_events").await["defaultTtl"], 2_592_000);
    let excluded =
        world.container("project-ascension-db", "workflow-states").await["indexingPolicy"]["excludedPaths"]
            .clone();
    let paths: Vec<&str> =
        excluded.as_array().unwrap().iter().filter_map(|entry| entry["path"].as_str()).collect();
    assert_eq!(paths, ["/\"_etag\"/?", "/agents/[]/result/*", "/checkpoints/[]/state/*", "/*"]);
    assert_eq!(
        world.container("AgentStudio", "checkpoints").await["partitionKey"]["paths"],
        json!(["/workflowId"])
    );
    assert_eq!(world.apply(&[&words[..], &["--check"]].concat()).code, Some(0));
}

#[tokio::test]
async fn every_built_in_blueprint_applies_with_its_examples_and_its_queries_find_their_rows() {
    let world = World::new(&["--blueprint", "all", "--notifications", "off"]);
    let applied = world.apply(&["all", "--fixtures"]);
    assert_eq!(applied.code, Some(0), "{}{}", applied.out, applied.errors);
    assert!(applied.out.contains("\n0 created, 0 changed, "), "it was there from the start: {}", applied.out);
    let (status, listed) = world.server.ask("GET", "/v1/blueprints", "").await;
    assert_eq!(status, 200);
    let blueprints = listed["blueprints"].as_array().unwrap();
    assert_eq!(blueprints.len(), 5);
    for blueprint in blueprints {
        let name = blueprint["name"].as_str().unwrap();
        let (_, shown) = world.server.ask("GET", &format!("/v1/blueprints/{name}"), "").await;
        for query in shown["queries"].as_array().unwrap() {
            let encoded = |value: &Value| {
                let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                text.bytes().map(|byte| format!("%{byte:02X}")).collect::<String>()
            };
            let pairs = query["parameters"].as_object().unwrap().iter();
            let pairs: Vec<String> =
                pairs.map(|(name, it)| format!("{name}={}", encoded(&it["example"]))).collect();
            let path = format!(
                "/v1/blueprints/{name}/queries/{}?{}",
                query["name"].as_str().unwrap(),
                pairs.join("&")
            );
            let (status, answer) = world.server.ask("GET", &path, "").await;
            assert_eq!(status, 200, "{path}: {answer}");
            assert!(answer["charge"].as_f64().unwrap() > 0.0, "{path}");
            if !query["rows"].is_null() {
                assert_eq!(answer["count"], query["rows"], "{path}: {answer}");
            }
        }
    }
}

#[tokio::test]
async fn a_server_applies_before_it_announces_its_ports_or_does_not_start() {
    let here = tempfile::tempdir().unwrap();
    let file = here.path().join("shop.yaml");
    std::fs::write(&file, SHOP).unwrap();
    let data = here.path().join("data");
    let server = Server::start(&data, &["--durability", "relaxed", "--blueprint", file.to_str().unwrap()]);
    let request = Request::new(Method::Get, "dbs/shop/colls/orders".to_owned());
    assert_eq!(server.client().call(&request).await.unwrap().status, 200);
    server.stop();
    std::fs::write(&file, SHOP.replace("/customer\n", "/number\n")).unwrap();
    let arguments = ["serve", "--data", data.to_str().unwrap(), "--free-ports"];
    let refused = said(here.path(), &[&arguments[..], &["--blueprint", file.to_str().unwrap()]].concat());
    assert_eq!((refused.code, refused.out.as_str()), (Some(2), ""), "{}", refused.errors);
    assert!(refused.errors.contains("the blueprint 'shop' is not applied: refused"), "{}", refused.errors);
}

/// A plan that `kill -9` broke off, wherever that was, is completed by the next apply.
#[tokio::test]
async fn a_plan_that_was_killed_halfway_is_completed() {
    let here = tempfile::tempdir().unwrap();
    let containers: String = (0..300)
        .map(|n| format!("  - {{id: c{n}, partitionKey: /pk, fixtures: [{{id: a, pk: p}}]}}\n"))
        .collect();
    let text = format!("blueprint: many\ndatabase: many\ncontainers:\n{containers}");
    std::fs::write(here.path().join("many.yaml"), text).unwrap();
    let data = here.path().join("data");
    let mut broken_off = 0;
    for wanted in [10, 100, 200] {
        let mut server = Server::start(&data, &[]);
        let url = format!("http://{}", server.cosmos);
        let mut command = orrery(here.path());
        command
            .args(["apply", "--url", &url, "--fixtures", "many.yaml"])
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        // Some more containers each time are there before the server is killed.
        let mut client = server.client();
        let request = Request::new(Method::Get, "dbs/many/colls".to_owned());
        loop {
            let reply = client.call(&request).await.unwrap();
            let count = reply.json().and_then(|body| body["_count"].as_u64()).unwrap_or(0);
            if count >= wanted || child.try_wait().unwrap().is_some() {
                break;
            }
        }
        server.signal("-KILL");
        server.wait();
        let status = poll("the apply ends", || child.try_wait().unwrap());
        broken_off += u32::from(status.code() == Some(2));
    }
    assert!(broken_off > 0, "no apply was broken off");
    let server = Server::start(&data, &[]);
    let before = apply_to(&server, here.path(), &["many.yaml", "--check"]);
    assert!(!before.out.contains("refused") && !before.out.contains("change "), "{}", before.out);
    let completed = apply_to(&server, here.path(), &["many.yaml", "--fixtures"]);
    assert_eq!(completed.code, Some(0), "{}", completed.errors);
    assert_eq!(apply_to(&server, here.path(), &["many.yaml", "--check"]).code, Some(0));
    let item = ContainerPath::new("many", "c299").read("p", "a");
    assert_eq!(server.client().call(&item).await.unwrap().status, 200);
    server.stop();
}

#[tokio::test]
async fn a_named_query_is_asked_by_name_with_typed_parameters() {
    let here = tempfile::tempdir().unwrap();
    let file = here.path().join("shop.yaml");
    std::fs::write(&file, SHOP).unwrap();
    let server = Server::start(&here.path().join("data"), &["--blueprint", file.to_str().unwrap()]);
    assert_eq!(apply_to(&server, here.path(), &["shop.yaml", "--fixtures"]).code, Some(0));
    let at = "/v1/blueprints/shop/queries/of-customer";
    let (status, answer) = server.ask("GET", &format!("{at}?customer=ada&since=2"), "").await;
    assert_eq!((status, &answer["rows"], &answer["count"]), (200, &json!(["b"]), &json!(1)));
    assert!(answer["charge"].as_f64().unwrap() > 1.0 && answer["continuation"].is_null(), "{answer}");
    assert!(answer["index"]["utilized"]["single"].as_array().is_some(), "{answer}");
    let (_, first) = server.ask("GET", &format!("{at}?customer=ada&since=0&$top=1"), "").await;
    let token = first["continuation"].as_str().unwrap();
    let token: String = token.bytes().map(|byte| format!("%{byte:02X}")).collect();
    let (_, second) =
        server.ask("GET", &format!("{at}?customer=ada&since=0&$top=1&$continuation={token}"), "").await;
    assert_eq!((&first["rows"], &second["rows"]), (&json!(["a"]), &json!(["b"])));
    for (path, expected, fragment) in [
        (format!("{at}?customer=ada"), 400, "needs the parameter 'since'"),
        (format!("{at}?customer=ada&since=1&x=2"), 400, "has no parameter 'x'"),
        (format!("{at}?customer=ada&since=soon"), 400, "must be of type number"),
        ("/v1/blueprints/shop/queries/none".to_owned(), 404, "there are of-customer"),
        ("/v1/blueprints/none".to_owned(), 404, "there is no blueprint 'none'"),
        ("/v1/blueprints/shop/x/y/z".to_owned(), 404, "there is nothing at"),
    ] {
        let (status, problem) = server.ask("GET", &path, "").await;
        assert_eq!(status, expected, "{path}");
        assert!(problem["detail"].as_str().unwrap().contains(fragment), "{problem}");
    }
    let url = format!("http://{}", server.cosmos);
    let named = ["query", "--url", &url, "--blueprint", "shop.yaml", "of-customer"];
    let asked = said(here.path(), &[&named[..], &["--param", "customer=ada", "--param", "since=1"]].concat());
    assert_eq!(serde_json::from_str::<Value>(&asked.out).unwrap(), json!(["a", "b"]), "{}", asked.errors);
    assert!(asked.errors.contains(" RU\nindex: {"), "{}", asked.errors);
    let refused = said(here.path(), &named);
    assert_eq!(refused.code, Some(2));
    assert!(refused.errors.contains("needs the parameters 'customer', 'since'"), "{}", refused.errors);
}

#[test]
fn a_starter_is_written_once() {
    let here = tempfile::tempdir().unwrap();
    assert_eq!(said(here.path(), &["init", "shop"]).code, Some(0));
    let text = std::fs::read_to_string(here.path().join("shop.yaml")).unwrap();
    assert!(text.contains("blueprint: shop\n"));
    let again = said(here.path(), &["init", "shop"]);
    assert!(again.code == Some(2) && again.errors.contains("is there already"), "{}", again.errors);
    assert_eq!(said(here.path(), &["init", "a/b"]).code, Some(2));
}

#[test]
fn bad_input_is_told_with_its_place() {
    let here = tempfile::tempdir().unwrap();
    std::fs::write(here.path().join("a.yaml"), "blueprint: a\ndatabase: d\ncontainers:\n  - id: c\n")
        .unwrap();
    let check = |arguments: &[&str], fragment: &str| {
        let refused = said(here.path(), &[&["apply"], arguments].concat());
        assert_eq!((refused.code, refused.out.as_str()), (Some(2), ""), "{}", refused.errors);
        assert!(refused.errors.contains(fragment), "no {fragment:?} in {:?}", refused.errors);
    };
    check(&["a.yaml"], "a.yaml:4:5: a container has no 'partitionKey'");
    check(
        &["none.yaml"],
        "'none.yaml' is no file, and no blueprint that is built in; those are project-ascension",
    );
    check(&["asora-notifications", "--var", "x"], "name=value");
    check(&["asora-notifications", "--env", "test"], "possible values: development, staging, production");
    check(
        &["asora-notifications", "--url", "http://127.0.0.1:1", "--without-schemas"],
        "start one with orrery serve",
    );
    check(&["asora-notifications", "asora-notifications"], "given twice");
}

/// The development account, by the key that everybody knows.
fn storage_of(server: &Server) -> (Tables, Queues) {
    let env = Env::system().unwrap();
    let ports: Value = serde_json::from_slice(&std::fs::read(server.ports_file()).unwrap()).unwrap();
    let endpoint = |service, port: &str| {
        let credential = StorageCredential::key(DEVELOPMENT_ACCOUNT, DEVELOPMENT_KEY).unwrap();
        let url = format!("http://127.0.0.1:{}/{DEVELOPMENT_ACCOUNT}", ports[port]);
        Endpoint::new(service, &url, credential, Trust::These(Vec::new()), env.clone()).unwrap()
    };
    (Tables::new(endpoint(Service::Table, "table")), Queues::new(endpoint(Service::Queue, "queue")))
}

const LOG: &str = "
blueprint: log
storage:
  - tables:
      - table: Audit
        columns: {At: DateTime, Count: Int64}
        access: {readers: {permissions: r, expiry: 2027-01-01}}
        entities:
          - {PartitionKey: ada, RowKey: '1', At: 2024-01-15T10:30:00Z, Count: 8589934592}
          - {PartitionKey: ada, RowKey: '2', At: 2024-01-15T10:31:00Z}
      - table: Users
    queues:
      - {queue: tasks, metadata: {Owner: ops}, messages: [first, {n: 2}]}
      - {queue: dead}
";

#[tokio::test]
async fn tables_and_queues_are_applied_once_and_then_there_is_nothing_to_do() {
    let world = World::new(&[]);
    world.write("log.yaml", LOG);
    let check = world.apply(&["log.yaml", "--check"]);
    assert_eq!(check.code, Some(1), "{}", check.errors);
    assert!(check.out.ends_with("4 to create, 0 to change, 1 as declared\n"), "{}", check.out);
    let first = world.apply(&["log.yaml", "--fixtures"]);
    assert_eq!(first.code, Some(0), "{}", first.errors);
    for line in [
        "  nothing  account devstoreaccount1",
        "  create   table devstoreaccount1/Audit: access: readers",
        "  create   queue devstoreaccount1/tasks",
        "  4 example items inserted, 0 there before",
    ] {
        assert!(first.out.lines().any(|known| known == line), "no {line:?} in\n{}", first.out);
    }
    let (tables, queues) = storage_of(&world.server);
    let entity = tables.get("Audit", "ada", "1", &[]).await.unwrap();
    assert_eq!(entity.get("Count"), Some(&TableValue::Int64(8_589_934_592)));
    assert!(
        matches!(entity.get("At"), Some(TableValue::DateTime(at)) if at.text() == "2024-01-15T10:30:00Z")
    );
    let policies = tables.access_policies("Audit").await.unwrap();
    assert_eq!((policies[0].id.as_str(), policies[0].permissions.as_deref()), ("readers", Some("r")));
    let peeked = queues.peek("tasks", 32).await.unwrap();
    let texts: Vec<&str> = peeked.iter().map(|message| message.text.as_str()).collect();
    assert_eq!(texts, ["first", r#"{"n":2}"#]);
    let again = world.apply(&["log.yaml", "--fixtures", "--json"]);
    assert_eq!(again.code, Some(0), "{}", again.errors);
    let report: Value = serde_json::from_str(&again.out).unwrap();
    assert_eq!((&report["applied"], &report["differed"]), (&json!(true), &json!(false)));
    assert_eq!(report["blueprints"][0]["fixtures"], json!({"inserted": 0, "there": 4}));
    assert_eq!(report["blueprints"][0]["steps"][1]["table"], "Audit");
    assert_eq!(tables.get("Audit", "ada", "1", &[]).await.unwrap().etag, entity.etag, "nothing was written");
}

#[tokio::test]
async fn of_tables_and_queues_what_differs_is_changed_and_the_rest_kept() {
    let world = World::new(&[]);
    let (tables, queues) = storage_of(&world.server);
    queues.create("tasks", &[("owner".to_owned(), "me".to_owned())]).await.unwrap();
    queues.create("other", &[]).await.unwrap();
    tables.create("audit").await.unwrap();
    world.write("log.yaml", LOG);
    let check = world.apply(&["log.yaml", "--check"]);
    for expected in [
        "  change   table devstoreaccount1/Audit: access: readers\n  create   table devstoreaccount1/Users\n",
        "  change   queue devstoreaccount1/tasks: metadata: +owner=ops -owner=me\n",
    ] {
        assert!(check.code == Some(1) && check.out.contains(expected), "{}{}", check.out, check.errors);
    }
    let applied = world.apply(&["log.yaml"]);
    assert_eq!(applied.code, Some(0), "{}", applied.errors);
    assert!(applied.out.ends_with("2 created, 2 changed, 1 as declared\n"), "{}", applied.out);
    let owner = queues.properties("tasks").await.unwrap().metadata;
    assert_eq!(owner, [("owner".to_owned(), "ops".to_owned())]);
    assert!(queues.properties("other").await.is_ok());
    assert_eq!(world.apply(&["log.yaml", "--check"]).code, Some(0));
}

/// The same account from Terraform at the start, and from ARM at the next.
#[tokio::test]
async fn a_server_adds_the_storage_accounts_of_the_blueprints_that_it_starts_with() {
    let here = tempfile::tempdir().unwrap();
    let data = here.path().join("data");
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../models/blueprint/tests/fixtures");
    let keys = || std::fs::read_to_string(data.join("storage-accounts.json")).unwrap();
    let mut seen = Vec::new();
    for file in ["storage.tf", "storage.json"] {
        let file = fixtures.join(file).display().to_string();
        let server = Server::start(&data, &["--durability", "relaxed", "--blueprint", &file]);
        let (_, listed) = server.ask("GET", "/v1/blueprints/stagentsdev", "").await;
        assert_eq!(listed["database"], Value::Null);
        assert_eq!(listed["storage"][0]["tables"][0]["table"], "Runs");
        assert_eq!(listed["storage"][0]["queues"][2]["metadata"], json!({"owner": "ops"}));
        server.stop();
        seen.push(keys());
    }
    assert!(seen[0].contains("\"stagentsdev\"") && seen[0] == seen[1], "the account is there once");
}

#[tokio::test]
async fn a_check_of_an_account_that_is_not_there_changes_nothing() {
    let world = World::new(&[]);
    let text = LOG.replace("- tables:", "- account: nobodys\n    tables:");
    world.write("log.yaml", &format!("{text}  - queues: [{{queue: never}}]\n"));
    let check = world.apply(&["log.yaml", "--check"]);
    assert_eq!(check.code, Some(1), "{}{}", check.out, check.errors);
    assert!(check.out.contains("account nobodys"), "{}", check.out);
    let (_, queues) = storage_of(&world.server);
    assert!(queues.properties("never").await.is_err());
}
