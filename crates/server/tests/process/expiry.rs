//! Time to live in a whole server: gone at its second, and swept from the disk soon after.

use crate::server::{Server, make_container};
use orrery_documents::spaces::{DOCUMENTS, INDEX, SPACES};
use orrery_kv::{Engine as _, KeyRange, Order, Space};
use orrery_kv_fjall::{FjallEngine, Folder};
use serde_json::{Value, json};
use std::path::Path;
use std::time::{Duration, Instant};

async fn lsn(server: &Server) -> u64 {
    let (status, body): (u16, Value) = server.ask("GET", "/readyz", "").await;
    assert_eq!(status, 200, "{body}");
    body["lsn"].as_u64().unwrap()
}

/// The background work shows itself: a commit that no client asked for.
async fn wait_for_commit(server: &Server, after: u64) {
    let until = Instant::now() + Duration::from_secs(30);
    while lsn(server).await <= after {
        assert!(Instant::now() < until, "the reaper does not come");
        tokio::task::yield_now().await;
    }
}

/// Rows of a space in a folder that no server holds.
fn rows(data: &Path, space: Space) -> usize {
    let engine =
        FjallEngine::open(Folder::open(data).unwrap(), &SPACES, &orrery_kv_fjall::Options::default())
            .unwrap();
    let everything = KeyRange { start: Vec::new(), end: None };
    engine.view().range(space, &everything, Order::Ascending).count()
}

#[tokio::test]
async fn an_item_is_gone_at_its_second_and_the_reaper_takes_its_rows() {
    let here = tempfile::tempdir().unwrap();
    let data = here.path().join("data");
    let server = Server::start(&data, &["--clock", "manual"]);
    let mut client = server.client();
    let path = make_container(&mut client, &json!({"defaultTtl": -1})).await;
    assert_eq!(
        client.create_item(&path, "p", &json!({"id": "a", "pk": "p", "ttl": 5})).await.unwrap().status,
        201
    );
    assert_eq!(client.create_item(&path, "p", &json!({"id": "b", "pk": "p"})).await.unwrap().status, 201);
    server.advance(4).await;
    assert_eq!(client.read_item(&path, "p", "a").await.unwrap().status, 200);
    let before = lsn(&server).await;
    server.advance(1).await;
    assert_eq!(client.read_item(&path, "p", "a").await.unwrap().status, 404);
    wait_for_commit(&server, before).await;
    server.stop();
    assert_eq!(rows(&data, DOCUMENTS), 1, "of the two items one is left");
    let left = 1 + 1 + 1 + 3 + 1;
    assert_eq!(
        rows(&data, INDEX),
        left,
        "the partition, the tally, a place and three entries of the other, and where the log speaks of the first again"
    );
    let server = Server::start(&data, &[]);
    let mut client = server.client();
    assert_eq!(client.read_item(&path, "p", "a").await.unwrap().status, 404);
    assert_eq!(client.read_item(&path, "p", "b").await.unwrap().status, 200);
}
