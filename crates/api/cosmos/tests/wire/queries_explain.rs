//! `x-orrery-explain`: how a query would be run, without running it.

use crate::call::Call;
use crate::world::{ITEMS, World};
use serde_json::{Value, json};

async fn explained(world: &World, sql: &str) -> Value {
    let call =
        Call::post(ITEMS, json!({"query": sql}).to_string()).query().header("x-orrery-explain", "true");
    let reply = world.answered(200, call).await;
    assert_eq!(reply.header("x-ms-continuation"), None);
    assert!(reply.header("x-ms-session-token").is_some());
    reply.json().unwrap()
}

#[tokio::test]
async fn the_plan_and_the_way_are_told_and_no_rows() {
    let world = World::new().await;
    for n in 0..400 {
        let item = json!({"id": format!("i{n}"), "pk": format!("p{n}"), "email": n, "n": n});
        world.made(Call::post(ITEMS, item.to_string())).await;
    }
    let told = explained(&world, "SELECT VALUE c.id FROM c WHERE c.n = 7").await;
    assert_eq!(told["access"], "index /n = 7");
    assert_eq!(told["partitions"], "all");
    assert_eq!(told["plan"], "Project c.id ─ Filter c.n = 7 ─ Scan c");
    assert_eq!(told.as_object().unwrap().len(), 3, "{told}");
    let told = explained(&world, "SELECT * FROM c WHERE c.pk IN (\"p1\", \"p2\")").await;
    assert_eq!(told["partitions"], "2");
}

#[tokio::test]
async fn an_invalid_query_cannot_be_explained() {
    let world = World::new().await;
    let call = |body: &str| Call::post(ITEMS, body.to_owned()).query().header("x-orrery-explain", "true");
    world.refused(call(r#"{"query":"SELECT d.id FROM c"}"#), (400, 0), "SC2001").await;
    world.refused(call("{"), (400, 0), "").await;
    let gone = call(r#"{"query":"SELECT 1"}"#).header("x-ms-documentdb-partitionkeyrangeid", "9");
    world.refused(gone, (410, 1002), "is gone").await;
}
