//! `orrery migrate`: containers become others while they are written to, and whoever is killed meanwhile.

mod apart;

use crate::server::{Server, orrery, poll};
use orrery_testing_client::{Client, ContainerPath, Method, Request};
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Output, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use tempfile::TempDir;

const COLLECTIONS: [(&str, &str); 5] = [
    ("archives", "source"),
    ("messages", "thread_id"),
    ("chunks", "message_id"),
    ("threads", "id"),
    ("summaries", "thread_id"),
];

fn item(at: usize, version: u64) -> Value {
    let (collection, key) = COLLECTIONS[at % COLLECTIONS.len()];
    let mut item =
        json!({"id": format!("i{at}"), "collection": collection, "version": version, "n": at as f64 / 3.0});
    if key != "id" {
        item[key] = json!(format!("k{}", at % 17));
    }
    item
}

async fn make(client: &mut Client, database: &str, container: &str, key: &str) -> ContainerPath {
    assert!(matches!(client.create_database(database).await.unwrap().status, 201 | 409));
    let path = ContainerPath::new(database, container);
    let more = json!({"partitionKey": {"paths": [key], "kind": "Hash", "version": 2}});
    assert_eq!(client.create_container(&path, &more).await.unwrap().status, 201);
    path
}

async fn upsert(client: &mut Client, path: &ContainerPath, partition: &str, item: &Value) -> Option<u16> {
    client.upsert_item(path, partition, item).await.ok().map(|reply| reply.status)
}

fn migrator(address: SocketAddr, arguments: &[&str], here: &Path) -> std::process::Command {
    let mut command = orrery(here);
    command.arg("migrate").args(arguments).args(["--url", &format!("http://{address}")]);
    command
}

/// Exit code, standard output and standard error.
fn migrate(address: SocketAddr, arguments: &[&str]) -> (Option<i32>, String, String) {
    let here = tempfile::tempdir().unwrap();
    let Output { status, stdout, stderr } = migrator(address, arguments, here.path()).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (status.code(), text(stdout), text(stderr))
}

fn well(address: SocketAddr, arguments: &[&str]) -> Value {
    let (code, out, errors) = migrate(address, &[arguments, &["--json"]].concat());
    assert_eq!(code, Some(0), "{out}{errors}");
    serde_json::from_str(&out).unwrap()
}

fn refused(server: &Server, arguments: &[&str], why: &str) {
    let (code, out, errors) = migrate(server.cosmos, arguments);
    assert!(code == Some(2) && errors.contains(why), "{arguments:?}: {out}{errors}");
}

async fn read(client: &mut Client, container: (&str, &str), partition: &str, id: &str) -> Option<Value> {
    let path = ContainerPath::new(container.0, container.1);
    let reply = client.read_item(&path, partition, id).await.unwrap();
    (reply.status == 200).then(|| reply.json().unwrap())
}

/// S0-117, S0-119, S3-47: copied, compared, kept for a time, and dropped.
#[tokio::test(flavor = "multi_thread")]
async fn a_container_becomes_five_and_is_dropped_when_its_time_is_over() {
    let here = tempfile::tempdir().unwrap();
    let server = Server::start(&here.path().join("data"), &["--durability", "relaxed", "--clock", "manual"]);
    let mut client = server.client();
    let documents = make(&mut client, "copilot", "documents", "/collection").await;
    for at in 0..300 {
        let item = item(at, 1);
        assert_eq!(
            upsert(&mut client, &documents, item["collection"].as_str().unwrap(), &item).await,
            Some(201)
        );
    }
    let other = json!({"id": "other", "collection": "elsewhere"});
    assert_eq!(upsert(&mut client, &documents, "elsewhere", &other).await, Some(201));
    let (code, out, _) = migrate(server.cosmos, &["cleanup", "copilot-split"]);
    assert_ne!(code, Some(0), "{out}");
    assert_eq!(well(server.cosmos, &["copilot-split"])["copied"], 301);

    // What changes afterwards is followed, deletes and moves to other partitions too.
    assert_eq!(upsert(&mut client, &documents, "archives", &item(0, 2)).await, Some(200));
    let mut moved = item(1, 2);
    moved["thread_id"] = json!("elsewhere");
    assert_eq!(upsert(&mut client, &documents, "messages", &moved).await, Some(200));
    assert_eq!(client.delete_item(&documents, "chunks", "i2", None).await.unwrap().status, 204);
    let (code, out, _) = migrate(server.cosmos, &["verify", "copilot-split"]);
    assert_eq!(code, Some(1), "{out}");
    for line in [
        "different: archives [\"k0\"] i0",
        "missing: messages [\"elsewhere\"] i1",
        "extra: chunks [\"k2\"] i2",
    ] {
        assert!(out.contains(line), "{line} in {out}");
    }
    let done = well(server.cosmos, &["copilot-split", "--finish", "--keep", "1h"]);
    assert_eq!((&done["finished"], &done["verdict"]["target"]["items"]), (&json!(true), &json!(299)));
    assert_eq!(done["copied"], 0, "what was copied is not copied again");
    assert_eq!(read(&mut client, ("copilot", "archives"), "k0", "i0").await.unwrap()["version"], 2);
    assert_eq!(read(&mut client, ("copilot", "messages"), "k1", "i1").await, None);
    assert_eq!(done["verdict"]["left"], 1, "the item that no rule takes");
    assert_eq!(well(server.cosmos, &["status", "copilot-split"])["phase"], "finished");

    // The target is in use now: nothing overwrites it any more, and nothing that is only in the source is dropped.
    refused(&server, &["copilot-split"], "--reopen");
    refused(&server, &["cleanup", "copilot-split"], "3600 seconds more");
    server.advance(3600).await;
    assert_eq!(upsert(&mut client, &documents, "archives", &item(0, 3)).await, Some(200));
    refused(
        &server,
        &["cleanup", "copilot-split"],
        "was written after 'copilot-split' was finished, such as the item \"i0\"",
    );
    assert_eq!(read(&mut client, ("copilot", "archives"), "k0", "i0").await.unwrap()["version"], 2);
    well(server.cosmos, &["copilot-split", "--reopen", "--finish", "--keep", "0s"]);
    assert_eq!(read(&mut client, ("copilot", "archives"), "k0", "i0").await.unwrap()["version"], 3);
    refused(&server, &["cleanup", "copilot-split"], "1 items of the old containers were taken by no rule");
    let dropped = well(server.cosmos, &["cleanup", "copilot-split", "--drop-left"]);
    assert_eq!(dropped["dropped"], json!(["documents"]));
    refused(&server, &["copilot-split"], "its old containers are dropped");
    assert_eq!(client.call(&Request::new(Method::Get, documents.items())).await.unwrap().status, 404);
    server.stop();
}

/// A server by the manual clock, with three items that were migrated and may go in seven days.
async fn finished(here: &Path) -> (Server, Client, ContainerPath) {
    let server = Server::start(&here.join("data"), &["--durability", "relaxed", "--clock", "manual"]);
    let mut client = server.client();
    let documents = make(&mut client, "copilot", "documents", "/collection").await;
    for at in [0, 5, 10] {
        assert_eq!(upsert(&mut client, &documents, "archives", &item(at, 1)).await, Some(201));
    }
    assert_eq!(well(server.cosmos, &["copilot-split", "--finish"])["finished"], true);
    (server, client, documents)
}

const EIGHT_DAYS: u64 = 8 * 86_400;
const WRITTEN: &str = "'documents' was written after 'copilot-split' was finished, such as the item \"i0\"";

/// The container keeps all versions for seven days, but that something was written is known for ever.
#[tokio::test(flavor = "multi_thread")]
async fn what_was_written_after_the_end_keeps_its_container_however_long_ago_it_was() {
    let here = tempfile::tempdir().unwrap();
    let (server, mut client, documents) = finished(here.path()).await;
    assert_eq!(upsert(&mut client, &documents, "archives", &item(0, 2)).await, Some(200));
    server.advance(EIGHT_DAYS).await;
    refused(&server, &["cleanup", "copilot-split"], WRITTEN);
    server.stop();
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_deleted_after_the_end_keeps_its_container_also_when_nobody_knows_it_any_more() {
    let here = tempfile::tempdir().unwrap();
    let (server, mut client, documents) = finished(here.path()).await;
    assert_eq!(client.delete_item(&documents, "archives", "i0", None).await.unwrap().status, 204);
    server.advance(EIGHT_DAYS).await;
    refused(&server, &["cleanup", "copilot-split"], "whether somebody deleted them");
    let status = well(server.cosmos, &["status", "copilot-split"]);
    assert_eq!(status["ranges"][0]["waiting"], Value::Null, "{status}");
    server.stop();
}

/// Ranges that came of a split know what their parent had seen.
#[tokio::test(flavor = "multi_thread")]
async fn what_was_written_to_a_range_that_split_after_the_end_keeps_its_container() {
    let here = tempfile::tempdir().unwrap();
    let (server, mut client, documents) = finished(here.path()).await;
    split(&server, here.path());
    let status = well(server.cosmos, &["status", "copilot-split"]);
    let ranges = status["ranges"].as_array().unwrap();
    assert!(ranges.len() > 1 && ranges.iter().all(|range| range["waiting"] == 0), "{status}");
    assert_eq!(upsert(&mut client, &documents, "archives", &item(0, 2)).await, Some(200));
    server.advance(EIGHT_DAYS).await;
    refused(&server, &["cleanup", "copilot-split"], WRITTEN);
    server.stop();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_container_that_nobody_used_after_the_end_goes_also_when_it_was_split() {
    let here = tempfile::tempdir().unwrap();
    let (server, _, _) = finished(here.path()).await;
    split(&server, here.path());
    server.advance(EIGHT_DAYS).await;
    assert_eq!(well(server.cosmos, &["cleanup", "copilot-split"])["dropped"], json!(["documents"]));
    server.stop();
}

/// More throughput than one range has: the container's ranges split.
fn split(server: &Server, here: &Path) {
    let blueprint = "blueprint: copilot
database: copilot
containers: [{id: documents, partitionKey: /collection, environments: {development: {manual: 18000}}}]
";
    std::fs::write(here.join("more.yaml"), blueprint).unwrap();
    let url = format!("http://{}", server.cosmos);
    let applied = orrery(here).args(["apply", "more.yaml", "--url", &url]).output().unwrap();
    assert!(applied.status.success(), "{}", String::from_utf8_lossy(&applied.stderr));
}

/// What only the target has is kept, unless one asks for it to go; and a plan may not change under a migration.
#[tokio::test(flavor = "multi_thread")]
async fn what_only_the_target_has_is_named_and_goes_only_when_asked() {
    let here = tempfile::tempdir().unwrap();
    let server = Server::start(&here.path().join("data"), &["--durability", "relaxed"]);
    let mut client = server.client();
    let orders = make(&mut client, "shop", "orders", "/id").await;
    for at in 0..5 {
        let order = json!({"id": format!("o{at}"), "customer": "ada", "bad": at == 4});
        assert_eq!(upsert(&mut client, &orders, &format!("o{at}"), &order).await, Some(201));
    }
    let file = here.path().join("plan.yaml");
    let plan = "name: by-customer
source: {database: shop, containers: {orders: {partitionKey: /id}}}
target: {database: shop, containers: {by-customer: {partitionKey: /customer}}}
rules: [{from: orders, to: by-customer, steps: [{remove: {path: /bad, value: false}}]}]
";
    std::fs::write(&file, plan).unwrap();
    let file = file.to_str().unwrap();
    let (code, out, _) = migrate(server.cosmos, &[file]);
    assert_eq!(code, Some(1), "{out}");
    assert!(
        out.contains("refused: orders [\"o4\"] o4: the member /bad is true and should be false"),
        "{out}"
    );
    assert_eq!(client.delete_item(&orders, "o4", "o4", None).await.unwrap().status, 204);

    let target = ContainerPath::new("shop", "by-customer");
    assert_eq!(
        upsert(&mut client, &target, "bob", &json!({"id": "own", "customer": "bob"})).await,
        Some(201)
    );
    let (code, out, _) = migrate(server.cosmos, &[file, "--finish"]);
    assert!(code == Some(1) && out.contains("extra: by-customer [\"bob\"] own"), "{out}");
    assert!(read(&mut client, ("shop", "by-customer"), "bob", "own").await.is_some());
    let done = well(server.cosmos, &[file, "--finish", "--prune"]);
    assert_eq!(done["finished"], true);
    assert_eq!(read(&mut client, ("shop", "by-customer"), "bob", "own").await, None);

    std::fs::write(file, plan.replace("/bad", "/other")).unwrap();
    refused(&server, &[file, "--reopen"], "a plan that said something else");
    refused(&server, &["no-such-plan"], "built-in ones are copilot-split");
    refused(&server, &["staus", file], "none of status, verify and cleanup");
    server.stop();
}

/// C-09: embedded checkpoints become items; and S0-120: writes on either side appear on the other.
#[tokio::test(flavor = "multi_thread")]
async fn with_both_sides_written_each_write_appears_on_the_other_and_none_comes_back() {
    let here = tempfile::tempdir().unwrap();
    let server = Server::start(&here.path().join("data"), &["--durability", "relaxed"]);
    let mut client = server.client();
    let states = make(&mut client, "project-ascension-db", "workflow-states", "/workflow_id").await;
    make(&mut client, "project-ascension-db", "thread-message-store", "/threadId").await;
    make(&mut client, "project-ascension-db", "agent-entity-store", "/agentId").await;
    let workflow = |at: usize, steps: usize| {
        let checkpoints: Vec<Value> =
            (0..steps).map(|step| json!({"step": step, "timestamp": "t", "state": {"s": step}})).collect();
        json!({"id": format!("d{at}"), "workflow_id": format!("w{at}"), "type": "saga", "checkpoints": checkpoints})
    };
    for at in 0..20 {
        assert_eq!(upsert(&mut client, &states, &format!("w{at}"), &workflow(at, at % 4)).await, Some(201));
    }
    let both = ["ascension-to-studio", "--dual-write", "both"];
    assert_eq!(well(server.cosmos, &both)["copied"], 20);
    let (workflows, checkpoints) = (("AgentStudio", "workflows"), ("AgentStudio", "checkpoints"));
    let path = |place: (&str, &str)| ContainerPath::new(place.0, place.1);
    assert_eq!(read(&mut client, workflows, "w3", "w3").await.unwrap()["pattern"], "saga");
    assert_eq!(read(&mut client, checkpoints, "w3", "cp_w3_000002").await.unwrap()["state"]["s"], 2);

    // In the source: one checkpoint fewer, and a deletion. In the target: a change, a new part, a new item, a deletion.
    assert_eq!(upsert(&mut client, &states, "w3", &workflow(3, 2)).await, Some(200));
    assert_eq!(client.delete_item(&states, "w2", "d2", None).await.unwrap().status, 204);
    let mut w7 = read(&mut client, workflows, "w7", "w7").await.unwrap();
    w7["status"] = json!("Running");
    assert_eq!(upsert(&mut client, &path(workflows), "w7", &w7).await, Some(200));
    let part = json!({"id": "cp_own", "workflowId": "w6", "step": 9});
    assert_eq!(upsert(&mut client, &path(checkpoints), "w6", &part).await, Some(201));
    assert_eq!(
        upsert(&mut client, &path(workflows), "new", &json!({"id": "new", "name": "n"})).await,
        Some(201)
    );
    assert_eq!(client.delete_item(&path(workflows), "w9", "w9", None).await.unwrap().status, 204);
    assert!(well(server.cosmos, &both)["followed"].as_u64().unwrap() >= 6);

    assert_eq!(read(&mut client, checkpoints, "w3", "cp_w3_000002").await, None);
    assert_eq!(read(&mut client, workflows, "w2", "w2").await, None);
    let source = ("project-ascension-db", "workflow-states");
    assert_eq!(read(&mut client, source, "w7", "d7").await.unwrap()["status"], "Running");
    let elements = read(&mut client, source, "w6", "d6").await.unwrap()["checkpoints"].clone();
    assert!(elements.as_array().unwrap().iter().any(|one| one["checkpoint_id"] == "cp_own"), "{elements}");
    assert_eq!(read(&mut client, source, "new", "new").await.unwrap()["name"], "n");
    assert_eq!(read(&mut client, source, "w9", "d9").await, None);

    // Our own writes are followed and change nothing: every tag stays.
    let tag = read(&mut client, source, "w7", "d7").await.unwrap()["_etag"].clone();
    let other = read(&mut client, workflows, "w3", "w3").await.unwrap()["_etag"].clone();
    well(server.cosmos, &both);
    assert_eq!(well(server.cosmos, &both)["followed"], 0, "an echo goes on");
    assert_eq!(read(&mut client, source, "w7", "d7").await.unwrap()["_etag"], tag);
    assert_eq!(read(&mut client, workflows, "w3", "w3").await.unwrap()["_etag"], other);
    server.stop();
}

/// The last version of each item, or that it was deleted.
type Acknowledged = Vec<(usize, Option<u64>)>;

struct Load {
    is_over: Arc<AtomicBool>,
    done: Arc<AtomicU64>,
    tasks: Vec<tokio::task::JoinHandle<Acknowledged>>,
}

/// Writers with items of their own, who note what was acknowledged; only a broken connection is forgiven them.
fn write_on(address: Arc<std::sync::Mutex<SocketAddr>>, documents: &ContainerPath) -> Load {
    let (is_over, done) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
    let tasks = (0..4).map(|writer: usize| {
        let (is_over, done, address, documents) =
            (is_over.clone(), done.clone(), address.clone(), documents.clone());
        tokio::spawn(async move {
            let at_now = || *address.lock().unwrap();
            let mut client = Client::new(at_now(), orrery_core::Env::system().unwrap());
            let mut last: std::collections::BTreeMap<usize, Option<u64>> = Default::default();
            let mut version = 1;
            while !is_over.load(Ordering::Acquire) {
                version += 1;
                let at = 1000 + writer + 4 * (version as usize * 7 % 50);
                let item = item(at, version);
                let partition = item["collection"].as_str().unwrap();
                let is_delete = version % 5 == 0;
                // A write whose answer was lost is made again until there is one.
                loop {
                    let reply = match is_delete {
                        true => client.delete_item(&documents, partition, &format!("i{at}"), None).await,
                        false => client.upsert_item(&documents, partition, &item).await,
                    };
                    match reply {
                        Ok(reply) => {
                            assert!(matches!(reply.status, 200 | 201 | 204 | 404), "{}", reply.status);
                            break;
                        }
                        Err(_) => client = Client::new(at_now(), orrery_core::Env::system().unwrap()),
                    }
                    tokio::task::yield_now().await;
                }
                // And reads of what nobody changes are answered all the while.
                let known = item_of_first(version);
                if let Ok(reply) = client.read_item(&documents, &known.0, &known.1).await {
                    assert_eq!(reply.status, 200);
                }
                last.insert(at, (!is_delete).then_some(version));
                done.fetch_add(1, Ordering::Release);
            }
            last.into_iter().collect()
        })
    });
    Load { tasks: tasks.collect(), is_over, done }
}

/// One of the items that are there from the beginning: its partition and its id.
fn item_of_first(at: u64) -> (String, String) {
    let item = item(at as usize % 400, 1);
    (item["collection"].as_str().unwrap().to_owned(), item["id"].as_str().unwrap().to_owned())
}

/// A migrator that has begun: the position of the range is in its hands.
async fn spawn(server: &Server, here: &TempDir) -> Child {
    let mut client = server.client();
    let before = position(&mut client).await;
    let mut command = migrator(server.cosmos, &["copilot-split", "--follow"], here.path());
    let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let until = std::time::Instant::now() + std::time::Duration::from_secs(60);
    while position(&mut client).await == before {
        assert!(std::time::Instant::now() < until, "the migrator does not begin");
        tokio::time::sleep(std::time::Duration::from_millis(2)).await;
    }
    child
}

async fn position(client: &mut Client) -> Option<Value> {
    let found =
        read(client, ("copilot", "orrery-migrations"), "copilot-split", "range-source-documents-0").await;
    found.map(|state| state["_etag"].clone())
}

/// S3-47: no lost write, whoever is killed.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_migration_under_load_survives_the_death_of_the_migrator_and_of_the_server() {
    let here = tempfile::tempdir().unwrap();
    let data = here.path().join("data");
    let mut server = Server::start(&data, &[]);
    let port = server.cosmos.port().to_string();
    let mut client = server.client();
    let documents = make(&mut client, "copilot", "documents", "/collection").await;
    for at in 0..400 {
        let item = item(at, 1);
        assert_eq!(
            upsert(&mut client, &documents, item["collection"].as_str().unwrap(), &item).await,
            Some(201)
        );
    }
    let address = Arc::new(std::sync::Mutex::new(server.cosmos));
    let load = write_on(address.clone(), &documents);
    let more = |than: u64| {
        let from = load.done.load(Ordering::Acquire);
        poll("writers go on", || (load.done.load(Ordering::Acquire) >= from + than).then_some(()));
    };
    let mut child = spawn(&server, &here).await;
    for round in 0..3 {
        more(20);
        child.kill().unwrap();
        child.wait().unwrap();
        if round == 1 {
            let mut running = spawn(&server, &here).await;
            more(5);
            server.signal("-KILL");
            server.wait();
            let scratch = tempfile::tempdir().unwrap();
            let mut command = orrery(scratch.path());
            command.arg("serve").arg("--data").arg(&data);
            command.args(["--cosmos-port", &port, "--free-ports"]);
            server = Server::run(command, scratch);
            *address.lock().unwrap() = server.cosmos;
            more(20);
            assert!(running.try_wait().unwrap().is_none(), "the migrator waits for its server");
            running.kill().unwrap();
            running.wait().unwrap();
        }
        child = spawn(&server, &here).await;
    }
    more(20);
    child.kill().unwrap();
    child.wait().unwrap();
    load.is_over.store(true, Ordering::Release);
    let mut acknowledged = Vec::new();
    for task in load.tasks {
        acknowledged.extend(task.await.unwrap());
    }
    assert_eq!(well(server.cosmos, &["copilot-split", "--finish"])["finished"], true);
    let mut client = server.client();
    for (at, version) in acknowledged {
        let wanted = item(at, 0);
        let (collection, key) = COLLECTIONS[at % COLLECTIONS.len()];
        let found =
            read(&mut client, ("copilot", collection), wanted[key].as_str().unwrap(), &format!("i{at}"))
                .await;
        assert_eq!(found.map(|item| item["version"].as_u64().unwrap()), version, "i{at}");
    }
    server.stop();
}

/// Workflows that only the source writes, or only the target, so that none has two newest versions.
const WORKFLOWS: u64 = 12;

/// Writes workflows with embedded checkpoints to the source until told to stop; gives the last version of each.
async fn write_states(address: SocketAddr, is_over: Arc<AtomicBool>) -> Vec<(u64, Option<u64>)> {
    let mut client = Client::new(address, orrery_core::Env::system().unwrap());
    let path = ContainerPath::new("project-ascension-db", "workflow-states");
    let mut last = std::collections::BTreeMap::new();
    for version in 1.. {
        let at = version * 5 % WORKFLOWS;
        let (id, partition) = (format!("d{at}"), format!("w{at}"));
        let checkpoints: Vec<Value> =
            (0..version % 4).map(|step| json!({"step": step, "state": {"version": version}})).collect();
        let item =
            json!({"id": id, "workflow_id": partition, "version": version, "checkpoints": checkpoints});
        let is_delete = version % 7 == 0;
        let status = match is_delete {
            true => client.delete_item(&path, &partition, &id, None).await.unwrap().status,
            false => client.upsert_item(&path, &partition, &item).await.unwrap().status,
        };
        assert!(matches!(status, 200 | 201 | 204 | 404), "{status}");
        last.insert(at, (!is_delete).then_some(version));
        if is_over.load(Ordering::Acquire) {
            break;
        }
        tokio::task::yield_now().await;
    }
    last.into_iter().collect()
}

/// The same in the target: workflows, each with one checkpoint.
async fn write_workflows(address: SocketAddr, is_over: Arc<AtomicBool>) -> Vec<(u64, Option<u64>)> {
    let mut client = Client::new(address, orrery_core::Env::system().unwrap());
    let path = |name| ContainerPath::new("AgentStudio", name);
    let mut last = std::collections::BTreeMap::new();
    for version in 1.. {
        let at = version * 5 % WORKFLOWS;
        let id = format!("x{at}");
        let is_delete = version % 7 == 0;
        let status = match is_delete {
            true => client.delete_item(&path("workflows"), &id, &id, None).await.unwrap().status,
            false => {
                let item = json!({"id": id, "version": version});
                client.upsert_item(&path("workflows"), &id, &item).await.unwrap().status
            }
        };
        assert!(matches!(status, 200 | 201 | 204 | 404), "{status}");
        if !is_delete {
            let part = json!({"id": format!("cp_own_{at}"), "workflowId": id, "version": version});
            let status = client.upsert_item(&path("checkpoints"), &id, &part).await.unwrap().status;
            assert!(matches!(status, 200 | 201), "{status}");
        }
        last.insert(at, (!is_delete).then_some(version));
        if is_over.load(Ordering::Acquire) {
            break;
        }
        tokio::task::yield_now().await;
    }
    last.into_iter().collect()
}

/// S0-120, S3-47: units of several items, written on both sides, while the migrator is killed again and again.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn with_both_sides_written_no_write_is_lost_when_the_migrator_dies() {
    let here = tempfile::tempdir().unwrap();
    let server = Server::start(&here.path().join("data"), &["--durability", "relaxed"]);
    let mut client = server.client();
    make(&mut client, "project-ascension-db", "workflow-states", "/workflow_id").await;
    make(&mut client, "project-ascension-db", "thread-message-store", "/threadId").await;
    make(&mut client, "project-ascension-db", "agent-entity-store", "/agentId").await;
    let both = ["ascension-to-studio", "--dual-write", "both"];
    well(server.cosmos, &both);
    let is_over = Arc::new(AtomicBool::new(false));
    let of_source = tokio::spawn(write_states(server.cosmos, is_over.clone()));
    let of_target = tokio::spawn(write_workflows(server.cosmos, is_over.clone()));
    for round in 0..6 {
        let mut child = migrator(server.cosmos, &[&both[..], &["--follow"]].concat(), here.path())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        tokio::time::sleep(std::time::Duration::from_millis(300 + 70 * round)).await;
        assert!(child.try_wait().unwrap().is_none(), "it goes on until it is killed");
        child.kill().unwrap();
        child.wait().unwrap();
    }
    is_over.store(true, Ordering::Release);
    let (of_source, of_target) = (of_source.await.unwrap(), of_target.await.unwrap());
    let done = well(server.cosmos, &[&both[..], &["--finish"]].concat());
    assert_eq!(done["finished"], true, "{done}");
    let source = ("project-ascension-db", "workflow-states");
    let version = |item: Option<Value>| item.map(|item| item["version"].as_u64().unwrap());
    for (at, expected) in of_source {
        let (id, partition) = (format!("d{at}"), format!("w{at}"));
        let here = version(read(&mut client, source, &partition, &id).await);
        let there = version(read(&mut client, ("AgentStudio", "workflows"), &partition, &partition).await);
        assert_eq!((here, there), (expected, expected), "{partition}");
    }
    for (at, expected) in of_target {
        let id = format!("x{at}");
        let here = read(&mut client, source, &id, &id).await;
        let there = version(read(&mut client, ("AgentStudio", "workflows"), &id, &id).await);
        assert_eq!((version(here.clone()), there), (expected, expected), "{id}");
        if let Some(version) = expected {
            assert_eq!(here.unwrap()["checkpoints"][0]["version"], version, "{id}");
        }
    }
    server.stop();
}
