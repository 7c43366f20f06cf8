//! Items, writes, queries, pages, errors.

use serde_json::Value;
use std::time::Duration;

/// A container that a service needs: its definition as Cosmos DB writes it (id, partitionKey, indexingPolicy,
/// defaultTtl, uniqueKeyPolicy).
#[derive(Clone, Debug)]
pub struct Layout {
    pub definition: Value,
}

impl Layout {
    /// The container's id.
    pub fn name(&self) -> &str {
        self.definition.get("id").and_then(Value::as_str).unwrap_or_default()
    }
}

/// A stored item, system members included.
#[derive(Clone, Debug, PartialEq)]
pub struct Item {
    pub value: Value,
    pub etag: String,
    /// What the request that gave it cost, in request units; a batch's is on its first item.
    pub charge: f64,
}

#[derive(Clone, Debug)]
pub enum Write {
    Create(Value),
    /// `if_match` is the tag that the item must still have.
    Replace {
        item: Value,
        if_match: Option<String>,
    },
    Upsert {
        item: Value,
        if_match: Option<String>,
    },
    Delete {
        id: String,
        if_match: Option<String>,
    },
}

#[derive(Clone, Debug, Default)]
pub struct Query {
    pub text: String,
    /// Names with their `@`.
    pub parameters: Vec<(String, Value)>,
    /// Rows of a page; 0 for the store's default.
    pub items_max: usize,
    /// Where an earlier page of the same query in the same partition ended.
    pub continuation: Option<String>,
}

#[derive(Clone, Debug)]
pub struct Page {
    pub rows: Vec<Value>,
    pub continuation: Option<String>,
    pub charge: f64,
}

/// A place in a change feed, as text that may be kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cursor(pub String);

#[derive(Clone, Debug)]
pub struct Changes {
    pub items: Vec<Value>,
    pub next: Cursor,
    /// Whether more was there when this was read.
    pub has_more: bool,
}

/// Why a store did not do what it was asked, told apart as far as a service acts on it.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum StoreError {
    #[error("an item with this id or unique key is there already")]
    Conflict,
    #[error("the item has changed since it was read")]
    Changed,
    #[error("the item is not there")]
    Missing,
    #[error("the store asks to come back later")]
    Busy { after: Option<Duration> },
    #[error("the store does not answer: {0}")]
    Unavailable(String),
    #[error("the store refuses with {status}: {message}")]
    Refused { status: u16, message: String },
}

impl StoreError {
    /// Whether the same may go well later, though nobody changes what is asked: a credential that ended is renewed by
    /// somebody, and a container that is gone made again.
    pub fn is_passing(&self) -> bool {
        match self {
            Self::Busy { .. } | Self::Unavailable(_) => true,
            Self::Refused { status, .. } => matches!(status, 401 | 404),
            Self::Conflict | Self::Changed | Self::Missing => false,
        }
    }
}
