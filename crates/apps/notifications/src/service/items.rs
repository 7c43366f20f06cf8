//! Conversion between records and items, and the access to the port that all operations share.

use crate::limits;
use orrery_core::Timestamp;
use orrery_kit::ports::documents::{Documents, Item, Query, StoreError, Write};
use orrery_kit::time;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::time::Duration;

/// A record and its etag in the store; an empty etag means that it is not stored.
#[derive(Clone, Debug, PartialEq)]
pub struct Tagged<T> {
    pub value: T,
    pub etag: String,
    /// The charge of reading it, in request units.
    pub charge: f64,
}

impl<T: DeserializeOwned> Tagged<T> {
    /// The error names the item that is not such a record.
    pub fn of(item: Item) -> Result<Self, StoreError> {
        Ok(Self { value: record(item.value)?, etag: item.etag, charge: item.charge })
    }
}

impl<T: DeserializeOwned> Tagged<T> {
    /// A row of a `SELECT *`.
    pub fn of_row(row: &Value) -> Result<Self, StoreError> {
        let value = T::deserialize(row).map_err(|error| unreadable(&row["id"], &error))?;
        Ok(Self { value, etag: row["_etag"].as_str().unwrap_or_default().to_owned(), charge: 0.0 })
    }
}

pub fn record<T: DeserializeOwned>(value: Value) -> Result<T, StoreError> {
    let id = value["id"].clone();
    serde_json::from_value(value).map_err(|error| unreadable(&id, &error))
}

pub fn value<T: Serialize>(record: &T) -> Result<Value, StoreError> {
    serde_json::to_value(record).map_err(|error| broken(format!("a record has no JSON: {error}")))
}

fn unreadable(id: &Value, error: &serde_json::Error) -> StoreError {
    broken(format!("the item {id} is not as expected: {error}"))
}

fn broken(message: String) -> StoreError {
    StoreError::Refused { status: 500, message }
}

/// The precondition of a write: the item as read, or its absence.
pub fn put(item: Value, etag: &str) -> Write {
    if etag.is_empty() {
        return Write::Create(item);
    }
    Write::Replace { item, if_match: Some(etag.to_owned()) }
}

/// An error truncated for storage.
pub fn short(reason: &str) -> String {
    reason.chars().take(limits::NOTIFICATION_ERROR_CHARS_MAX).collect()
}

/// The seconds left of the thirty days since `created_at`, at least one (C-36).
pub fn ttl(created_at: &str, now: Timestamp) -> u64 {
    let created = time::parse(created_at).unwrap_or(now);
    let ends = created.plus(Duration::from_secs(limits::NOTIFICATION_KEPT_SECONDS));
    ends.seconds().saturating_sub(now.seconds()).max(1)
}

/// The time this long ago.
pub fn before(now: Timestamp, by: Duration) -> Timestamp {
    Timestamp::from_millis(now.millis().saturating_sub(by.as_millis() as u64))
}

/// One of the seed's records; items stored beside them have a `kind` and are skipped.
pub async fn find<T: DeserializeOwned>(
    documents: &Documents,
    container: &str,
    user: &str,
    id: &str,
) -> Result<Option<Tagged<T>>, StoreError> {
    let found = documents.read(container, user, id).await?;
    found.filter(|item| item.value.get("kind").is_none()).map(Tagged::of).transpose()
}

/// False if it is missing or changed since the etag: then the caller reads it again.
pub async fn delete(
    documents: &Documents,
    container: &str,
    partition: &str,
    id: &str,
    if_match: Option<String>,
) -> Result<bool, StoreError> {
    let write = Write::Delete { id: id.to_owned(), if_match };
    match documents.write(container, partition, write).await {
        Ok(_) => Ok(true),
        Err(StoreError::Changed | StoreError::Missing) => Ok(false),
        Err(error) => Err(error),
    }
}

/// All rows, page by page, up to `rows_max`.
pub async fn rows(
    documents: &Documents,
    container: &str,
    user: Option<&str>,
    mut query: Query,
    rows_max: usize,
) -> Result<Vec<Value>, StoreError> {
    let mut rows = Vec::new();
    loop {
        query.items_max = query.items_max.min(rows_max - rows.len());
        let page = documents.query(container, user, &query).await?;
        rows.extend(page.rows);
        query.continuation = page.continuation;
        if query.continuation.is_none() || rows.len() >= rows_max {
            return Ok(rows);
        }
    }
}

/// The sum of the rows of a `SELECT VALUE COUNT(1)`, which may come in parts.
pub async fn count(
    documents: &Documents,
    container: &str,
    user: Option<&str>,
    mut query: Query,
) -> Result<u64, StoreError> {
    let mut sum = 0;
    loop {
        let page = documents.query(container, user, &query).await?;
        sum += page.rows.iter().filter_map(Value::as_u64).sum::<u64>();
        query.continuation = page.continuation;
        if query.continuation.is_none() {
            return Ok(sum);
        }
    }
}

/// A query with its parameters; names without their `@`.
pub fn query(text: impl Into<String>, parameters: &[(&str, Value)]) -> Query {
    let parameters = parameters.iter().map(|(name, value)| (format!("@{name}"), value.clone())).collect();
    Query { text: text.into(), parameters, items_max: limits::NOTIFICATION_ROWS_PAGE, continuation: None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_remaining_ttl_is_never_zero() {
        let created = Timestamp::from_seconds(1_800_000_000);
        let text = time::format(created);
        let after = |days: u64| ttl(&text, created.plus(Duration::from_secs(days * 86_400)));
        assert_eq!((after(0), after(29), after(30), after(99)), (2_592_000, 86_400, 1, 1));
    }

    #[test]
    fn an_unreadable_item_is_named() {
        let error = record::<crate::records::Device>(serde_json::json!({"id": "d-1"}));
        let Err(StoreError::Refused { message, .. }) = error else { panic!("it was read") };
        assert!(message.contains("d-1"), "{message}");
    }
}
