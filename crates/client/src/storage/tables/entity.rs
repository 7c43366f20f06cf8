//! Entities to write and stored entities; writes, queries, pages.

use orrery_tables::{Ticks, Value};

/// An entity to write.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Entity {
    pub partition_key: String,
    pub row_key: String,
    /// All but PartitionKey, RowKey and Timestamp.
    pub properties: Vec<(String, Value)>,
}

/// A stored entity, or its requested properties.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FoundEntity {
    pub partition_key: Option<String>,
    pub row_key: Option<String>,
    pub timestamp: Option<Ticks>,
    /// The version, as an etag.
    pub etag: Option<String>,
    pub properties: Vec<(String, Value)>,
}

/// `if_match` is the version that the entity must still have; `*` for any.
#[derive(Clone, Debug, PartialEq)]
pub enum EntityWrite {
    Insert(Entity),
    InsertOrMerge(Entity),
    InsertOrReplace(Entity),
    Merge { entity: Entity, if_match: String },
    Replace { entity: Entity, if_match: String },
    Delete { partition_key: String, row_key: String, if_match: String },
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EntityQuery {
    /// All entities without one.
    pub filter: Option<String>,
    /// The wanted properties; all if empty.
    pub select: Vec<String>,
    /// Entities of a page; 1000 at most.
    pub top: Option<usize>,
    /// The continuation of the previous page.
    pub from: Option<Continuation>,
}

/// The end of a page, in the service's own format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Continuation {
    pub partition_key: String,
    pub row_key: Option<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct EntityPage {
    pub entities: Vec<FoundEntity>,
    pub next: Option<Continuation>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TableListQuery {
    /// Of `TableName` alone.
    pub filter: Option<String>,
    pub top: Option<usize>,
    pub from: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableList {
    pub tables: Vec<String>,
    pub next: Option<String>,
}

impl Entity {
    pub fn new(partition_key: &str, row_key: &str) -> Self {
        let (partition_key, row_key) = (partition_key.to_owned(), row_key.to_owned());
        Self { partition_key, row_key, properties: Vec::new() }
    }

    pub fn property(mut self, name: &str, value: Value) -> Self {
        self.properties.push((name.to_owned(), value));
        self
    }

    pub fn get(&self, name: &str) -> Option<&Value> {
        property(&self.properties, name)
    }
}

impl FoundEntity {
    pub fn get(&self, name: &str) -> Option<&Value> {
        property(&self.properties, name)
    }
}

fn property<'a>(properties: &'a [(String, Value)], name: &str) -> Option<&'a Value> {
    properties.iter().find(|(known, _)| known == name).map(|(_, value)| value)
}

impl EntityWrite {
    /// Its entity; none for a delete.
    pub fn entity(&self) -> Option<&Entity> {
        match self {
            Self::Insert(entity) | Self::InsertOrMerge(entity) | Self::InsertOrReplace(entity) => {
                Some(entity)
            }
            Self::Merge { entity, .. } | Self::Replace { entity, .. } => Some(entity),
            Self::Delete { .. } => None,
        }
    }

    /// Partition key and row key.
    pub fn key(&self) -> (&str, &str) {
        match self {
            Self::Delete { partition_key, row_key, .. } => (partition_key, row_key),
            Self::Insert(entity) | Self::InsertOrMerge(entity) | Self::InsertOrReplace(entity) => {
                (&entity.partition_key, &entity.row_key)
            }
            Self::Merge { entity, .. } | Self::Replace { entity, .. } => {
                (&entity.partition_key, &entity.row_key)
            }
        }
    }

    pub fn if_match(&self) -> Option<&str> {
        match self {
            Self::Merge { if_match, .. } | Self::Replace { if_match, .. } | Self::Delete { if_match, .. } => {
                Some(if_match)
            }
            Self::Insert(_) | Self::InsertOrMerge(_) | Self::InsertOrReplace(_) => None,
        }
    }
}
