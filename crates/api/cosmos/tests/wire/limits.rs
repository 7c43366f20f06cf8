//! The documented limits at their edges: the last thing that is taken and the first that is refused (wire guide §23). The
//! sizes of items, nesting, partition keys and pages have files of their own.

use crate::call::Call;
use crate::world::{ITEMS, World};
use orrery_documents::catalog::limits;
use orrery_query::limits::COMPOSITE_PATHS_MAX;
use serde_json::{Value, json};

fn ask(sql: String) -> Call {
    Call::post(ITEMS, json!({"query": sql}).to_string()).query()
}

/// A query of so many bytes.
fn query_of(bytes: usize) -> Call {
    let (head, tail) = ("SELECT * FROM c WHERE c.x = '", "'");
    ask(format!("{head}{}{tail}", "x".repeat(bytes - head.len() - tail.len())))
}

fn joins(count: usize) -> Call {
    let joins: String = (0..count).map(|n| format!(" JOIN j{n} IN c.a")).collect();
    ask(format!("SELECT VALUE 1 FROM c{joins}"))
}

fn in_items(count: usize) -> Call {
    ask(format!("SELECT VALUE 1 FROM c WHERE c.n IN ({})", vec!["1"; count].join(",")))
}

#[tokio::test]
async fn queries_end_where_the_account_says() {
    let world = World::new().await;
    let account = world.answered(200, Call::get("")).await.json().unwrap();
    let told: Value = serde_json::from_str(account["queryEngineConfiguration"].as_str().unwrap()).unwrap();
    let told = |name: &str| told[name].as_u64().unwrap() as usize;
    let (text, join, listed) =
        (told("maxSqlQueryInputLength"), told("maxJoinsPerSqlQuery"), told("maxInExpressionItemsCount"));
    for (largest, larger, fragment) in [
        (query_of(text), query_of(text + 1), "longer than 512 KB"),
        (joins(join), joins(join + 1), "SC3002"),
        (in_items(listed), in_items(listed + 1), "SC"),
    ] {
        world.answered(200, largest).await;
        world.refused(larger, (400, 0), fragment).await;
    }
}

fn container(id: &str, more: &Value) -> Call {
    let mut body = json!({"id": id, "partitionKey": {"paths": ["/pk"]}});
    for (name, value) in more.as_object().unwrap() {
        body[name] = value.clone();
    }
    Call::post("dbs/d/colls", body.to_string())
}

/// So many unique keys of so many paths each.
fn unique(keys: usize, paths: usize) -> Value {
    let key =
        |key: usize| json!({"paths": (0..paths).map(|path| format!("/k{key}p{path}")).collect::<Vec<_>>()});
    json!({"uniqueKeyPolicy": {"uniqueKeys": (0..keys).map(key).collect::<Vec<_>>()}})
}

fn computed(count: usize) -> Value {
    let one = |n: usize| json!({"name": format!("cp{n}"), "query": "SELECT VALUE LOWER(c.name) FROM c"});
    json!({"computedProperties": (0..count).map(one).collect::<Vec<_>>()})
}

fn composite(paths: usize) -> Value {
    let path = |n: usize| json!({"path": format!("/c{n}"), "order": "ascending"});
    let one: Vec<Value> = (0..paths).map(path).collect();
    json!({"indexingPolicy": {"includedPaths": [{"path": "/*"}], "compositeIndexes": [one]}})
}

#[tokio::test]
async fn definitions_end_where_the_service_ends_them() {
    let world = World::new().await;
    for (largest, larger, fragment) in [
        (unique(limits::UNIQUE_KEYS_MAX, 1), unique(limits::UNIQUE_KEYS_MAX + 1, 1), "The most are 10 keys"),
        (unique(1, limits::UNIQUE_KEY_PATHS_MAX), unique(1, limits::UNIQUE_KEY_PATHS_MAX + 1), "16 paths"),
        (computed(limits::COMPUTED_PROPERTIES_MAX), computed(limits::COMPUTED_PROPERTIES_MAX + 1), "20"),
        (composite(COMPOSITE_PATHS_MAX), composite(COMPOSITE_PATHS_MAX + 1), "8"),
    ] {
        let name = format!("c{}", world.env.random_u64());
        world.made(container(&name, &largest)).await;
        world.refused(container("larger", &larger), (400, 0), fragment).await;
    }
}

#[tokio::test]
async fn ids_end_at_255_characters_and_1023_bytes() {
    let world = World::new().await;
    world.made(container(&"é".repeat(255), &json!({}))).await;
    world.refused(container(&"é".repeat(256), &json!({})), (400, 0), "255").await;
    let item = |id: String| Call::post(ITEMS, json!({"id": id, "pk": "p", "email": id.len()}).to_string());
    world.made(item("x".repeat(1023))).await;
    world.refused(item("x".repeat(1024)), (400, 0), "1023").await;
    world.refused(item("é".repeat(512)), (400, 0), "1023").await;
}

/// The service honours more than a thousand, so it is no limit.
#[tokio::test]
async fn a_page_may_have_more_than_a_thousand_items() {
    let world = World::new().await;
    for n in 0..1_100 {
        world.made(Call::post(ITEMS, json!({"id": n.to_string(), "pk": "p", "email": n}).to_string())).await;
    }
    let page = |count: &str| Call::get(ITEMS).header("x-ms-max-item-count", count);
    for (count, expected) in [("5000", "1100"), ("-1", "1000"), ("0", "1000"), ("1", "1")] {
        let reply = world.answered(200, page(count)).await;
        assert_eq!(reply.header("x-ms-item-count"), Some(expected), "{count}");
    }
}
