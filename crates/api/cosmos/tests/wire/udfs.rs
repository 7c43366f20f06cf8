//! User-defined functions in queries.

use crate::call::Call;
use crate::world::{ITEMS, World};
use serde_json::{Value, json};

async fn world() -> World {
    let world = World::new().await;
    for (id, n) in [("a", json!(1)), ("b", json!(20)), ("c", json!("text")), ("d", Value::Null)] {
        let item = json!({"id": id, "pk": "p", "email": id, "n": n}).to_string();
        world.made(Call::post(ITEMS, item).partition(r#"["p"]"#)).await;
    }
    world
}

async fn define(world: &World, id: &str, body: &str) {
    let made = Call::post("dbs/d/colls/c/udfs", json!({"id": id, "body": body}).to_string()).upsert();
    assert!(world.call(&made).await.status < 300);
}

fn ask(query: &str) -> Call {
    let body = json!({"query": query, "parameters": []}).to_string();
    let call = Call::post(ITEMS, body).query().header("content-type", "application/query+json");
    call.header("x-ms-documentdb-query-enablecrosspartition", "true")
}

async fn rows(world: &World, query: &str) -> Value {
    world.answered(200, ask(query)).await.json().unwrap()["Documents"].clone()
}

#[tokio::test]
async fn a_function_is_called_in_every_clause() {
    let world = world().await;
    define(&world, "double", "function (x) { return typeof x === 'number' ? x * 2 : undefined }").await;
    assert_eq!(rows(&world, "SELECT VALUE udf.double(c.n) FROM c").await, json!([2, 40]));
    assert_eq!(rows(&world, "SELECT VALUE c.id FROM c WHERE udf.double(c.n) > 10").await, json!(["b"]));
    assert_eq!(
        rows(&world, "SELECT VALUE c.id FROM c WHERE c.n = 1 AND udf.double(c.n) = 2").await,
        json!(["a"])
    );
    assert_eq!(
        rows(&world, "SELECT VALUE SUM(udf.double(c.n)) FROM c WHERE IS_NUMBER(c.n)").await,
        json!([42])
    );
    assert_eq!(rows(&world, "SELECT VALUE udf.double(udf.double(3))").await, json!([12]));
    let grouped =
        "SELECT udf.double(c.n) AS d, COUNT(1) AS n FROM c WHERE IS_NUMBER(c.n) GROUP BY udf.double(c.n)";
    assert_eq!(rows(&world, grouped).await, json!([{"d": 2, "n": 1}, {"d": 40, "n": 1}]));
}

#[tokio::test]
async fn undefined_goes_in_and_comes_out() {
    let world = world().await;
    define(
        &world,
        "kind",
        "function (x) { return x === undefined ? 'undefined' : x === null ? 'null' : typeof x }",
    )
    .await;
    let found = rows(&world, "SELECT VALUE udf.kind(c.n) FROM c").await;
    assert_eq!(found, json!(["number", "number", "string", "null"]));
    assert_eq!(
        rows(&world, "SELECT VALUE udf.kind(c.nothing) FROM c WHERE c.id = 'a'").await,
        json!(["undefined"])
    );
    define(&world, "nothing", "function () {}").await;
    assert_eq!(
        rows(&world, "SELECT udf.nothing() AS x, c.id FROM c WHERE c.id = 'a'").await,
        json!([{"id": "a"}])
    );
    define(&world, "whole", "d => Object.keys(d).length > 4").await;
    assert_eq!(rows(&world, "SELECT VALUE udf.whole(c) FROM c WHERE c.id = 'a'").await, json!([true]));
}

#[tokio::test]
async fn an_exception_of_a_function_is_reported() {
    let world = world().await;
    world.refused(ask("SELECT VALUE udf.none(1)"), (400, 0), "'none' is not there").await;
    define(&world, "odd", "function (x) { throw new Error('odd ' + x) }").await;
    world.refused(ask("SELECT VALUE udf.odd(7)"), (400, 0), "Error: odd 7").await;
    define(&world, "reaches", "function () { return getContext() }").await;
    world.refused(ask("SELECT VALUE udf.reaches()"), (400, 0), "getContext").await;
    define(&world, "takes", "function () { const a = []; while (true) a.push('x'.repeat(1000) + a.length) }")
        .await;
    world.refused(ask("SELECT VALUE udf.takes()"), (400, 0), "memory").await;
}

#[tokio::test]
async fn an_endless_function_ends() {
    let world = world().await;
    define(&world, "endless", "function () { while (true) {} }").await;
    world.refused(ask("SELECT VALUE udf.endless()"), (408, 0), "alloted time").await;
    assert_eq!(rows(&world, "SELECT VALUE 1").await, json!([1]));
}

#[tokio::test]
async fn a_script_may_ask_with_functions() {
    let world = world().await;
    define(&world, "double", "x => x * 2").await;
    let body = "function () { __.queryDocuments(__.getSelfLink(), 'SELECT VALUE udf.double(c.n) FROM c WHERE IS_NUMBER(c.n)', (err, feed) => { if (err) throw err; __.response.setBody(feed) }) }";
    assert_eq!(world.gives(body, &json!([])).await, json!([2, 40]));
}

#[tokio::test]
async fn a_function_that_is_replaced_is_another_at_once() {
    let world = world().await;
    for answer in [1, 2] {
        define(&world, "f", &format!("function () {{ return {answer} }}")).await;
        assert_eq!(rows(&world, "SELECT VALUE udf.f()").await, json!([answer]));
    }
}
