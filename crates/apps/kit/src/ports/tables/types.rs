//! Entities, writes, queries, pages. Those that travel are the client's own.

pub use orrery_client::storage::tables::{
    DateTime, Entity, EntityWrite as Write, FoundEntity, Guid, Ticks, Value,
};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Query {
    /// As OData writes it; all entities without one.
    pub filter: Option<String>,
    /// The properties that are wanted, keys and Timestamp among them; all, if it is empty.
    pub select: Vec<String>,
    /// Entities of a page; 0 for the store's default.
    pub entities_max: usize,
    /// Where an earlier page of the same query ended.
    pub continuation: Option<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Page {
    pub entities: Vec<FoundEntity>,
    pub continuation: Option<String>,
}

/// A continuation is two texts, of which the second may be missing, as JSON.
pub(super) fn continuation(partition_key: &str, row_key: Option<&str>) -> String {
    serde_json::json!([partition_key, row_key]).to_string()
}

/// `None`: it is none that a page gave.
pub(super) fn read_continuation(text: &str) -> Option<(String, Option<String>)> {
    serde_json::from_str(text).ok()
}
