//! How the schemas of a container are stored: JSON with a version, one row (`docs/formats/schemas.md`).

use super::definition::Definition;
use bytes::Bytes;
use orrery_kv::Error;
use serde_json::{Map, Value};

const VERSION: u64 = 1;

pub(super) fn write(definition: &Definition) -> Bytes {
    let mut record = Map::new();
    record.insert("v".to_owned(), VERSION.into());
    record.extend(definition.to_json());
    Bytes::from(Value::Object(record).to_string())
}

pub(super) fn read(bytes: &[u8]) -> Result<Definition, Error> {
    let damaged = |why: String| Error::Corrupt(format!("the record of a schema: {why}"));
    let mut record: Map<String, Value> =
        serde_json::from_slice(bytes).map_err(|error| damaged(error.to_string()))?;
    match record.shift_remove("v").as_ref().and_then(Value::as_u64) {
        Some(VERSION) => {}
        other => return Err(damaged(format!("it has version {other:?}"))),
    }
    Definition::of(record).map_err(|error| damaged(error.to_string()))
}
