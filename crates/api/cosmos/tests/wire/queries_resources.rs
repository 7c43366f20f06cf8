//! Queries over databases, containers and offers: the same language over what is listed there.

use crate::call::Call;
use crate::queries_ask::{Ask, each};
use crate::world::World;
use orrery_core::{Env, Timestamp};
use serde_json::{Value, json};

const NONE: [Value; 0] = [];

/// Databases `a` to `f`, and in `a` containers `c0` to `c5`, the even ones with a throughput.
async fn with_resources() -> World {
    let world = World::empty(Env::seeded(Timestamp::from_seconds(1_800_000_000), 7));
    for id in ["d", "b", "f", "a", "c", "e"] {
        world.made(Call::post("dbs", json!({"id": id}).to_string())).await;
    }
    for n in [3, 0, 5, 1, 4, 2] {
        let body = json!({"id": format!("c{n}"), "partitionKey": {"paths": [format!("/k{n}")], "kind": "Hash", "version": 2}});
        let call = Call::post("dbs/a/colls", body.to_string());
        let call = if n % 2 == 0 {
            call.header("x-ms-offer-throughput", format!("{}", 400 + 100 * n))
        } else {
            call
        };
        world.made(call).await;
    }
    world
}

#[tokio::test]
async fn resources_are_filtered_projected_sorted_and_counted() {
    let world = with_resources().await;
    let databases = |query: &str| Ask::at("dbs", query);
    assert_eq!(
        databases("SELECT VALUE d.id FROM d ORDER BY d.id DESC").rows(&world).await,
        ["f", "e", "d", "c", "b", "a"]
    );
    assert_eq!(databases("SELECT VALUE COUNT(1) FROM d WHERE d.id > 'b'").rows(&world).await, [4]);
    let by_id =
        databases("SELECT * FROM root r WHERE r.id=@id").parameters(json!([{"name": "@id", "value": "c"}]));
    let whole = world.answered(200, Call::get("dbs/c")).await.json().unwrap();
    assert_eq!(by_id.rows(&world).await, [whole]);
    let containers = |query: &str| Ask::at("dbs/a/colls", query);
    let paths = "SELECT c.id, p FROM c JOIN p IN c.partitionKey.paths WHERE c.id >= 'c4' ORDER BY c.id";
    assert_eq!(
        containers(paths).rows(&world).await,
        [json!({"id": "c4", "p": "/k4"}), json!({"id": "c5", "p": "/k5"})]
    );
    assert_eq!(
        containers("SELECT TOP 2 VALUE c.id FROM c ORDER BY c._ts, c.id").rows(&world).await,
        ["c0", "c1"]
    );
    let rid = world.answered(200, Call::get("dbs/a/colls/c4")).await.json().unwrap()["_rid"].clone();
    let offers =
        Ask::at("offers", "SELECT VALUE o.content.offerThroughput FROM o WHERE o.offerResourceId = @rid");
    assert_eq!(offers.parameters(json!([{"name": "@rid", "value": rid}])).rows(&world).await, [800]);
    assert_eq!(
        Ask::at(
            "offers",
            "SELECT VALUE SUM(o.content.offerThroughput) FROM o WHERE o.offerResourceId != 'x'"
        )
        .rows(&world)
        .await
        .len(),
        1
    );
}

#[tokio::test]
async fn a_query_is_of_its_own_database() {
    let world = with_resources().await;
    assert_eq!(Ask::at("dbs/b/colls", "SELECT * FROM c").rows(&world).await, NONE);
    world
        .refused(Ask::at("dbs/nobody/colls", "SELECT * FROM c").call(), (404, 1003), "no database 'nobody'")
        .await;
    let empty = world.answered(200, Ask::at("dbs/b/colls", "SELECT * FROM c").call()).await.json().unwrap();
    let rid = world.answered(200, Call::get("dbs/b")).await.json().unwrap()["_rid"].clone();
    assert_eq!(empty, json!({"_rid": rid, "DocumentCollections": [], "_count": 0}));
}

#[tokio::test]
async fn pages_of_resources_go_on_whatever_was_made_or_deleted_between() {
    for query in
        ["SELECT d.id FROM d", "SELECT d.id FROM d ORDER BY d.id", "SELECT d.id FROM d ORDER BY d._ts, d.id"]
    {
        let world = with_resources().await;
        let ask = Ask::at("dbs", query).by(2);
        let first = ask.page(&world, None).await;
        assert_eq!(each(&first.rows, "id"), ["a", "b"], "{query}");
        for gone in ["a", "b"] {
            world.answered(204, Call::delete(&format!("dbs/{gone}"))).await;
        }
        world.made(Call::post("dbs", r#"{"id":"aa"}"#)).await;
        let rest = ask.pages_from(&world, first.next.as_deref()).await.concat();
        assert_eq!(each(&rest, "id"), ["c", "d", "e", "f"], "{query}");
    }
}

#[tokio::test]
async fn a_token_of_one_list_is_refused_by_another() {
    let world = with_resources().await;
    let query = "SELECT * FROM c";
    let databases = Ask::at("dbs", query).by(1);
    let containers = Ask::at("dbs/a/colls", query).by(1);
    let token = databases.page(&world, None).await.next.unwrap();
    let other = containers.page(&world, None).await.next.unwrap();
    let fragment = "Invalid Continuation Token";
    for list in ["dbs/a/colls", "offers", "dbs/a/colls/c0/docs"] {
        world.refused(Ask::at(list, query).from(&token), (400, 0), fragment).await;
    }
    for list in ["dbs", "offers", "dbs/b/colls", "dbs/a/colls/c0/docs"] {
        world.refused(Ask::at(list, query).from(&other), (400, 0), fragment).await;
    }
    world.refused(Ask::at("dbs", "SELECT  * FROM c").from(&token), (400, 0), fragment).await;
    world.answered(200, databases.from(&token)).await;
}

#[tokio::test]
async fn a_wrong_query_over_resources_is_refused_as_one_over_items() {
    let world = with_resources().await;
    for list in ["dbs", "dbs/a/colls", "offers"] {
        world.refused(Ask::at(list, "SELECT * FORM c").call(), (400, 0), "Message: {\"errors\":[").await;
        world.refused(Ask::at(list, "SELECT VALUE udf.f(c) FROM c").call(), (400, 0), "user-defined").await;
    }
}
