//! Schemas of a container over the wire: every way to write an item is held to them.

use crate::batches::{batch, statuses};
use crate::call::Call;
use crate::scripts::execute;
use crate::world::{ITEMS, World};
use orrery_documents::schema::{Definition, Report};
use orrery_testing_client::OwnedReply;
use serde_json::{Value, json};

const PK: &str = r#"["p"]"#;
const WARNINGS: &str = "x-orrery-schema-warnings";
const SENTENCE: &str =
    r#"The item does not match the schema of its container: /n: "x" is not of type "integer"."#;

impl World {
    /// Items of the container `c` have a number `n`.
    async fn numbered(validation: &str) -> Self {
        let world = Self::new().await;
        world.schema(&json!({"validation": validation, "schema": numbered()})).await;
        world
    }

    async fn schema(&self, body: &Value) {
        let definition = Definition::parse(body.to_string().as_bytes()).unwrap();
        self.cosmos.store().set_schema("d", "c", definition).await.unwrap();
    }

    async fn no_schema(&self) {
        self.cosmos.store().remove_schema("d", "c").await.unwrap();
    }

    fn report(&self) -> Report {
        let catalog = self.cosmos.store().catalog();
        let container = catalog.all_containers().next().unwrap();
        container.schemas().unwrap().report()
    }

    async fn is_there(&self, id: &str) -> bool {
        self.call(&Call::get(&format!("{ITEMS}/{id}")).partition(PK)).await.status == 200
    }
}

fn numbered() -> Value {
    json!({"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}})
}

fn body(id: &str, n: &Value) -> Value {
    json!({"id": id, "pk": "p", "email": id, "n": n})
}

fn create(id: &str, n: &Value) -> Call {
    Call::post(ITEMS, body(id, n).to_string()).partition(PK)
}

fn replace(id: &str, n: &Value) -> Call {
    Call::put(&format!("{ITEMS}/{id}"), body(id, n).to_string()).partition(PK)
}

fn patch(id: &str, n: &Value) -> Call {
    let operations = json!([{"op": "set", "path": "/n", "value": n}]);
    Call::patch(&format!("{ITEMS}/{id}"), operations.to_string()).partition(PK)
}

fn bulk(operations: &Value) -> Call {
    Call::post(ITEMS, operations.to_string())
        .header("x-ms-cosmos-is-batch-request", "True")
        .header("x-ms-cosmos-batch-continue-on-error", "True")
}

fn in_batch(kind: &str, id: &str, n: &Value) -> Value {
    match kind {
        "Create" | "Upsert" => {
            json!({"operationType": kind, "resourceBody": body(id, n), "partitionKey": PK})
        }
        "Patch" => json!({"operationType": kind, "id": id, "partitionKey": PK,
            "resourceBody": [{"op": "set", "path": "/n", "value": n}]}),
        _ => json!({"operationType": kind, "id": id, "resourceBody": body(id, n), "partitionKey": PK}),
    }
}

fn warnings(reply: &OwnedReply) -> Option<&str> {
    reply.header(WARNINGS)
}

#[tokio::test]
async fn an_item_that_does_not_match_is_refused_with_place_and_reason() {
    let world = World::numbered("enforce").await;
    world.made(create("a", &json!(1))).await;
    let x = json!("x");
    for call in [
        create("b", &x),
        create("b", &x).upsert(),
        create("a", &x).upsert(),
        replace("a", &x),
        patch("a", &x),
    ] {
        let reply = world.refused(call, (400, 0), SENTENCE).await;
        assert_eq!(warnings(&reply), None);
    }
    assert!(!world.is_there("b").await);
    let stored = world.answered(200, Call::get(&format!("{ITEMS}/a")).partition(PK)).await.json().unwrap();
    assert_eq!(stored["n"], 1, "nothing of it is left");
    let remove = Call::patch(&format!("{ITEMS}/a"), r#"[{"op":"remove","path":"/n"}]"#).partition(PK);
    world.refused(remove, (400, 0), r#"the item: "n" is a required property"#).await;
    world.answered(204, Call::delete(&format!("{ITEMS}/a")).partition(PK)).await;
    let Report { checked, warned, refused, recent } = world.report();
    assert_eq!((checked, warned, refused, recent.len()), (7, 0, 6, 6), "each write is counted once");
    assert_eq!((recent[0].id.as_str(), recent[5].id.as_str()), ("a", "b"), "newest first");
}

#[tokio::test]
async fn a_rename_by_replace_is_held_to_the_schema() {
    let world = World::numbered("enforce").await;
    world.made(create("a", &json!(1))).await;
    let rename = |n: &Value| Call::put(&format!("{ITEMS}/a"), body("z", n).to_string()).partition(PK);
    world.refused(rename(&json!("x")), (400, 0), SENTENCE).await;
    assert!(world.is_there("a").await);
    world.answered(200, rename(&json!(2))).await;
}

#[tokio::test]
async fn an_operation_of_a_batch_that_does_not_match_leaves_nothing_of_it() {
    let world = World::numbered("enforce").await;
    world.made(create("a", &json!(1))).await;
    for kind in ["Create", "Upsert", "Replace", "Patch"] {
        let id = if kind == "Create" { "b" } else { "a" };
        let operations = json!([in_batch("Create", "first", &json!(1)), in_batch(kind, id, &json!("x"))]);
        let reply = world.answered(207, batch(&operations)).await;
        assert_eq!(statuses(&reply), [424, 400], "{kind}");
        let said = reply.json().unwrap()[1]["message"].as_str().unwrap().to_owned();
        assert!(said.contains(SENTENCE), "{kind}: {said}");
        assert!(!world.is_there("first").await, "{kind}");
    }
}

#[tokio::test]
async fn an_operation_of_a_bulk_request_is_refused_alone() {
    let world = World::numbered("enforce").await;
    world.made(create("a", &json!(1))).await;
    let x = json!("x");
    let operations = json!([
        in_batch("Create", "one", &json!(1)),
        in_batch("Create", "two", &x),
        in_batch("Upsert", "three", &x),
        in_batch("Replace", "a", &x),
        in_batch("Patch", "a", &x),
        in_batch("Patch", "a", &json!(5)),
    ]);
    let reply = world.answered(207, bulk(&operations)).await;
    assert_eq!(statuses(&reply), [201, 400, 400, 400, 400, 200]);
    assert!(world.is_there("one").await && !world.is_there("two").await && !world.is_there("three").await);
}

const WRITES: &str = "function (kind, doc) {
  function done(err) { if (err) throw err; __.response.setBody('done'); }
  if (kind === 'create') __.createDocument(__.getSelfLink(), doc, done);
  if (kind === 'upsert') __.upsertDocument(__.getSelfLink(), doc, done);
  if (kind === 'replace') __.replaceDocument(__.getAltLink() + '/docs/' + doc.id, doc, done);
}";

#[tokio::test]
async fn a_script_cannot_write_what_does_not_match() {
    let world = World::numbered("enforce").await;
    world.made(create("a", &json!(1))).await;
    world.procedure("w", WRITES).await;
    for (kind, id) in [("create", "b"), ("upsert", "b"), ("upsert", "a"), ("replace", "a")] {
        let write = |n: Value| execute("w", &json!([kind, body(id, &n)]));
        world
            .refused(write(json!("x")), (400, 400), "does not match the schema of its container: /n: ")
            .await;
        if id == "a" {
            world.answered(200, write(json!(2))).await;
        }
    }
    assert!(!world.is_there("b").await);
    let swallows = "function (doc) { __.createDocument(__.getSelfLink(), doc, (err) => { __.response.setBody(err.number) }) }";
    world.procedure("s", swallows).await;
    let told = world.answered(200, execute("s", &json!([body("b", &json!("x"))]))).await.json().unwrap();
    assert_eq!(told, 400);
    assert!(!world.is_there("b").await, "whatever the script makes of the error");
}

#[tokio::test]
async fn the_item_counts_as_the_triggers_leave_it() {
    let world = World::numbered("enforce").await;
    let trigger = |id: &str, time: &str, body: &str| {
        let text =
            json!({"id": id, "body": body, "triggerType": time, "triggerOperation": "All"}).to_string();
        Call::post("dbs/d/colls/c/triggers", text)
    };
    let sets = |n: &str| {
        format!(
            "function () {{ const r = getContext().getRequest(); const d = r.getBody(); d.n = {n}; r.setBody(d) }}"
        )
    };
    world.made(trigger("mends", "Pre", &sets("7"))).await;
    world.made(trigger("spoils", "Pre", &sets("'x'"))).await;
    let writes = "function () { __.upsertDocument(__.getSelfLink(), { id: 'log', pk: 'p', email: 'log' }, (err) => { if (err) throw err }) }";
    world.made(trigger("logs", "Post", writes)).await;
    const PRE: &str = "x-ms-documentdb-pre-trigger-include";
    let made = world.made(create("a", &json!("x")).header(PRE, "mends")).await.json().unwrap();
    assert_eq!(made["n"], 7);
    world.answered(200, replace("a", &json!("x")).header(PRE, "mends")).await;
    world.answered(200, create("a", &json!("x")).upsert().header(PRE, "mends")).await;
    world.refused(create("b", &json!(1)).header(PRE, "spoils"), (400, 0), SENTENCE).await;
    let logged = create("c", &json!(1)).header("x-ms-documentdb-post-trigger-include", "logs");
    world.refused(logged, (400, 400), "is a required property").await;
    assert!(!world.is_there("c").await && !world.is_there("b").await);
    assert_eq!(world.report().refused, 2, "what the triggers mended does not count");
}

#[tokio::test]
async fn under_warn_everything_is_written_and_the_answer_says_so() {
    let world = World::numbered("warn").await;
    let x = json!("x");
    let reply = world.made(create("a", &json!(1))).await;
    assert_eq!(warnings(&reply), None, "nothing is wrong with it");
    let two = json!({"id": "two", "pk": 7, "email": "two"});
    world.schema(&json!({"validation": "warn", "schema": {"required": ["n"], "properties": {"pk": {"type": "string"}, "n": {"type": "integer"}}}})).await;
    let reply = world.made(Call::post(ITEMS, two.to_string()).partition("[7]")).await;
    assert_eq!(warnings(&reply), Some("2"));
    for call in [create("b", &x), create("b", &x).upsert(), replace("b", &x), patch("a", &x)] {
        let reply = world.call(&call).await;
        assert!(reply.status < 300);
        assert_eq!(warnings(&reply), Some("1"));
    }
    let minimal = create("m", &x).header("prefer", "return=minimal");
    assert_eq!(warnings(&world.made(minimal).await), Some("1"));
    let operations =
        json!([in_batch("Create", "c", &x), in_batch("Patch", "a", &x), in_batch("Create", "d", &json!(1))]);
    assert_eq!(warnings(&world.answered(200, batch(&operations)).await), Some("2"));
    let operations = json!([in_batch("Upsert", "c", &x), in_batch("Upsert", "e", &x)]);
    assert_eq!(warnings(&world.answered(200, bulk(&operations)).await), Some("2"));
    world.procedure("w", WRITES).await;
    let ran = world.answered(200, execute("w", &json!(["create", body("s", &x)]))).await;
    assert_eq!(warnings(&ran), Some("1"));
    let Report { checked, warned, refused, recent } = world.report();
    assert_eq!((checked, warned, refused), (12, 11, 0));
    assert_eq!(recent.len(), 10, "the last ones are kept");
    assert_eq!((recent[0].id.as_str(), recent[0].is_refused), ("s", false));
    assert_eq!(recent[0].violations.to_string(), r#"/n: "x" is not of type "integer""#);
}

#[tokio::test]
async fn a_change_of_schema_holds_for_the_next_write() {
    let world = World::numbered("off").await;
    let x = json!("x");
    assert_eq!(warnings(&world.made(create("a", &x)).await), None);
    assert_eq!(world.report().checked, 0);
    world.schema(&json!({"validation": "enforce", "schema": numbered()})).await;
    world.refused(replace("a", &x), (400, 0), SENTENCE).await;
    // Another indexing policy keeps the schema.
    let definition = json!({"id": "c", "partitionKey": {"paths": ["/pk"], "kind": "Hash", "version": 2}, "defaultTtl": -1,
        "uniqueKeyPolicy": {"uniqueKeys": [{"paths": ["/email"]}]},
        "indexingPolicy": {"includedPaths": [{"path": "/n/?"}], "excludedPaths": [{"path": "/*"}]}});
    world.answered(200, Call::put("dbs/d/colls/c", definition.to_string())).await;
    world.refused(replace("a", &x), (400, 0), SENTENCE).await;
    world.answered(200, replace("a", &json!(2))).await;
    world.background().await;
    world.answered(200, replace("a", &json!(3))).await;
    world.schema(&json!({"validation": "enforce", "schemas": {"member": "email", "of": {"a": {"required": ["k"]}}}})).await;
    world.refused(replace("a", &json!(2)), (400, 0), r#"the item: "k" is a required property"#).await;
    world.refused(create("b", &json!(2)), (400, 0), "/email: there is no schema for 'b'").await;
    world.no_schema().await;
    world.answered(200, replace("a", &x)).await;
}

#[tokio::test]
async fn a_schema_goes_with_its_container() {
    let world = World::numbered("enforce").await;
    world.answered(204, Call::delete("dbs/d/colls/c")).await;
    world.container("c", &json!({})).await;
    world.made(create("a", &json!("x"))).await;
}

#[tokio::test]
async fn system_properties_are_no_part_of_the_item_that_is_checked() {
    let world = World::new().await;
    let properties = json!({"id": true, "pk": true, "email": true, "n": true});
    world.schema(&json!({"validation": "enforce", "schema": {"properties": properties, "additionalProperties": false}})).await;
    let made = world.made(create("a", &json!(1))).await.json().unwrap();
    assert!(made.get("_etag").is_some());
    world.answered(200, Call::put(&format!("{ITEMS}/a"), made.to_string()).partition(PK)).await;
    let mut more = made.clone();
    more["other"] = json!(1);
    let call = Call::put(&format!("{ITEMS}/a"), more.to_string()).partition(PK);
    world.refused(call, (400, 0), "('other' was unexpected)").await;
}

/// Writers and a changer of schemas at once: whatever came in after a schema was set matches it.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn no_write_slips_past_a_schema_that_was_set() {
    let world = std::sync::Arc::new(World::new().await);
    let writers: Vec<_> = (0..4)
        .map(|writer| {
            let world = world.clone();
            tokio::spawn(async move {
                let mut refused = 0;
                for at in 0..400 {
                    let call = create(&format!("{writer}-{at}"), &json!("x"));
                    match world.call(&call).await.status {
                        201 => {}
                        400 => refused += 1,
                        other => panic!("{other}"),
                    }
                }
                refused
            })
        })
        .collect();
    for _ in 0..8 {
        world.schema(&json!({"validation": "enforce", "schema": numbered()})).await;
        let seen = world.count_all().await;
        for _ in 0..5 {
            assert_eq!(world.count_all().await, seen, "an item came in that does not match");
        }
        world.no_schema().await;
    }
    for writer in writers {
        writer.await.unwrap();
    }
}

impl World {
    /// Items, without reading them in pages.
    async fn count_all(&self) -> usize {
        use orrery_documents::spaces::DOCUMENTS;
        use orrery_kv::{KeyRange, Order, Read as _};
        let snapshot = self.cosmos.store().snapshot();
        snapshot.range(DOCUMENTS, &KeyRange::all(), Order::Ascending).count()
    }
}
