//! The requests on one table's entities, and the pages of a query.

use crate::history::Key;
use orrery_testing_client::{Client, ClientError, Method, OwnedReply, StorageRequest};
use serde_json::{Value, json};

const JSON: &str = "application/json";
const PAGE_ENTITIES: usize = 300;

pub(crate) fn create_table(table: &str) -> StorageRequest {
    StorageRequest::table(Method::Post, "Tables").body(JSON, json!({"TableName": table}).to_string())
}

pub(crate) fn insert(table: &str, entity: &Value, prefer: &'static str) -> StorageRequest {
    StorageRequest::table(Method::Post, table).header("prefer", prefer).body(JSON, entity.to_string())
}

pub(crate) fn read(table: &str, key: &Key) -> StorageRequest {
    StorageRequest::table(Method::Get, at(table, key))
}

/// `PUT`, `PATCH` or `DELETE`; without a tag an update may insert as well.
pub(crate) fn on_one(
    method: Method,
    table: &str,
    key: &Key,
    entity: Option<&Value>,
    if_match: Option<&str>,
) -> StorageRequest {
    let mut request = StorageRequest::table(method, at(table, key));
    if let Some(etag) = if_match {
        request = request.header("if-match", etag);
    }
    match entity {
        Some(entity) => request.body(JSON, entity.to_string()),
        None => request,
    }
}

/// Keys of the harness have no character that a URL must escape.
pub(crate) fn at(table: &str, key: &Key) -> String {
    format!("{table}(PartitionKey='{}',RowKey='{}')", key.partition, key.id)
}

/// Every entity that a filter finds, page after page; the inner error is an answer that it should not get.
pub(crate) async fn query(
    client: &mut Client,
    table: &str,
    filter: Option<&str>,
) -> Result<Result<Vec<Value>, String>, ClientError> {
    let (mut rows, mut from): (Vec<Value>, Option<(String, String)>) = (Vec::new(), None);
    loop {
        let mut request =
            StorageRequest::table(Method::Get, format!("{table}()")).parameter("$top", PAGE_ENTITIES);
        if let Some(filter) = filter {
            request = request.parameter("$filter", filter);
        }
        if let Some((partition, row)) = &from {
            request = request.parameter("NextPartitionKey", partition).parameter("NextRowKey", row);
        }
        let reply = client.call_storage(&request).await?;
        let page = reply.json().unwrap_or_default();
        let Some(page) = page.get("value").and_then(Value::as_array).filter(|_| reply.status == 200) else {
            return Ok(Err(format!("a page of {table} got {}: {}", reply.status, text(&reply))));
        };
        rows.extend(page.iter().cloned());
        let next = |name: &str| reply.header(name).map(str::to_owned);
        let next = next("x-ms-continuation-NextPartitionKey")
            .map(|partition| (partition, next("x-ms-continuation-NextRowKey").unwrap_or_default()));
        if next.is_none() {
            return Ok(Ok(rows));
        }
        if next == from {
            return Ok(Err(format!("the continuation of {table} did not move")));
        }
        from = next;
    }
}

pub(crate) fn text(reply: &OwnedReply) -> String {
    String::from_utf8_lossy(&reply.body).into_owned()
}
