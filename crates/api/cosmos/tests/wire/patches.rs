//! Patches over the wire: the forms that SDKs send, answers, and refusals that say which operation and why.

use crate::call::{Call, READ_ONLY_KEY};
use crate::world::{ITEMS, World};
use serde_json::{Value, json};

const ITEM: &str = "dbs/d/colls/c/docs/i";
const PK: &str = r#"["p"]"#;

fn patch(body: impl ToString) -> Call {
    Call::patch(ITEM, body.to_string()).partition(PK)
}

fn set(value: i64) -> Call {
    patch(json!([{"op": "set", "path": "/n", "value": value}]))
}

async fn world() -> World {
    let world = World::new().await;
    let body = r#"{"id":"i","pk":"p","n":1,"exact":9007199254740993,"tags":["a"],"z":1.50}"#;
    world.made(Call::post(ITEMS, body).partition(PK)).await;
    world
}

async fn stored(world: &World) -> Value {
    world.answered(200, Call::get(ITEM).partition(PK)).await.json().unwrap()
}

#[tokio::test]
async fn every_form_that_an_sdk_sends_is_taken() {
    let world = world().await;
    let operations = json!([{"op": "incr", "path": "/n", "value": 1}]);
    let forms = [
        patch(json!({"operations": operations})).header("content-type", "application/json-patch+json"),
        patch(json!({"operations": operations})).header("content-type", "application/json_patch+json"),
        patch(json!({"operations": operations})).header("content-type", "application/json"),
        patch(&operations),
        patch(json!({"operations": operations, "condition": "from c where c.n < 100"})),
    ];
    for (index, form) in forms.into_iter().enumerate() {
        let reply = world.answered(200, form).await;
        let body = reply.json().unwrap();
        assert_eq!(body["n"], index + 2);
        assert_eq!(reply.header("etag").map(Value::from), Some(body["_etag"].clone()));
        assert_eq!(body, stored(&world).await);
    }
}

#[tokio::test]
async fn unnamed_members_keep_their_position_and_digits() {
    let world = world().await;
    let body =
        json!([{"op": "add", "path": "/tags/-", "value": "b"}, {"op": "move", "from": "/n", "path": "/m"}]);
    let reply = world.answered(200, patch(body)).await;
    let text = String::from_utf8(reply.body).unwrap();
    let expected = r#"{"id":"i","pk":"p","exact":9007199254740993,"tags":["a","b"],"z":1.50,"m":1,"_rid":"#;
    assert!(text.starts_with(expected), "{text}");
}

#[tokio::test]
async fn a_minimal_answer_has_the_tag_alone() {
    let world = world().await;
    let reply = world.answered(200, set(2).header("prefer", "return=minimal")).await;
    assert!(reply.body.is_empty());
    assert_eq!(reply.header("etag").map(Value::from), Some(stored(&world).await["_etag"].clone()));
}

#[tokio::test]
async fn it_costs_a_replace_and_a_read() {
    let world = world().await;
    let charge = |reply: orrery_testing_client::OwnedReply| -> f64 {
        reply.header("x-ms-request-charge").unwrap().parse().unwrap()
    };
    let patched = charge(world.answered(200, set(2)).await);
    let body = r#"{"id":"i","pk":"p","n":3,"exact":9007199254740993,"tags":["a"],"z":1.50}"#;
    let replaced = charge(world.answered(200, Call::put(ITEM, body).partition(PK)).await);
    assert!((patched - replaced - 1.0).abs() < 0.001, "{patched} {replaced}");
}

#[tokio::test]
async fn conditions_and_tags_are_412() {
    let world = world().await;
    let operations = json!([{"op": "incr", "path": "/n", "value": 1}]);
    let with = |condition: &str| patch(json!({"operations": operations, "condition": condition}));
    world.answered(200, with("from c where c.n = 1")).await;
    world.refused(with("from c where c.n = 1"), (412, 0), "condition of the patch does not hold").await;
    world.refused(with("from c where c.n ="), (400, 0), "SC1002").await;
    world.refused(with("where c.n = 1"), (400, 0), "has the form FROM c WHERE").await;
    let tag = stored(&world).await["_etag"].as_str().unwrap().to_owned();
    world.answered(200, set(5).header("if-match", tag.clone())).await;
    world.refused(set(6).header("if-match", tag), (412, 0), "pre-condition").await;
    world.refused(set(6).header("if-none-match", "*"), (412, 0), "pre-condition").await;
    assert_eq!(stored(&world).await["n"], 5);
}

#[tokio::test]
async fn a_condition_that_never_ends_is_cut_off() {
    let world = world().await;
    let many: Vec<u32> = (0..2000).collect();
    world.answered(200, patch(json!([{"op": "set", "path": "/many", "value": many}]))).await;
    let condition =
        "from c where (SELECT VALUE COUNT(1) FROM a IN c.many JOIN b IN c.many JOIN d IN c.many) = 0";
    let body = json!({"operations": [{"op": "set", "path": "/n", "value": 1}], "condition": condition});
    world.refused(patch(body), (408, 0), "The condition of the patch took too long").await;
    world.answered(200, set(9)).await;
}

#[tokio::test]
async fn bad_patches_change_nothing_and_say_why() {
    let world = world().await;
    let before = stored(&world).await;
    let set = |path: &str| json!([{"op": "set", "path": path, "value": 1}]);
    let many: Vec<Value> = (0..11).map(|_| json!({"op": "set", "path": "/n", "value": 1})).collect();
    let cases = [
        ("".to_owned(), "The body is not JSON"),
        ("{".to_owned(), "The body is not JSON"),
        ("7".to_owned(), "neither an object nor an array"),
        ("[]".to_owned(), "has 0 operations"),
        (json!(many).to_string(), "has 11 operations"),
        (json!([{"op": "copy", "path": "/n"}]).to_string(), "For Operation(1), copy '/n'"),
        (set("/id").to_string(), "the id of an item"),
        (set("/pk").to_string(), "the partition key of an item"),
        (set("/_ts").to_string(), "'_ts' is written by the service"),
        (set("n").to_string(), "not a JSON pointer"),
        (set("/a/b").to_string(), "leads through 'a'"),
        (set("/ttl").to_string().replace(":1}", ":0}"), "The patched item cannot be stored"),
        (json!({"operations": set("/n"), "condition": 7}).to_string(), "'condition' is not a string"),
        (
            json!([{"op": "set", "path": "/n", "value": 2}, {"op": "remove", "path": "/no"}]).to_string(),
            "Operation(2)",
        ),
        (r#"[{"op":"set","path":"/n","value":1e999}]"#.to_owned(), "not JSON"),
    ];
    for (body, fragment) in cases {
        world.refused(patch(body), (400, 0), fragment).await;
    }
    assert_eq!(stored(&world).await, before);
}

#[tokio::test]
async fn a_patch_of_a_missing_item_or_without_permission_is_refused() {
    let world = world().await;
    let body = json!([{"op": "set", "path": "/n", "value": 1}]).to_string();
    world
        .refused(Call::patch("dbs/d/colls/c/docs/no", body.clone()).partition(PK), (404, 0), "does not exist")
        .await;
    world.refused(Call::patch(ITEM, body.clone()).partition(r#"["q"]"#), (404, 0), "does not exist").await;
    world.refused(Call::patch(ITEM, body.clone()), (400, 1001), "partition key is missing").await;
    world.refused(patch(body).signed_with(READ_ONLY_KEY), (403, 0), "read-only").await;
}

#[tokio::test]
async fn unique_keys_hold_and_a_large_result_is_413() {
    let world = world().await;
    world.item("other").await;
    let taken = patch(json!([{"op": "set", "path": "/email", "value": "other"}]));
    world.refused(taken, (409, 0), "Unique index constraint").await;
    let half = "x".repeat(1_200_000);
    let grow = || patch(json!([{"op": "add", "path": "/tags/-", "value": half}]));
    world.answered(200, grow()).await;
    world.refused(grow(), (413, 0), "Request size is too large").await;
}
