//! Creates the missing parts of a database and its containers.
//!
//! Existing ones are only read, so an identity without permission to create containers can run where they
//! already exist.

use super::Remote;
use super::call::{Repeat, RequestBuilder, RetryBudget, send};
use super::errors::{self, Answer};
use crate::ports::documents::{Layout, StoreError};
use http::Method;
use serde_json::{Value, json};

pub async fn run(remote: &Remote, layout: &[Layout]) -> Result<(), StoreError> {
    let database = &remote.inner.database;
    if !is_there(remote, vec!["dbs", database]).await? {
        create(remote, vec!["dbs"], &json!({ "id": database })).await?;
    }
    for container in layout {
        let name = container.definition.get("id").and_then(Value::as_str);
        let name = name.ok_or_else(|| errors::refused(400, "the definition of a container has no id"))?;
        if !is_there(remote, vec!["dbs", database, "colls", name]).await? {
            create(remote, vec!["dbs", database, "colls"], &container.definition).await?;
        }
    }
    Ok(())
}

async fn is_there(remote: &Remote, path: Vec<&str>) -> Result<bool, StoreError> {
    let answer = send(remote, &RequestBuilder::new(Method::GET, path), &mut RetryBudget::new(remote)).await?;
    match answer.status() {
        404 => Ok(false),
        _ if answer.is_success() => Ok(true),
        _ => Err(answer.refusal()),
    }
}

/// Another process may have been faster; existing containers stay unchanged.
async fn create(remote: &Remote, path: Vec<&str>, body: &Value) -> Result<(), StoreError> {
    let ask = RequestBuilder::new(Method::POST, path).body(body.to_string()).repeat(Repeat::Safe);
    let answer: Answer = send(remote, &ask, &mut RetryBudget::new(remote)).await?;
    let is_made = answer.is_success() || answer.status() == 409;
    if is_made { Ok(()) } else { Err(answer.refusal()) }
}
