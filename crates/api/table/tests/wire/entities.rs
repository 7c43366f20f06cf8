//! One entity: written in every way, read at every level.

use crate::call::Call;
use crate::world::{World, text};
use serde_json::{Value, json};

const AT: &str = "/runs(PartitionKey='p',RowKey='r')";

async fn read(world: &World) -> Value {
    world.json(Call::get(AT).header("Accept", "application/json;odata=nometadata")).await
}

fn of(entity: &Value) -> Value {
    let mut members = entity.as_object().unwrap().clone();
    members.remove("Timestamp");
    members.into()
}

#[tokio::test]
async fn an_inserted_entity_is_answered_and_read_back() {
    let world = World::new().await;
    let reply = world.insert("p", "r", r#","n":5,"big@odata.type":"Edm.Int64","big":"7""#).await;
    let etag = reply.header("etag").unwrap().to_owned();
    let body = reply.json().unwrap();
    let timestamp = body["Timestamp"].as_str().unwrap();
    assert_eq!(etag, format!("W/\"datetime'{}'\"", timestamp.replace(':', "%3A")));
    assert_eq!(body["odata.etag"], etag);
    assert_eq!(timestamp.len(), "2026-11-15T00:59:26.3287118Z".len());
    let place = "http://127.0.0.1/devstoreaccount1/runs(PartitionKey='p',RowKey='r')";
    assert_eq!((reply.header("location"), reply.header("dataserviceid")), (Some(place), Some(place)));
    let read = world.answered(200, Call::get(AT)).await;
    assert_eq!((read.header("etag"), read.json().unwrap()), (Some(etag.as_str()), body));
    let again = Call::post("/runs", r#"{"PartitionKey":"p","RowKey":"r"}"#);
    world.refused(again, 409, "EntityAlreadyExists", "The specified entity already exists.").await;
}

#[tokio::test]
async fn an_insert_without_content_says_where_the_entity_is() {
    let world = World::new().await;
    let body = r#"{"PartitionKey":"o'clock","RowKey":"é %"}"#;
    let call = Call::post("/runs", body).header("Prefer", "return-no-content").lite();
    let reply = world.answered(204, call).await;
    assert_eq!(reply.header("preference-applied"), Some("return-no-content"));
    assert_eq!(
        reply.header("location"),
        Some("http://127.0.0.1/devstoreaccount1/runs(PartitionKey='o''clock',RowKey='%C3%A9%20%25')")
    );
    assert!(reply.header("etag").is_some());
    for target in [
        "/runs(PartitionKey='o%27%27clock',RowKey='%C3%A9%20%25')",
        "/RUNS(RowKey='%C3%A9%20%25',PartitionKey='o''clock')",
    ] {
        assert_eq!(world.json(Call::get(target)).await["RowKey"], "é %");
    }
}

#[tokio::test]
async fn each_level_says_what_it_has_to() {
    let world = World::new().await;
    world
        .insert("p", "r", r#","n":1.0,"g@odata.type":"Edm.Guid","g":"c9da6455-213d-42c9-9a79-3e9149a57833""#)
        .await;
    let members = async |call: Call| -> Vec<String> {
        let entity = world.json(call).await;
        entity.as_object().unwrap().keys().cloned().collect()
    };
    let accept = |level: &str| Call::get(AT).header("Accept", &format!("application/json;odata={level}"));
    assert_eq!(members(accept("nometadata")).await, ["PartitionKey", "RowKey", "Timestamp", "n", "g"]);
    let minimal =
        ["odata.metadata", "odata.etag", "PartitionKey", "RowKey", "Timestamp", "n", "g@odata.type", "g"];
    assert_eq!(members(accept("minimalmetadata")).await, minimal);
    assert_eq!(members(Call::get(AT).header("Accept", "application/json")).await, minimal);
    let full = [
        "odata.metadata",
        "odata.type",
        "odata.id",
        "odata.etag",
        "odata.editLink",
        "PartitionKey",
        "RowKey",
        "Timestamp@odata.type",
        "Timestamp",
        "n",
        "g@odata.type",
        "g",
    ];
    assert_eq!(members(accept("fullmetadata")).await, full);
    let by_format = Call::get(&format!("{AT}?$format=application/json;odata=fullmetadata"));
    assert_eq!(members(by_format.header("Accept", "application/json;odata=nometadata")).await, full);
    let reply = world.answered(200, accept("nometadata")).await;
    assert_eq!(
        reply.header("content-type"),
        Some("application/json;odata=nometadata;streaming=true;charset=utf-8")
    );
    assert!(text(&reply).contains(r#""n":1.0,"#));
}

#[tokio::test]
async fn a_replaced_entity_loses_what_it_had_and_a_merged_one_keeps_it() {
    let world = World::new().await;
    world.insert("p", "r", r#","a":1,"b":2"#).await;
    world.answered(204, Call::put(AT, r#"{"b":3,"c":4}"#).any()).await;
    assert_eq!(of(&read(&world).await), json!({"PartitionKey": "p", "RowKey": "r", "b": 3, "c": 4}));
    world.answered(204, Call::merge(AT, r#"{"b":null,"d":5}"#).any()).await;
    assert_eq!(of(&read(&world).await), json!({"PartitionKey": "p", "RowKey": "r", "b": 3, "c": 4, "d": 5}));
}

#[tokio::test]
async fn merge_has_three_spellings() {
    let world = World::new().await;
    world.insert("p", "r", "").await;
    world.answered(204, Call::new("MERGE", AT).body(r#"{"a":1}"#).any()).await;
    world.answered(204, Call::post(AT, r#"{"b":2}"#).header("X-HTTP-Method", "MERGE").any()).await;
    world.answered(204, Call::merge(AT, r#"{"c":3}"#)).await;
    assert_eq!(of(&read(&world).await), json!({"PartitionKey": "p", "RowKey": "r", "a": 1, "b": 2, "c": 3}));
}

#[tokio::test]
async fn an_upsert_inserts_what_is_not_there() {
    let world = World::new().await;
    let reply = world.answered(204, Call::put(AT, r#"{"a":1}"#)).await;
    assert!(reply.header("etag").is_some());
    assert_eq!(of(&read(&world).await), json!({"PartitionKey": "p", "RowKey": "r", "a": 1}));
    world.answered(204, Call::put(AT, r#"{"b":1}"#)).await;
    assert_eq!(of(&read(&world).await), json!({"PartitionKey": "p", "RowKey": "r", "b": 1}));
    let other = "/runs(PartitionKey='',RowKey='')";
    world.answered(204, Call::merge(other, r#"{"PartitionKey":"","RowKey":"","c":1}"#)).await;
    let written = world.json(Call::get(other)).await;
    assert_eq!((&written["PartitionKey"], &written["c"]), (&json!(""), &json!(1)));
}

#[tokio::test]
async fn a_deleted_entity_is_not_found() {
    let world = World::new().await;
    world.insert("p", "r", "").await;
    world.answered(204, Call::delete(AT).any()).await;
    world.refused(Call::get(AT), 404, "ResourceNotFound", "The specified resource does not exist.").await;
    world.refused(Call::delete(AT).any(), 404, "ResourceNotFound", "does not exist").await;
    world.refused(Call::put(AT, "{}").any(), 404, "ResourceNotFound", "does not exist").await;
}

#[tokio::test]
async fn a_read_gives_what_is_selected() {
    let world = World::new().await;
    world.insert("p", "r", r#","a":1,"b":2"#).await;
    let selected = world.json(Call::get(&format!("{AT}?$select=b,RowKey,none"))).await;
    let members: Vec<&String> = selected.as_object().unwrap().keys().collect();
    assert_eq!(members, ["odata.metadata", "odata.etag", "RowKey", "b"]);
}

#[tokio::test]
async fn every_type_comes_back_as_it_was_sent() {
    let world = World::new().await;
    let sent =
        r#","s":"é\"\\","t":true,"i":-5,"l@odata.type":"Edm.Int64","l":"9007199254740993","d":1.0,"e":1e-7,"#
            .to_owned()
            + r#""n@odata.type":"Edm.Double","n":"NaN","at@odata.type":"Edm.DateTime","at":"2024-01-31T12:30:59.123456Z","#
            + r#""g@odata.type":"Edm.Guid","g":"c9da6455-213d-42c9-9a79-3e9149a57833","b@odata.type":"Edm.Binary","b":"AAH/""#;
    let reply = world.insert("p", "r", &sent).await;
    assert!(text(&reply).ends_with(&format!("Z\"{sent}}}")), "{}", text(&reply));
}
