//! Storage accounts that a blueprint declares: tables with example entities, queues with example messages.
//!
//! ```text
//! collect      the accounts of a file, resource by resource, whatever the format
//! yaml         the member `storage` of the native format
//! entity       an example entity: typed properties, checked like an insert
//! access       stored access policies
//! names        names and metadata
//! ```
//!
//! Names, values and limits are those of the models, so what is read here is accepted by the service. Each kind of
//! resource has one struct here, one `add_…` in `collect` and one method in `plan/storage.rs`.

mod access;
mod collect;
mod entity;
pub(crate) mod names;
pub(crate) mod yaml;

pub(crate) use access::{GivenPolicy, policies};
pub(crate) use collect::Accounts;
pub(crate) use entity::entity;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use orrery_catalog::storage::{AccountName, QueueName, SignedIdentifiers, TableName};
use orrery_queues::Metadata;
use orrery_tables::entity::{PARTITION_KEY, ROW_KEY};
use orrery_tables::{EdmType, Value};
use serde_json::{Map, Value as Json, json};

/// What follows a property's name where its type is said.
const ANNOTATION: &str = "@odata.type";

/// A storage account and the resources in it that the blueprint names.
#[derive(Clone, Debug)]
pub struct StorageAccount {
    pub name: AccountName,
    pub about: Option<String>,
    pub tables: Vec<StorageTable>,
    pub queues: Vec<StorageQueue>,
}

#[derive(Clone, Debug)]
pub struct StorageTable {
    pub name: TableName,
    pub about: Option<String>,
    /// The types of properties, for readers and for example entities; a table itself has no columns.
    pub columns: Vec<(String, EdmType)>,
    /// Unspecified policies are kept.
    pub policies: Option<SignedIdentifiers>,
    /// Keys are unique.
    pub entities: Vec<ExampleEntity>,
}

/// Within the limits of an entity.
#[derive(Clone, Debug, PartialEq)]
pub struct ExampleEntity {
    pub partition_key: String,
    pub row_key: String,
    pub properties: Vec<(String, Value)>,
}

#[derive(Clone, Debug)]
pub struct StorageQueue {
    pub name: QueueName,
    pub about: Option<String>,
    /// Unspecified metadata is kept.
    pub metadata: Option<Metadata>,
    /// Unspecified policies are kept.
    pub policies: Option<SignedIdentifiers>,
    /// Texts for a queue without messages.
    pub messages: Vec<String>,
}

impl StorageAccount {
    pub fn table(&self, name: &TableName) -> Option<&StorageTable> {
        self.tables.iter().find(|table| table.name == *name)
    }

    pub fn is_empty(&self) -> bool {
        self.tables.is_empty() && self.queues.is_empty()
    }

    pub fn has_fixtures(&self) -> bool {
        self.tables.iter().any(|table| !table.entities.is_empty())
            || self.queues.iter().any(|queue| !queue.messages.is_empty())
    }
}

impl ExampleEntity {
    /// As the wire has it: a type beside every value whose type JSON cannot tell.
    pub fn to_json(&self) -> Json {
        let mut members = Map::from_iter([
            (PARTITION_KEY.to_owned(), json!(self.partition_key)),
            (ROW_KEY.to_owned(), json!(self.row_key)),
        ]);
        for (name, value) in &self.properties {
            let (json, is_told) = match value {
                Value::String(text) => (json!(text), true),
                Value::Boolean(value) => (json!(value), true),
                Value::Int32(value) => (json!(value), true),
                Value::Double(value) => match value.is_finite() {
                    true => (json!(value), false),
                    false => (json!(value.to_string().replace("inf", "Infinity")), false),
                },
                Value::Int64(value) => (json!(value.to_string()), false),
                Value::DateTime(value) => (json!(value.text()), false),
                Value::Guid(value) => (json!(value.to_string()), false),
                Value::Binary(bytes) => (json!(STANDARD.encode(bytes)), false),
            };
            if !is_told {
                members.insert(format!("{name}{ANNOTATION}"), json!(value.edm_type().name()));
            }
            members.insert(name.clone(), json);
        }
        Json::Object(members)
    }
}
