//! Ids: which are refused, which odd ones are kept, and how they travel in paths.

use crate::call::Call;
use crate::world::{ITEMS, World};
use serde_json::json;

/// Ids that nothing may have.
fn bad_everywhere() -> Vec<(String, &'static str)> {
    let owned = [("a/b", "contains '/'"), ("a\\b", "contains '\\'"), ("a#b", "contains '#'")];
    let mut bad: Vec<(String, &str)> = owned.into_iter().map(|(id, why)| (id.to_owned(), why)).collect();
    bad.push(("x".repeat(1024), "longer than"));
    bad.push(("é".repeat(512), "longer than"));
    bad
}

/// What programs match on.
fn ensure(limit: &str) -> String {
    format!("Ensure to provide a unique non-empty string less than '{limit}' characters.")
}

#[tokio::test]
async fn bad_item_ids_are_refused_in_bodies_and_in_paths() {
    let world = World::new().await;
    for (id, why) in bad_everywhere() {
        let body = json!({"id": id, "pk": "p"}).to_string();
        for call in [Call::post(ITEMS, body.clone()), Call::post(ITEMS, body).upsert()] {
            let call = call.partition(r#"["p"]"#);
            world.refused(call.clone(), (400, 0), why).await;
            world.refused(call, (400, 0), &ensure("1024")).await;
        }
        if !id.contains('/') {
            let path = format!("{ITEMS}/{id}");
            for call in [Call::get(&path), Call::delete(&path), Call::put(&path, r#"{"id":"i","pk":"p"}"#)] {
                world.refused(call.partition(r#"["p"]"#), (400, 0), why).await;
            }
        }
    }
    for body in [r#"{"id":null}"#, r#"{"pk":"p"}"#] {
        world.refused(Call::post(ITEMS, body), (400, 0), "'id; ' - are missing").await;
    }
    for body in [r#"{"id":5}"#, r#"{"id":{}}"#] {
        world.refused(Call::post(ITEMS, body), (400, 0), "One of the specified inputs is invalid").await;
    }
    world.refused(Call::post(ITEMS, r#"{"id":"","pk":"p"}"#), (400, 0), &ensure("1024")).await;
}

#[tokio::test]
async fn bad_names_are_refused_for_databases_and_containers() {
    let world = World::new().await;
    let mut bad = bad_everywhere();
    bad.extend([
        ("a?b".to_owned(), "contains '?'"),
        ("a ".to_owned(), "ends with a space"),
        ("x".repeat(256), "longer than 255"),
        (String::new(), "id"),
    ]);
    for (id, why) in bad {
        let database = Call::post("dbs", json!({"id": id}).to_string());
        world.refused(database.clone(), (400, 0), why).await;
        world.refused(database, (400, 0), &ensure("255")).await;
        let container = json!({"id": id, "partitionKey": {"paths": ["/pk"]}});
        world.refused(Call::post("dbs/d/colls", container.to_string()), (400, 0), why).await;
    }
}

#[tokio::test]
async fn odd_ids_are_found_again() {
    let world = World::new().await;
    let longest = "x".repeat(1023);
    for id in [
        "a b",
        " a",
        "a ",
        "   ",
        "100%",
        "a%20b",
        "a+b",
        "a&b=c",
        "東京🚀",
        "'\"<>",
        "..",
        "q?x=1",
        "a:b;c,d",
        &longest,
    ] {
        let item = json!({"id": id, "pk": "p", "email": id}).to_string();
        world.made(Call::post(ITEMS, item.clone())).await;
        let path = format!("{ITEMS}/{id}");
        let found = world.answered(200, Call::get(&path).partition(r#"["p"]"#)).await;
        assert_eq!(found.json().unwrap()["id"], id);
        world.answered(200, Call::put(&path, item).partition(r#"["p"]"#)).await;
        world.answered(204, Call::delete(&path).partition(r#"["p"]"#)).await;
        world.refused(Call::get(&path).partition(r#"["p"]"#), (404, 0), "does not exist").await;
    }
}

#[tokio::test]
async fn a_question_mark_that_a_client_left_raw_is_part_of_the_id() {
    let world = World::new().await;
    world.item("q?x").await;
    let path = "dbs/d/colls/c/docs/q?x";
    let reply =
        world.answered(200, Call::get(path).target("/dbs/d/colls/c/docs/q?x").partition(r#"["p"]"#)).await;
    assert_eq!(reply.json().unwrap()["id"], "q?x");
}

#[tokio::test]
async fn the_longest_names_work() {
    let world = World::new().await;
    let name = "é".repeat(255);
    world.made(Call::post("dbs", json!({"id": name}).to_string())).await;
    world.answered(200, Call::get(&format!("dbs/{name}"))).await;
    world
        .answered(200, Call::get(&format!("dbs/{name}/")).target(&format!("/dbs/{}/", "%C3%A9".repeat(255))))
        .await;
}
