//! Items, writes, queries, pages, errors.

pub use crate::ports::StoreError;
use serde_json::Value;

/// A container that a service needs: its definition in Cosmos DB's format (id, partitionKey, indexingPolicy,
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

/// A stored item, including system members.
#[derive(Clone, Debug, PartialEq)]
pub struct Item {
    pub value: Value,
    pub etag: String,
    /// The charge of the request in request units; a batch's charge is on its first item.
    pub charge: f64,
}

/// Names an item within a container.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ItemKey {
    pub partition: String,
    pub id: String,
}

/// Items that were asked for by their keys.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ItemsFound {
    /// Those that exist, in the order of the keys. Their own charges are zero.
    pub items: Vec<Item>,
    /// The charge of all requests together.
    pub charge: f64,
}

#[derive(Clone, Debug)]
pub enum Write {
    Create(Value),
    /// `if_match` is the etag that the item must still have.
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
    /// Names include their `@`.
    pub parameters: Vec<(String, Value)>,
    /// Rows per page; 0 for the store's default.
    pub items_max: usize,
    /// Continuation of an earlier page of the same query in the same partition.
    pub continuation: Option<String>,
}

#[derive(Clone, Debug)]
pub struct Page {
    pub rows: Vec<Value>,
    pub continuation: Option<String>,
    pub charge: f64,
}

/// A position in a change feed, as text that may be stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cursor(pub String);

#[derive(Clone, Debug)]
pub struct Changes {
    pub items: Vec<Value>,
    pub next: Cursor,
    /// Whether more changes existed when this page was read.
    pub has_more: bool,
}
