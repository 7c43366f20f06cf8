//! A partition key as clients send it: a JSON array with one element per path (wire guide §11.1).

use orrery_core::limits;
use orrery_documents::catalog::Container;
use orrery_documents::limits::PARTITION_KEY_BYTES_MAX;
use orrery_keys::{Epk, epk, prefix_range};
use orrery_value::Value;

/// What is wrong with the partition key of a request.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PartitionKeyError {
    #[error("The partition key is too long; the largest value is {bytes_max} bytes.")]
    TooLong { bytes_max: usize },
    #[error(
        "The partition key header '{0}' is not a JSON array of strings, numbers, booleans, nulls or {{}} for a missing value."
    )]
    Malformed(String),
    /// It does not fit the container or the item. Clients match on the sentence.
    #[error(
        "Partition key provided either doesn't correspond to definition in the collection or doesn't match partition key field values specified in the document. {0}"
    )]
    Wrong(String),
    #[error("The partition key is missing: send the header x-ms-documentdb-partitionkey.")]
    Missing,
    #[error("{0}")]
    Other(&'static str),
}

/// The components; an empty object stands for undefined.
pub fn parse(header: &str) -> Result<Vec<Value>, PartitionKeyError> {
    if header.len() > PARTITION_KEY_BYTES_MAX * limits::PARTITION_KEY_PATHS_MAX * 6 {
        return Err(too_long());
    }
    let Ok(Value::Array(parts)) = Value::parse(header) else { return Err(malformed(header)) };
    parts.into_iter().map(|part| component(header, part)).collect()
}

/// The components from JSON values; an empty object stands for undefined.
pub fn components(parts: Vec<Value>) -> Vec<Value> {
    let undefined = |part: &Value| matches!(part, Value::Object(members) if members.is_empty());
    parts.into_iter().map(|part| if undefined(&part) { Value::Undefined } else { part }).collect()
}

fn component(header: &str, part: Value) -> Result<Value, PartitionKeyError> {
    match part {
        Value::Object(members) if members.is_empty() => Ok(Value::Undefined),
        Value::Object(_) | Value::Array(_) => Err(malformed(header)),
        Value::String(text) if text.len() > PARTITION_KEY_BYTES_MAX => Err(too_long()),
        scalar => Ok(scalar),
    }
}

fn too_long() -> PartitionKeyError {
    PartitionKeyError::TooLong { bytes_max: PARTITION_KEY_BYTES_MAX }
}

fn malformed(header: &str) -> PartitionKeyError {
    PartitionKeyError::Malformed(header.chars().take(64).collect())
}

/// The logical partition of a point operation.
pub fn point(container: &Container, header: &str) -> Result<Epk, PartitionKeyError> {
    let mut parts = parse(header)?;
    let wanted = container.definition().partition_key().paths().len();
    if parts.is_empty() && wanted == 1 {
        // Containers that were migrated from unpartitioned ones: `[]` is the missing key.
        parts.push(Value::Undefined);
    }
    if parts.len() != wanted {
        let why =
            format!("The partition key has {} components, and the container's has {wanted}.", parts.len());
        return Err(PartitionKeyError::Wrong(why));
    }
    Ok(epk(container.hashing(), &parts))
}

/// Whether a feed's key names a partition or a prefix: an empty one does not, except in a container whose partition
/// key is the system's, where it is the missing key.
pub fn names_some(container: &Container, header: &str) -> Result<bool, PartitionKeyError> {
    Ok(container.definition().partition_key().system_key() || !parse(header)?.is_empty())
}

/// The range of a feed: one partition, or all partitions with this prefix.
pub fn feed(container: &Container, header: &str) -> Result<Scope, PartitionKeyError> {
    let parts = parse(header)?;
    let wanted = container.definition().partition_key().paths().len();
    if parts.is_empty() || parts.len() >= wanted {
        return point(container, header).map(Scope::Partition);
    }
    let (min, max) = prefix_range(&epk(container.hashing(), &parts));
    Ok(Scope::Between(min, max))
}

pub use orrery_documents::item::FeedScope as Scope;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scalars_null_and_undefined_are_told_apart() {
        let parse = |text| super::parse(text).expect(text);
        assert_eq!(parse(r#"["a"]"#), [Value::String("a".into())]);
        assert_eq!(parse("[null]"), [Value::Null]);
        assert!(matches!(parse("[{}]")[..], [Value::Undefined]));
        assert_eq!(parse(r#"["\u00e9",true]"#), [Value::String("é".into()), Value::Bool(true)]);
        assert_eq!(parse("[1]"), parse("[1.0]"));
        assert!(parse("[]").is_empty());
    }

    #[test]
    fn other_things_are_bad_requests() {
        for text in ["", "a", "\"a\"", "[[1]]", "[{\"a\":1}]", "[1", "{}"] {
            super::parse(text).expect_err(text);
        }
    }
}
