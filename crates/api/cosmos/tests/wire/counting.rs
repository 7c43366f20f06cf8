//! Many clients change one counter at once, and no change is lost (S1-62).

use crate::batches::{batch, statuses};
use crate::call::Call;
use crate::world::{ITEMS, World};
use orrery_testing_client::Connection;
use serde_json::{Value, json};

const ITEM: &str = "dbs/d/colls/c/docs/i";
const PK: &str = r#"["p"]"#;
const CLIENTS: usize = 64;
const EACH: usize = 4;

async fn counted(world: &World) -> Value {
    world.answered(200, Call::get(ITEM).partition(PK)).await.json().unwrap()["n"].clone()
}

async fn world() -> World {
    let world = World::new().await;
    world.made(Call::post(ITEMS, r#"{"id":"i","pk":"p","n":0}"#).partition(PK)).await;
    world
}

/// Reads and replaces with the tag that was read, until it is the one that wins.
async fn by_tag(world: &World, connection: &mut Connection) {
    loop {
        let read = world.call_on(connection, &Call::get(ITEM).partition(PK)).await;
        let n = read.json().unwrap()["n"].as_u64().unwrap();
        let body = json!({"id": "i", "pk": "p", "n": n + 1}).to_string();
        let call = Call::put(ITEM, body).partition(PK).header("if-match", read.header("etag").unwrap());
        match world.call_on(connection, &call).await.status {
            200 => return,
            status => assert_eq!(status, 412),
        }
    }
}

/// All clients at once, each so often.
async fn all(world: &World, one: impl AsyncFn(&World, &mut Connection)) {
    let clients = (0..CLIENTS).map(async |_| {
        let mut connection = Connection::connect(world.address).await.unwrap();
        for _ in 0..EACH {
            one(world, &mut connection).await;
        }
    });
    let mut clients: Vec<_> = clients.map(Box::pin).collect();
    std::future::poll_fn(|context| {
        clients.retain_mut(|client| client.as_mut().poll(context).is_pending());
        if clients.is_empty() { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn increments_by_tag_lose_none() {
    let world = world().await;
    all(&world, by_tag).await;
    assert_eq!(counted(&world).await, CLIENTS * EACH);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn increments_by_patch_and_by_batch_lose_none() {
    let world = world().await;
    let incr = json!([{"op": "incr", "path": "/n", "value": 1}]);
    all(&world, async |world, connection| {
        let patch = Call::patch(ITEM, incr.to_string()).partition(PK);
        assert_eq!(world.call_on(connection, &patch).await.status, 200);
        let twice = json!({"operationType": "Patch", "id": "i", "resourceBody": incr});
        let reply = world.call_on(connection, &batch(&json!([twice, twice]))).await;
        assert_eq!(statuses(&reply), [200, 200]);
    })
    .await;
    assert_eq!(counted(&world).await, CLIENTS * EACH * 3);
}
