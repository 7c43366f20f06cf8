//! An entity as a client sends it: its properties checked against the limits and written into a record as they come.

use super::key::EntityKey;
use super::name::{is_property_name, is_system};
use super::record::{EntityRow, Properties, RecordWriter, with_timestamp};
use crate::edm::{Ticks, ValueRef};
use crate::row::Row;
use crate::{limits, utf16};
use std::sync::Arc;

/// Properties with a key, ready to be stored. Cheap to clone.
#[derive(Clone, Debug, PartialEq)]
pub struct Entity {
    key: EntityKey,
    /// With a Timestamp of zero.
    record: Arc<[u8]>,
}

/// Why an entity cannot be stored; one variant for each code of the service.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidEntity {
    #[error("The property name is invalid: '{name}' is no identifier.")]
    PropertyNameInvalid { name: String },
    #[error(
        "The property name exceeds the maximum allowed length of {} characters.",
        limits::PROPERTY_NAME_CHARS_MAX
    )]
    PropertyNameTooLong,
    #[error(
        "The property value exceeds the maximum allowed size (64KB). If the property value is a string, it is UTF-16 encoded and the maximum number of characters should be 32K or less. The property is '{name}'."
    )]
    PropertyValueTooLarge { name: String },
    #[error(
        "The entity contains more properties than allowed: {} beside PartitionKey, RowKey and Timestamp.",
        limits::PROPERTIES_MAX
    )]
    TooManyProperties,
    #[error("The entity is larger than the maximum allowed size (1MB).")]
    EntityTooLarge,
    #[error("A property is specified more than one time: '{name}'.")]
    DuplicateProperty { name: String },
    #[error(
        "The value of '{name}' is out of range: a DateTime is not before the year {}.",
        limits::DATE_TIME_YEAR_MIN
    )]
    DateTimeOutOfRange { name: String },
}

/// Takes properties one after the other.
#[derive(Debug)]
pub struct EntityBuilder {
    record: RecordWriter,
    /// What the service counts for them.
    bytes: usize,
    count: usize,
}

impl Default for EntityBuilder {
    fn default() -> Self {
        Self { record: RecordWriter::new(Ticks::default()), bytes: 0, count: 0 }
    }
}

impl EntityBuilder {
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a property other than PartitionKey, RowKey and Timestamp.
    pub fn push(&mut self, name: &str, value: ValueRef<'_>) -> Result<(), InvalidEntity> {
        if name.len() > limits::PROPERTY_NAME_CHARS_MAX
            && name.chars().count() > limits::PROPERTY_NAME_CHARS_MAX
        {
            return Err(InvalidEntity::PropertyNameTooLong);
        }
        if !is_property_name(name) || is_system(name) {
            return Err(InvalidEntity::PropertyNameInvalid { name: name.to_owned() });
        }
        check_value(name, value)?;
        if self.count == limits::PROPERTIES_MAX {
            return Err(InvalidEntity::TooManyProperties);
        }
        self.bytes += property_bytes(name, value);
        if self.bytes > limits::ENTITY_BYTES_MAX {
            return Err(InvalidEntity::EntityTooLarge);
        }
        self.count += 1;
        self.record.push(name, value);
        Ok(())
    }

    pub fn finish(self, key: EntityKey) -> Result<Entity, InvalidEntity> {
        if self.bytes + key_bytes(&key) > limits::ENTITY_BYTES_MAX {
            return Err(InvalidEntity::EntityTooLarge);
        }
        let record = self.record.finish();
        if let Some(name) = duplicate(Properties::of_record(&record)) {
            return Err(InvalidEntity::DuplicateProperty { name: name.to_owned() });
        }
        Ok(Entity { key, record: record.into() })
    }
}

impl Entity {
    pub fn key(&self) -> &EntityKey {
        &self.key
    }

    pub fn properties(&self) -> Properties<'_> {
        Properties::of_record(&self.record)
    }

    /// As it is stored when it is written at that moment, and there was none before or it replaces what was there.
    pub fn as_row(&self, table: u32, at: Ticks) -> EntityRow {
        let (partition_key, row_key) = (self.key.partition_key.as_str(), self.key.row_key.as_str());
        let key = Row::Entity { table, partition_key, row_key }.key();
        EntityRow::read(key, with_timestamp(&self.record, at).into()).expect("what is written can be read")
    }

    pub(crate) fn record(&self) -> &[u8] {
        &self.record
    }

    /// What it takes in a group transaction's limit.
    pub fn bytes(&self) -> usize {
        self.record.len()
    }
}

/// What an entity may not be, although each of its properties may. Of what a merge makes.
pub(crate) fn check_whole(key: &EntityKey, record: &[u8]) -> Result<(), InvalidEntity> {
    let properties = Properties::of_record(record);
    if properties.len() > limits::PROPERTIES_MAX {
        return Err(InvalidEntity::TooManyProperties);
    }
    if counted_bytes(key, properties) > limits::ENTITY_BYTES_MAX {
        return Err(InvalidEntity::EntityTooLarge);
    }
    Ok(())
}

/// The size of an entity as the service counts it, for its limit and for its price.
pub(crate) fn counted_bytes(key: &EntityKey, properties: Properties<'_>) -> usize {
    key_bytes(key) + properties.map(|(name, value)| property_bytes(name, value)).sum::<usize>()
}

fn check_value(name: &str, value: ValueRef<'_>) -> Result<(), InvalidEntity> {
    let name = || name.to_owned();
    match value {
        ValueRef::String(text)
            if text.len() > limits::STRING_UTF16_UNITS_MAX
                && utf16::units(text) > limits::STRING_UTF16_UNITS_MAX =>
        {
            Err(InvalidEntity::PropertyValueTooLarge { name: name() })
        }
        ValueRef::Binary(bytes) if bytes.len() > limits::BINARY_BYTES_MAX => {
            Err(InvalidEntity::PropertyValueTooLarge { name: name() })
        }
        ValueRef::DateTime(at) if at.ticks().year() < limits::DATE_TIME_YEAR_MIN => {
            Err(InvalidEntity::DateTimeOutOfRange { name: name() })
        }
        _ => Ok(()),
    }
}

// The sizes that the service publishes for entities and properties.

fn key_bytes(key: &EntityKey) -> usize {
    4 + 2 * (utf16::units(key.partition_key.as_str()) + utf16::units(key.row_key.as_str()))
}

fn property_bytes(name: &str, value: ValueRef<'_>) -> usize {
    let value = match value {
        ValueRef::String(text) => 4 + 2 * utf16::units(text),
        ValueRef::Binary(bytes) => 4 + bytes.len(),
        ValueRef::Guid(_) => 16,
        ValueRef::Int64(_) | ValueRef::Double(_) | ValueRef::DateTime(_) => 8,
        ValueRef::Int32(_) => 4,
        ValueRef::Boolean(_) => 1,
    };
    8 + 2 * utf16::units(name) + value
}

fn duplicate(properties: Properties<'_>) -> Option<&str> {
    let mut names: Vec<&str> = properties.map(|(name, _)| name).collect();
    names.sort_unstable();
    names.windows(2).find(|pair| pair[0] == pair[1]).map(|pair| pair[0])
}
