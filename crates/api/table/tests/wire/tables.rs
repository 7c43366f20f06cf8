//! Tables: create, list, read, delete.

use crate::call::Call;
use crate::world::{World, text};
use serde_json::json;

const RUNS: &str = r#"{"TableName":"Runs"}"#;

#[tokio::test]
async fn a_table_is_created_and_told_as_the_client_prefers() {
    let world = World::empty().await;
    let reply = world.answered(201, Call::post("/Tables", RUNS)).await;
    assert_eq!(
        text(&reply),
        r#"{"odata.metadata":"http://127.0.0.1/devstoreaccount1/$metadata#Tables/@Element","TableName":"Runs"}"#
    );
    assert_eq!(reply.header("location"), Some("http://127.0.0.1/devstoreaccount1/Tables('Runs')"));
    assert_eq!(reply.header("dataserviceid"), reply.header("location"));
    assert_eq!(reply.header("dataserviceversion"), Some("3.0;"));
    assert_eq!(reply.header("preference-applied"), None);
    let asked = |name: &str, preference: &str| {
        Call::post("/Tables", format!(r#"{{"TableName":"{name}"}}"#)).header("Prefer", preference)
    };
    let reply = world.answered(204, asked("Logs", "return-no-content")).await;
    assert_eq!(reply.header("preference-applied"), Some("return-no-content"));
    let reply = world.answered(201, asked("More", "return-content")).await;
    assert_eq!(reply.header("preference-applied"), Some("return-content"));
}

#[tokio::test]
async fn a_table_that_is_there_is_a_conflict_whatever_the_case() {
    let world = World::empty().await;
    world.answered(201, Call::post("/Tables", RUNS)).await;
    let again = Call::post("/Tables", r#"{"TableName":"rUNS"}"#);
    world.refused(again, 409, "TableAlreadyExists", "The table specified already exists.").await;
}

#[tokio::test]
async fn names_that_no_table_may_have_are_refused() {
    let world = World::empty().await;
    let refused = async |name: &str, code: &str| {
        let body = json!({ "TableName": name }).to_string();
        world.refused(Call::post("/Tables", body), 400, code, "specified resource name").await;
    };
    refused("ab", "OutOfRangeInput").await;
    refused(&"a".repeat(64), "OutOfRangeInput").await;
    refused("my-table", "InvalidResourceName").await;
    refused("2runs", "InvalidResourceName").await;
    refused("Tables", "InvalidResourceName").await;
    for body in ["{}", r#"{"TableName":5}"#, r#"{"tablename":"Runs"}"#, "[]", ""] {
        world.refused(Call::post("/Tables", body), 400, "InvalidInput", "not valid").await;
    }
}

#[tokio::test]
async fn tables_are_listed_in_pages_of_those_that_are_wanted() {
    let world = World::empty().await;
    assert_eq!(world.json(Call::get("/Tables")).await["value"], json!([]));
    for name in ["beta", "Alpha", "gamma", "Delta"] {
        world.answered(201, Call::post("/Tables", json!({ "TableName": name }).to_string())).await;
    }
    let names = |value: &serde_json::Value| -> Vec<String> {
        let tables = value["value"].as_array().unwrap().iter();
        tables.map(|table| table["TableName"].as_str().unwrap().to_owned()).collect()
    };
    let reply = world.answered(200, Call::get("/Tables?$top=3")).await;
    assert_eq!(names(&reply.json().unwrap()), ["Alpha", "beta", "Delta"]);
    let next = reply.header("x-ms-continuation-nexttablename").unwrap();
    let reply = world.answered(200, Call::get(&format!("/Tables()?$top=3&NextTableName={next}"))).await;
    assert_eq!(names(&reply.json().unwrap()), ["gamma"]);
    assert_eq!(reply.header("x-ms-continuation-nexttablename"), None);
    let filtered = Call::get("/Tables?$filter=TableName%20ge%20'beta'%20and%20TableName%20lt%20'd'");
    assert_eq!(names(&world.json(filtered).await), ["beta"]);
    let full =
        Call::get("/Tables?$format=application/json;odata=fullmetadata&$filter=TableName%20eq%20'beta'");
    assert_eq!(
        world.json(full).await["value"],
        json!([{
            "odata.type": "devstoreaccount1.Tables",
            "odata.id": "http://127.0.0.1/devstoreaccount1/Tables('beta')",
            "odata.editLink": "Tables('beta')",
            "TableName": "beta",
        }])
    );
}

#[tokio::test]
async fn a_deleted_table_is_gone_and_its_name_is_free_at_once() {
    let world = World::new().await;
    world.insert("p", "r", "").await;
    assert_eq!(world.json(Call::get("/Tables('RUNS')")).await["TableName"], "runs");
    world.answered(204, Call::delete("/Tables('runs')")).await;
    world.refused(Call::delete("/Tables('runs')"), 404, "ResourceNotFound", "does not exist").await;
    world.refused(Call::get("/Tables('runs')"), 404, "ResourceNotFound", "does not exist").await;
    world.refused(Call::get("/runs"), 404, "TableNotFound", "The table specified does not exist.").await;
    world.answered(201, Call::post("/Tables", r#"{"TableName":"runs"}"#)).await;
    assert!(world.rows("/runs").await.is_empty());
}

#[tokio::test]
async fn an_account_named_by_its_host_has_the_same_tables() {
    let world = World::new().await;
    let list = Call::get("/Tables").host("devstoreaccount1.table.localhost");
    let list = world.json(list).await;
    assert_eq!(list["odata.metadata"], "http://devstoreaccount1.table.localhost/$metadata#Tables");
    assert_eq!(list["value"].as_array().unwrap().len(), 2);
}
