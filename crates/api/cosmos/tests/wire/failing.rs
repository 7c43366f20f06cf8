//! A disk that refuses: writes say so, reads go on, and nothing that was acknowledged is lost.

use crate::call::Call;
use crate::world::{ITEMS, World};
use orrery_core::{Env, Timestamp};
use orrery_kv::{Fault, MemoryEngine};
use serde_json::json;

const PK: &str = r#"["p"]"#;

fn create(id: &str) -> Call {
    Call::post(ITEMS, json!({"id": id, "pk": "p", "email": id}).to_string()).partition(PK)
}

fn read(id: &str) -> Call {
    Call::get(&format!("{ITEMS}/{id}")).partition(PK)
}

/// The ids that are there.
async fn ids(world: &World) -> Vec<String> {
    let feed = world.answered(200, Call::get(ITEMS)).await.json().unwrap();
    let items = feed["Documents"].as_array().unwrap();
    let mut ids: Vec<String> = items.iter().map(|item| item["id"].as_str().unwrap().to_owned()).collect();
    ids.sort();
    ids
}

fn restarted(engine: MemoryEngine) -> World {
    World::on(engine, Env::seeded(Timestamp::from_seconds(1_800_000_000), 8))
}

#[tokio::test]
async fn a_write_that_the_disk_refuses_is_unavailable_and_the_next_succeeds() {
    let world = World::new().await;
    world.item("a").await;
    let writes = [
        create("b"),
        Call::post(ITEMS, r#"{"id":"a","pk":"p","n":1}"#).upsert().partition(PK),
        Call::put("dbs/d/colls/c/docs/a", r#"{"id":"a","pk":"p","n":1}"#).partition(PK),
        Call::delete("dbs/d/colls/c/docs/a").partition(PK),
        Call::post("dbs", r#"{"id":"e"}"#),
        Call::post("dbs/d/colls", r#"{"id":"e","partitionKey":{"paths":["/pk"]}}"#),
        Call::delete("dbs/d/colls/c"),
        Call::delete("dbs/d"),
    ];
    let before = world.answered(200, read("a")).await.body;
    for write in writes {
        world.engine.fail_at(0, Fault::BeforeWrite);
        world.refused(write, (503, 0), "cannot be written to: no space left on device").await;
        assert_eq!(world.answered(200, read("a")).await.body, before);
    }
    assert_eq!(ids(&world).await, ["a"]);
    world.refused(Call::get("dbs/e"), (404, 0), "no database 'e'").await;
    world.made(create("b")).await;
    assert_eq!(ids(&world).await, ["a", "b"]);
    let later = restarted(world.engine.crash(0));
    assert_eq!(ids(&later).await, ["a", "b"]);
}

#[tokio::test]
async fn after_a_failed_sync_nothing_is_written_and_everything_is_read() {
    let world = World::new().await;
    world.item("a").await;
    world.engine.fail_at(0, Fault::AfterWrite);
    world.refused(create("b"), (503, 0), "the sync failed").await;
    for _ in 0..3 {
        world.refused(create("c"), (503, 0), "until the server is restarted").await;
        world.answered(200, read("a")).await;
        world.refused(read("b"), (404, 0), "does not exist").await;
    }
    assert_eq!(ids(&world).await, ["a"]);
    for (kept, expected) in [(0, &["a"][..]), (1, &["a", "b"])] {
        let later = restarted(world.engine.crash(kept));
        assert_eq!(ids(&later).await, expected, "what was refused is there whole or not at all");
        later.made(create("c")).await;
    }
}

/// Whichever commit fails, what is there is what was answered with 201.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn under_load_exactly_the_acknowledged_items_are_there() {
    for nth in 0..8 {
        let world = std::sync::Arc::new(World::new().await);
        world.engine.fail_at(nth, Fault::BeforeWrite);
        let writers: Vec<_> = (0..24)
            .map(|number| {
                let (world, id) = (world.clone(), format!("{number:02}"));
                tokio::spawn(async move { (world.call(&create(&id)).await.status, id) })
            })
            .collect();
        let mut acknowledged = Vec::new();
        for writer in writers {
            match writer.await.unwrap() {
                (201, id) => acknowledged.push(id),
                (503, _) => {}
                (status, id) => panic!("{status} for {id}"),
            }
        }
        assert_eq!(ids(&world).await, acknowledged);
        assert_eq!(ids(&restarted(world.engine.crash(0))).await, acknowledged);
    }
}
