//! Ending on a signal: what was acknowledged is there afterwards, and the exit code says that all was well.

use crate::server::{Server, make_container};
use orrery_testing_client::{Client, ContainerPath};
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

const WRITERS: usize = 8;
/// The signal comes after so many acknowledged writes, in the middle of the next ones.
const BEFORE_THE_SIGNAL: usize = 200;

/// Creates items until the server refuses or is gone; gives the ids that were acknowledged.
async fn write(
    mut client: Client,
    path: ContainerPath,
    writer: usize,
    done: Arc<AtomicUsize>,
) -> Vec<String> {
    let mut acknowledged = Vec::new();
    for number in 0.. {
        let id = format!("{writer}-{number}");
        match client
            .create_item(&path, &writer.to_string(), &json!({"id": id, "pk": writer.to_string()}))
            .await
        {
            Ok(reply) if reply.status == 201 => acknowledged.push(id),
            Ok(reply) if reply.status == 503 => return acknowledged,
            Ok(reply) => panic!("{} while stopping", reply.status),
            Err(_) => return acknowledged,
        }
        done.fetch_add(1, Ordering::Relaxed);
    }
    acknowledged
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_stopped_under_load_ends_well_and_keeps_every_acknowledged_write() {
    let here = tempfile::tempdir().unwrap();
    let data = here.path().join("data");
    let mut server = Server::start(&data, &[]);
    let path = make_container(&mut server.client(), &json!({})).await;
    let done = Arc::new(AtomicUsize::new(0));
    let writers: Vec<_> = (0..WRITERS)
        .map(|writer| tokio::spawn(write(server.client(), path.clone(), writer, done.clone())))
        .collect();
    while done.load(Ordering::Relaxed) < BEFORE_THE_SIGNAL {
        tokio::task::yield_now().await;
    }
    server.signal("-TERM");
    let mut acknowledged = Vec::new();
    for writer in writers {
        acknowledged.push(writer.await.unwrap());
    }
    let ended = tokio::task::spawn_blocking(move || server.wait()).await.unwrap();
    assert_eq!(ended.code(), Some(0));
    let server = Server::start(&data, &[]);
    let mut client = server.client();
    for (writer, ids) in acknowledged.iter().enumerate() {
        assert!(!ids.is_empty(), "writer {writer} got nothing done");
        for id in ids {
            let reply = client.read_item(&path, &writer.to_string(), id).await.unwrap();
            assert_eq!(reply.status, 200, "{id} was acknowledged and is gone");
        }
    }
}

#[test]
fn an_interrupt_is_a_stop_too() {
    let here = tempfile::tempdir().unwrap();
    let mut server = Server::start(&here.path().join("data"), &[]);
    server.signal("-INT");
    assert_eq!(server.wait().code(), Some(0));
}

#[tokio::test]
async fn a_stop_frees_the_folder_and_the_ports() {
    let here = tempfile::tempdir().unwrap();
    let data = here.path().join("data");
    let server = Server::start(&data, &[]);
    let (cosmos, services) = (server.cosmos.port().to_string(), server.services.port().to_string());
    assert_eq!(server.client().read_account().await.unwrap().status, 200);
    server.stop();
    let scratch = tempfile::tempdir().unwrap();
    let mut command = crate::server::orrery(scratch.path());
    command
        .args(["serve", "--cosmos-port", &cosmos, "--services-port", &services, "--free-ports", "--data"])
        .arg(&data);
    let again = Server::run(command, scratch);
    assert_eq!(again.client().read_account().await.unwrap().status, 200);
}
