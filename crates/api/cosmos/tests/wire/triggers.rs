//! Triggers: around a write, in its transaction, and only when it names them.

use crate::call::Call;
use crate::world::{ITEMS, World};
use serde_json::{Value, json};

const PRE: &str = "x-ms-documentdb-pre-trigger-include";
const POST: &str = "x-ms-documentdb-post-trigger-include";

const ADDS: &str = "function () { const r = getContext().getRequest(); const d = r.getBody(); d.by = (d.by || '') + r.getOperationType(); r.setBody(d) }";
const COUNTS: &str = "function () {
  __.readDocument(__.getAltLink() + '/docs/count', (err, count) => {
    const n = err ? 1 : count.n + 1;
    if (err && err.number !== ErrorCodes.NotFound) throw err;
    __.upsertDocument(__.getSelfLink(), { id: 'count', pk: 'p', email: 'count', n }, (err) => { if (err) throw err });
  });
}";

impl World {
    async fn trigger(&self, id: &str, time: &str, operation: &str, body: &str) {
        let trigger = json!({"id": id, "body": body, "triggerType": time, "triggerOperation": operation});
        self.made(Call::post("dbs/d/colls/c/triggers", trigger.to_string())).await;
    }

    async fn document(&self, id: &str) -> Value {
        self.answered(200, Call::get(&format!("{ITEMS}/{id}")).partition(r#"["p"]"#)).await.json().unwrap()
    }
}

fn item(id: &str) -> String {
    json!({"id": id, "pk": "p", "email": id}).to_string()
}

fn create(id: &str) -> Call {
    Call::post(ITEMS, item(id)).partition(r#"["p"]"#)
}

fn replace(id: &str) -> Call {
    Call::put(&format!("{ITEMS}/{id}"), item(id)).partition(r#"["p"]"#)
}

fn delete(id: &str) -> Call {
    Call::delete(&format!("{ITEMS}/{id}")).partition(r#"["p"]"#)
}

#[tokio::test]
async fn a_pre_trigger_changes_what_is_written() {
    let world = World::new().await;
    world.trigger("adds", "Pre", "All", ADDS).await;
    world.made(create("plain")).await;
    assert_eq!(world.document("plain").await["by"], Value::Null, "a trigger runs when it is named");
    let made = world.made(create("a").header(PRE, "adds")).await.json().unwrap();
    assert_eq!((&made["by"], &world.document("a").await["by"]), (&json!("Create"), &json!("Create")));
    world.answered(200, replace("a").header(PRE, "adds")).await;
    assert_eq!(world.document("a").await["by"], "Replace");
    world.answered(200, create("a").upsert().header(PRE, "adds")).await;
    assert_eq!(world.document("a").await["by"], "Upsert");
    world.made(create("b").header(PRE, " adds , adds ")).await;
    assert_eq!(world.document("b").await["by"], "CreateCreate", "in the order of their names");
}

#[tokio::test]
async fn a_post_trigger_writes_in_the_same_transaction() {
    let world = World::new().await;
    world.trigger("counts", "Post", "All", COUNTS).await;
    for call in [create("a"), create("b"), replace("a"), delete("a")] {
        let reply = world.call(&call.header(POST, "counts")).await;
        assert!(reply.status < 300, "{}", String::from_utf8_lossy(&reply.body));
    }
    assert_eq!(world.document("count").await["n"], 4);
    world.answered(404, Call::get(&format!("{ITEMS}/a")).partition(r#"["p"]"#)).await;
}

#[tokio::test]
async fn an_exception_of_a_trigger_rolls_the_write_back() {
    let world = World::new().await;
    world.trigger("no", "Pre", "All", "function () { throw new Error(403, 'not now') }").await;
    world.trigger("late", "Post", "All", "function () { throw new Error('too late') }").await;
    world.trigger("counts", "Post", "All", COUNTS).await;
    world.item("old").await;
    world.refused(create("x").header(PRE, "no"), (400, 403), "not now").await;
    world.refused(create("x").header(POST, "counts,late"), (400, 400), "too late").await;
    world.refused(replace("old").header(POST, "late"), (400, 400), "too late").await;
    world.refused(delete("old").header(POST, "late"), (400, 400), "too late").await;
    world.refused(delete("old").header(PRE, "no"), (400, 403), "not now").await;
    assert_eq!(world.count().await, 1);
}

#[tokio::test]
async fn a_trigger_runs_for_its_operation() {
    let world = World::new().await;
    for (id, operation) in
        [("c", "Create"), ("r", "replace"), ("u", "Update"), ("d", "Delete"), ("s", "upsert"), ("a", "All")]
    {
        let body = format!(
            "function () {{ const r = getContext().getRequest(); const d = r.getBody(); if (d) {{ d.by = (d.by || '') + '{id}'; r.setBody(d) }} else throw new Error('{id}') }}"
        );
        world.trigger(id, "Pre", operation, &body).await;
    }
    world.made(create("x").header(PRE, "c,a")).await;
    assert_eq!(world.document("x").await["by"], "ca");
    world.answered(200, replace("x").header(PRE, "r,u,a")).await;
    assert_eq!(world.document("x").await["by"], "rua");
    world.answered(200, create("x").upsert().header(PRE, "s,a")).await;
    assert_eq!(world.document("x").await["by"], "sa");
    world.made(create("y").upsert().header(PRE, "s,a")).await;
    assert_eq!(world.document("y").await["by"], "sa");
    world.refused(delete("x").header(PRE, "d"), (400, 400), "Error: d").await;
}

#[tokio::test]
async fn a_trigger_of_another_operation_is_refused() {
    let world = World::new().await;
    world.item("old").await;
    for operation in ["Create", "Replace", "Update", "Delete", "Upsert"] {
        for time in ["Pre", "Post"] {
            world.trigger(&format!("{time}{operation}"), time, operation, "function () {}").await;
        }
    }
    let calls = [
        (create("x"), "Create", &["Create"][..]),
        (replace("old"), "Replace", &["Replace", "Update"]),
        (create("x").upsert(), "Upsert", &["Upsert"]),
        (delete("old"), "Delete", &["Delete"]),
    ];
    for (call, on, covering) in &calls {
        for operation in ["Create", "Replace", "Update", "Delete", "Upsert"] {
            if covering.contains(&operation) {
                continue;
            }
            let part =
                format!("was defined with operation type '{operation}', and therefore is invalid for '{on}'");
            world.refused(call.clone().header(PRE, format!("Pre{operation}")), (400, 0), &part).await;
            world.refused(call.clone().header(POST, format!("Post{operation}")), (400, 0), &part).await;
        }
    }
    assert_eq!(world.count().await, 1, "nothing was written");
}

#[tokio::test]
async fn a_trigger_that_is_not_there_or_of_the_other_time_is_refused() {
    let world = World::new().await;
    world.trigger("adds", "Pre", "All", ADDS).await;
    world
        .refused(create("x").header(PRE, "nothing"), (400, 0), "trigger 'nothing', which is not there")
        .await;
    world.refused(create("x").header(POST, "adds"), (400, 0), "not a post-trigger").await;
    let many = vec!["adds"; 17].join(",");
    world.refused(create("x").header(PRE, many), (400, 0), "more than 16 triggers").await;
    assert_eq!(world.count().await, 0);
}

#[tokio::test]
async fn the_write_itself_is_what_it_is_without_triggers() {
    let world = World::new().await;
    world.trigger("adds", "Pre", "All", ADDS).await;
    world.item("old").await;
    world.refused(create("old").header(PRE, "adds"), (409, 0), "already exists").await;
    world.refused(replace("none").header(PRE, "adds"), (404, 0), "does not exist").await;
    let stale =
        replace("old").header(PRE, "adds").header("if-match", "\"00000000-0000-0000-0000-000000000000\"");
    world.refused(stale, (412, 0), "pre-condition").await;
    let minimal = world.made(create("m").header(PRE, "adds").header("prefer", "return=minimal")).await;
    assert_eq!((minimal.body.len(), minimal.header("etag").is_some()), (0, true));
    world.answered(204, delete("old").header(PRE, "")).await;
}

#[tokio::test]
async fn a_pre_trigger_keeps_the_item_in_its_partition_and_valid() {
    let world = World::new().await;
    world
        .trigger(
            "moves",
            "Pre",
            "All",
            "function () { getContext().getRequest().setBody({ id: 'x', pk: 'q' }) }",
        )
        .await;
    world
        .trigger("breaks", "Pre", "All", "function () { getContext().getRequest().setBody({ pk: 'p' }) }")
        .await;
    world.refused(create("x").header(PRE, "moves"), (400, 1001), "changed the partition key").await;
    world.refused(create("x").header(PRE, "breaks"), (400, 0), "'id; '").await;
}

#[tokio::test]
async fn a_post_trigger_may_change_the_answer() {
    let world = World::new().await;
    let body = "function () { const r = getContext().getResponse(); const d = r.getBody(); r.setBody({ id: d.id, seen: d._etag !== undefined }) }";
    world.trigger("shows", "Post", "All", body).await;
    let made = world.made(create("x").header(POST, "shows")).await;
    assert_eq!(made.json().unwrap(), json!({"id": "x", "seen": true}));
}

#[tokio::test]
async fn numbers_that_javascript_cannot_hold_survive_triggers_that_change_nothing() {
    let world = World::new().await;
    world.trigger("looks", "Pre", "All", "function () { getContext().getRequest().getBody() }").await;
    let body = r#"{"id":"big","pk":"p","email":"e","n":9007199254740993}"#;
    let made = world.made(Call::post(ITEMS, body).partition(r#"["p"]"#).header(PRE, "looks")).await;
    assert!(String::from_utf8_lossy(&made.body).contains("9007199254740993"));
}
