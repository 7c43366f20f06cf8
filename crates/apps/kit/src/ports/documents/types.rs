//! Items, writes, queries, pages, errors.

pub use crate::ports::StoreError;
use serde_json::Value;

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
