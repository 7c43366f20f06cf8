//! Items: reads, single writes, batches.

use super::Remote;
use super::call::{Repeat, RequestBuilder, RetryBudget, Sees, send};
use super::errors::{self, Answer, refusal};
use crate::ports::documents::{Item, StoreError, Write};
use http::Method;
use http::header::{ETAG, IF_MATCH};
use orrery_client::Call;
use serde::Deserialize;
use serde_json::{Value, json};
use std::time::Duration;

pub async fn read(
    remote: &Remote,
    container: &str,
    partition: &str,
    id: &str,
) -> Result<Option<Item>, StoreError> {
    let ask = RequestBuilder::of(Call::item(Method::GET, &remote.inner.database, container, id))
        .partition(partition)
        .session(container, Sees::Before);
    let answer = send(remote, &ask, &mut RetryBudget::new(remote)).await?;
    if answer.is_success() {
        return item(&answer).map(Some);
    }
    match answer.refusal() {
        StoreError::Missing => Ok(None),
        error => Err(error),
    }
}

pub async fn write(
    remote: &Remote,
    container: &str,
    partition: &str,
    write: Write,
) -> Result<Option<Item>, StoreError> {
    let method = match &write {
        Write::Create(_) | Write::Upsert { .. } => Method::POST,
        Write::Replace { .. } => Method::PUT,
        Write::Delete { .. } => Method::DELETE,
    };
    let call = match id_in_path(&write)? {
        Some(id) => Call::item(method, &remote.inner.database, container, id),
        None => Call::items(method, &remote.inner.database, container),
    };
    let repeat = if is_idempotent(&write) { Repeat::Safe } else { Repeat::Unsafe };
    let mut ask =
        RequestBuilder::of(call).partition(partition).repeat(repeat).session(container, Sees::Nothing);
    if matches!(write, Write::Upsert { .. }) {
        ask = ask.header("x-ms-documentdb-is-upsert", "true");
    }
    if let Some(tag) = if_match(&write) {
        ask = ask.header(IF_MATCH.as_str(), tag);
    }
    if let Some(body) = body(&write) {
        ask = ask.body(body.to_string());
    }
    let answer = send(remote, &ask, &mut RetryBudget::new(remote)).await?;
    match answer.is_success() {
        true if body(&write).is_some() => item(&answer).map(Some),
        true => Ok(None),
        false => Err(answer.refusal()),
    }
}

pub async fn batch(
    remote: &Remote,
    container: &str,
    partition: &str,
    writes: &[Write],
) -> Result<Vec<Option<Item>>, StoreError> {
    let operations = writes.iter().map(operation).collect::<Result<Vec<_>, _>>()?;
    // One operation whose repetition would be refused suffices: then the whole batch is refused.
    let repeat = if writes.iter().any(is_idempotent) { Repeat::Safe } else { Repeat::Unsafe };
    let ask = RequestBuilder::of(Call::items(Method::POST, &remote.inner.database, container))
        .partition(partition)
        .header("x-ms-cosmos-is-batch-request", "true")
        .header("x-ms-cosmos-batch-atomic", "true")
        .header("x-ms-cosmos-batch-continue-on-error", "false")
        .body(Value::from(operations).to_string())
        .repeat(repeat)
        .session(container, Sees::Nothing);
    let mut patience = RetryBudget::new(remote);
    loop {
        let answer = send(remote, &ask, &mut patience).await?;
        if !answer.is_success() {
            return Err(answer.refusal());
        }
        match outcomes(&answer, writes.len()) {
            // A 429 may belong to a single operation; nothing was executed in that case either.
            Err(StoreError::Busy { after }) if patience.wait(after).await => {}
            outcome => return outcome,
        }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Outcome {
    status_code: u16,
    #[serde(default)]
    sub_status_code: u32,
    #[serde(default)]
    e_tag: Option<String>,
    #[serde(default)]
    resource_body: Option<Value>,
    #[serde(default)]
    retry_after_milliseconds: Option<u64>,
    #[serde(default)]
    message: Option<String>,
}

/// Reports the operation that was refused; those with 424 failed only because of it.
fn outcomes(answer: &Answer, count: usize) -> Result<Vec<Option<Item>>, StoreError> {
    let outcomes: Vec<Outcome> = answer.json()?;
    let is_culprit = |outcome: &&Outcome| outcome.status_code >= 400 && outcome.status_code != 424;
    if let Some(culprit) = outcomes.iter().find(is_culprit) {
        let after = culprit.retry_after_milliseconds.map(Duration::from_millis);
        let message = culprit.message.as_deref().unwrap_or_default();
        return Err(refusal(culprit.status_code, culprit.sub_status_code, after, message));
    }
    if outcomes.len() != count || answer.status() != 200 {
        return Err(StoreError::Unavailable("the answer to a batch does not fit it".to_owned()));
    }
    let item = |outcome: Outcome| {
        let value = outcome.resource_body?;
        Some(Item { value, etag: outcome.e_tag.unwrap_or_default(), charge: 0.0 })
    };
    let mut items: Vec<_> = outcomes.into_iter().map(item).collect();
    if let Some(first) = items.iter_mut().flatten().next() {
        first.charge = answer.charge();
    }
    Ok(items)
}

fn operation(write: &Write) -> Result<Value, StoreError> {
    let kind = match write {
        Write::Create(_) => "Create",
        Write::Replace { .. } => "Replace",
        Write::Upsert { .. } => "Upsert",
        Write::Delete { .. } => "Delete",
    };
    let mut operation = json!({ "operationType": kind });
    if let Some(id) = id_in_path(write)? {
        operation["id"] = id.into();
    }
    if let Some(tag) = if_match(write) {
        operation["ifMatch"] = tag.into();
    }
    if let Some(body) = body(write) {
        operation["resourceBody"] = body.clone();
    }
    Ok(operation)
}

/// Whether executing it twice is refused the second time, so that no later write is overwritten.
fn is_idempotent(write: &Write) -> bool {
    matches!(write, Write::Create(_)) || if_match(write).is_some_and(|tag| tag.trim() != "*")
}

fn if_match(write: &Write) -> Option<&str> {
    match write {
        Write::Create(_) => None,
        Write::Replace { if_match, .. } | Write::Upsert { if_match, .. } | Write::Delete { if_match, .. } => {
            if_match.as_deref().filter(|tag| !tag.trim().is_empty())
        }
    }
}

fn body(write: &Write) -> Option<&Value> {
    match write {
        Write::Create(item) | Write::Replace { item, .. } | Write::Upsert { item, .. } => Some(item),
        Write::Delete { .. } => None,
    }
}

fn id_in_path(write: &Write) -> Result<Option<&str>, StoreError> {
    match write {
        Write::Create(_) | Write::Upsert { .. } => Ok(None),
        Write::Delete { id, .. } => Ok(Some(id)),
        Write::Replace { item, .. } => {
            let id = item.get("id").and_then(Value::as_str);
            id.map(Some).ok_or_else(|| errors::refused(400, "the item has no id"))
        }
    }
}

fn item(answer: &Answer) -> Result<Item, StoreError> {
    let value: Value = answer.json()?;
    let etag = answer.header(ETAG.as_str()).or_else(|| value.get("_etag").and_then(Value::as_str));
    let etag = etag.unwrap_or_default().to_owned();
    Ok(Item { value, etag, charge: answer.charge() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_that_could_overwrite_later_ones_are_not_repeated() {
        let tag = || Some("\"t\"".to_owned());
        let item = || json!({"id": "a"});
        assert!(is_idempotent(&Write::Create(item())));
        assert!(is_idempotent(&Write::Replace { item: item(), if_match: tag() }));
        assert!(is_idempotent(&Write::Upsert { item: item(), if_match: tag() }));
        assert!(is_idempotent(&Write::Delete { id: "a".to_owned(), if_match: tag() }));
        assert!(!is_idempotent(&Write::Replace { item: item(), if_match: None }));
        assert!(!is_idempotent(&Write::Replace { item: item(), if_match: Some("*".to_owned()) }));
        assert!(!is_idempotent(&Write::Upsert { item: item(), if_match: None }));
        assert!(!is_idempotent(&Write::Delete { id: "a".to_owned(), if_match: None }));
    }
}
