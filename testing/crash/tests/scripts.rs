//! A stored procedure is all there or not at all, whenever the server is killed (S1-10).

#![expect(clippy::unwrap_used, reason = "a helper of a test that cannot go on panics, as the test does")]

use orrery_core::Env;
use orrery_crash::check::check;
use orrery_testing_client::{self as client, Client, ContainerPath, Method, Request, ServerProcess};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tempfile::TempDir;

/// Documents that one run of the procedure makes.
const DOCUMENTS: usize = 20;
const CALLERS: usize = 8;
const ROUNDS: usize = 4;
/// Runs that were answered in a round before the kill; the callers go on meanwhile.
const ANSWERED: usize = 25;

const PROCEDURE: &str = "function (partition, count) {
  for (let n = 0; n < count; n++) {
    if (!__.createDocument(__.getSelfLink(), { id: String(n), pk: partition, n })) throw new Error('not taken');
  }
}";

fn path() -> ContainerPath {
    ContainerPath::new("d", "c")
}

fn procedures() -> String {
    path().items().replace("/docs", "/sprocs")
}

async fn prepare(address: SocketAddr) {
    let mut client = Client::new(address, Env::system().unwrap());
    client.create_database("d").await.unwrap();
    client.create_container(&path(), &json!({})).await.unwrap();
    let body = json!({"id": "fill", "body": PROCEDURE}).to_string();
    let made = client.call(&Request::new(Method::Post, procedures()).body(body)).await.unwrap();
    assert_eq!(made.status, 201);
}

/// Runs the procedure, each time in a partition of its own, until the server is gone. Gives the partitions that were
/// answered.
async fn call_on(address: SocketAddr, next: Arc<AtomicUsize>, answered: Arc<AtomicUsize>) -> Vec<String> {
    let mut client = Client::new(address, Env::system().unwrap());
    let mut done = Vec::new();
    loop {
        let partition = format!("p{}", next.fetch_add(1, Ordering::Relaxed));
        let run = Request::new(Method::Post, format!("{}/fill", procedures()));
        let run = run.partition(&partition).body(json!([partition, DOCUMENTS]).to_string());
        match client.call(&run).await {
            Err(_) => return done,
            Ok(reply) => {
                assert_eq!(reply.status, 200, "{}", String::from_utf8_lossy(&reply.body));
                done.push(partition);
                answered.fetch_add(1, Ordering::Release);
            }
        }
    }
}

/// How many documents each partition has.
async fn counted(address: SocketAddr) -> BTreeMap<String, usize> {
    let mut client = Client::new(address, Env::system().unwrap());
    let (mut counts, mut continuation) = (BTreeMap::new(), None::<String>);
    loop {
        let page = client.call(&path().feed(1000, continuation.as_deref())).await.unwrap();
        for item in page.json().unwrap()["Documents"].as_array().unwrap() {
            let partition = item["pk"].as_str().map(str::to_owned);
            *counts.entry(partition.unwrap()).or_default() += usize::from(item["n"] != Value::Null);
        }
        continuation = page.header("x-ms-continuation").map(str::to_owned);
        if continuation.is_none() {
            return counts;
        }
    }
}

#[test]
fn a_procedure_is_all_there_or_not_at_all_after_a_kill() {
    let binary = client::newest_binary().unwrap_or_else(|missing| panic!("{missing}"));
    let folder = TempDir::with_prefix("orrery-scripts-").unwrap();
    let options = client::Options::new(binary.clone());
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let (next, mut acknowledged) = (Arc::new(AtomicUsize::new(0)), Vec::new());
    for round in 0..ROUNDS {
        let server = ServerProcess::start(folder.path(), &options).unwrap();
        let address = server.cosmos();
        if round == 0 {
            runtime.block_on(prepare(address));
        }
        let answered = Arc::new(AtomicUsize::new(0));
        let callers: Vec<_> =
            (0..CALLERS).map(|_| runtime.spawn(call_on(address, next.clone(), answered.clone()))).collect();
        while answered.load(Ordering::Acquire) < ANSWERED {
            std::thread::yield_now();
        }
        server.kill().unwrap();
        for caller in callers {
            acknowledged.extend(runtime.block_on(caller).unwrap());
        }
        let verdict = check(&binary, folder.path()).unwrap();
        assert!(verdict.agrees(), "{}", verdict.said);
    }
    let server = ServerProcess::start(folder.path(), &options).unwrap();
    let counts = runtime.block_on(counted(server.cosmos()));
    server.kill().unwrap();
    assert!(counts.values().all(|count| *count == DOCUMENTS), "a procedure is half there: {counts:?}");
    assert!(acknowledged.len() >= ROUNDS * ANSWERED);
    for partition in &acknowledged {
        assert!(counts.contains_key(partition), "{partition} was answered and is gone");
    }
}
