//! Scripts in the processes that the server starts for them.

use crate::server::{Server, make_container, poll};
use orrery_testing_client::{Client, Method, Request};
use serde_json::{Value, json};
use std::process::Command;

async fn make(client: &mut Client, list: &str, id: &str, body: &str) {
    let script = json!({"id": id, "body": body}).to_string();
    let made = client.call(&Request::new(Method::Post, format!("dbs/d/colls/c/{list}")).body(script)).await;
    assert_eq!(made.unwrap().status, 201);
}

async fn sum(client: &mut Client) -> Value {
    let call = Request::new(Method::Post, "dbs/d/colls/c/sprocs/sum").partition("p").body("[1,2]");
    client.call(&call).await.unwrap().json().unwrap()
}

async fn doubled(client: &mut Client) -> Value {
    let query = json!({"query": "SELECT VALUE udf.double(c.n) FROM c", "parameters": []});
    let call = Request::new(Method::Post, "dbs/d/colls/c/docs")
        .partition("p")
        .header("x-ms-documentdb-isquery", "True")
        .body(query.to_string());
    client.call(&call).await.unwrap().json().unwrap()["Documents"].clone()
}

/// Children of the server, as `ps` knows them.
fn workers(server: &Server) -> Vec<String> {
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let numbers = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let parent = format!("PPid:\t{}", server.process_id());
    let is_child = |number: &String| {
        let status = std::fs::read_to_string(format!("/proc/{number}/status")).unwrap_or_default();
        status.lines().any(|line| line == parent)
    };
    numbers.filter(|number| number.parse::<u32>().is_ok()).filter(is_child).collect()
}

/// Whether there is no such process, or none any more that does anything. Its parent cannot wait for it before its last
/// thread is gone.
fn has_ended(process: &String) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let is_zombie = status.lines().any(|line| line.starts_with("State:") && line.contains('Z'));
    let threads = std::fs::read_dir(format!("/proc/{process}/task")).map_or(0, Iterator::count);
    status.is_empty() || is_zombie && threads <= 1
}

fn catches_sigterm(process: &String) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:\t")).unwrap();
    u64::from_str_radix(caught, 16).unwrap() & (1 << (15 - 1)) != 0
}

#[tokio::test]
async fn scripts_run_in_processes_and_a_lost_process_is_replaced() {
    let here = tempfile::tempdir().unwrap();
    let server = Server::start(&here.path().join("data"), &[]);
    let mut client = server.client();
    let path = make_container(&mut client, &json!({})).await;
    client.create_item(&path, "p", &json!({"id": "a", "pk": "p", "n": 21})).await.unwrap();
    make(&mut client, "sprocs", "sum", "function (a, b) { __.response.setBody(a + b) }").await;
    make(&mut client, "udfs", "double", "n => n * 2").await;
    for _ in 0..2 {
        assert_eq!(sum(&mut client).await, 3);
        assert_eq!(doubled(&mut client).await, json!([42]));
        let workers = workers(&server);
        assert!(!workers.is_empty(), "no process runs scripts");
        assert!(Command::new("kill").arg("-9").args(&workers).status().unwrap().success());
        poll("the processes have ended", || workers.iter().all(has_ended).then_some(()));
    }
    assert_eq!(sum(&mut client).await, 3);
    server.stop();
}

#[tokio::test]
async fn a_worker_outlives_the_signals_that_are_sent_to_a_whole_service() {
    let here = tempfile::tempdir().unwrap();
    let server = Server::start(&here.path().join("data"), &[]);
    let mut client = server.client();
    make_container(&mut client, &json!({})).await;
    make(&mut client, "sprocs", "sum", "function (a, b) { __.response.setBody(a + b) }").await;
    assert_eq!(sum(&mut client).await, 3);
    let before = workers(&server);
    poll("every worker catches the signal", || before.iter().all(catches_sigterm).then_some(()));
    for signal in ["-TERM", "-INT", "-HUP"] {
        assert!(Command::new("kill").arg(signal).args(&before).status().unwrap().success());
    }
    assert_eq!(sum(&mut client).await, 3);
    assert_eq!(workers(&server), before);
    server.stop();
}
