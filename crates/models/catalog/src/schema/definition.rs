//! Schema definitions: parsing, display, storage and changes.

use super::schemas::{Compiled, Schemas};
use crate::limits;
use crate::row::Row;
use crate::{CatalogError, Container, load_container};
use bytes::Bytes;
use orrery_json_schema::{InvalidSchema, escaped};
use orrery_kv::{Error, META, Read, Txn};
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// How to treat an item that does not match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Validation {
    /// Items are not checked.
    Off,
    /// The item is written, and the response reports the violations.
    Warn,
    /// The item is refused.
    Enforce,
}

/// A parsed definition; its schemas compile.
#[derive(Clone, Debug, PartialEq)]
pub struct Definition {
    pub(super) validation: Validation,
    pub(super) shape: Shape,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Shape {
    /// One schema for all items.
    One(Value),
    /// One of several schemas, selected by this member of the item.
    ByMember { member: String, of: Map<String, Value> },
}

#[derive(Debug, thiserror::Error)]
pub enum SchemaError {
    #[error("{0}")]
    Invalid(String),
    #[error("the database does not exist; create it first")]
    DatabaseMissing,
    #[error("the container does not exist; create it first")]
    ContainerMissing,
    #[error("the container has no schema; orrery schema set gives it one")]
    NoSchema,
    #[error(transparent)]
    Store(#[from] Error),
}

impl From<InvalidSchema> for SchemaError {
    fn from(error: InvalidSchema) -> Self {
        Self::Invalid(error.to_string())
    }
}

fn refused(at: &str, why: impl AsRef<str>) -> SchemaError {
    InvalidSchema::new(at, why).into()
}

impl Validation {
    pub fn name(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Warn => "warn",
            Self::Enforce => "enforce",
        }
    }

    pub fn parse(name: &str) -> Option<Self> {
        [Self::Off, Self::Warn, Self::Enforce].into_iter().find(|known| known.name() == name)
    }
}

impl Definition {
    /// `{"validation": "enforce", "schema": {…}}`, or `"schemas": {"member": "kind", "of": {"a": {…}, "b": {…}}}`.
    /// Every schema is compiled, so that its errors are reported here.
    pub fn parse(body: &[u8]) -> Result<Self, SchemaError> {
        let definition = Self::read(body)?;
        Compiled::of(&definition.shape)?;
        Ok(definition)
    }

    fn read(body: &[u8]) -> Result<Self, SchemaError> {
        if body.len() > limits::SCHEMA_BYTES_MAX {
            let max = limits::SCHEMA_BYTES_MAX;
            return Err(SchemaError::Invalid(format!("schemas of a container take more than {max} bytes")));
        }
        let invalid = |why: String| SchemaError::Invalid(why);
        let body: Value = serde_json::from_slice(body)
            .map_err(|error| invalid(format!("the body is not JSON: {error}")))?;
        match body {
            Value::Object(body) => Self::of(body),
            _ => Err(invalid("the body is not a JSON object".to_owned())),
        }
    }

    /// A stored definition is not compiled again.
    pub(super) fn of(mut body: Map<String, Value>) -> Result<Self, SchemaError> {
        let validation = body.shift_remove("validation");
        let validation = validation.as_ref().and_then(Value::as_str).and_then(Validation::parse);
        let validation = validation
            .ok_or_else(|| refused("/validation", "say what violations come to: off, warn or enforce"))?;
        let shape = match (body.shift_remove("schema"), body.shift_remove("schemas")) {
            (Some(schema), None) => Shape::One(schema),
            (None, Some(schemas)) => several(schemas)?,
            _ => {
                let why = "give either schema, or schemas with member and of";
                return Err(SchemaError::Invalid(why.to_owned()));
            }
        };
        match body.keys().next() {
            Some(unknown) => Err(refused(
                &format!("/{}", escaped(unknown)),
                "is not known; there are validation, schema and schemas",
            )),
            None => Ok(Self { validation, shape }),
        }
    }

    pub fn validation(&self) -> Validation {
        self.validation
    }

    /// In the form that [`parse`](Self::parse) accepts.
    pub fn to_json(&self) -> Map<String, Value> {
        let mut shown = Map::new();
        shown.insert("validation".to_owned(), json!(self.validation.name()));
        match &self.shape {
            Shape::One(schema) => shown.insert("schema".to_owned(), schema.clone()),
            Shape::ByMember { member, of } => {
                shown.insert("schemas".to_owned(), json!({ "member": member, "of": of }))
            }
        };
        shown
    }
}

fn several(schemas: Value) -> Result<Shape, SchemaError> {
    let parts = match schemas {
        Value::Object(mut map) => (map.shift_remove("member"), map.shift_remove("of"), map.len()),
        _ => (None, None, 0),
    };
    let (Some(Value::String(member)), Some(Value::Object(of)), 0) = parts else {
        let why =
            "has two members: member, the name of a member of items, and of, a schema for each value of it";
        return Err(refused("/schemas", why));
    };
    if of.is_empty() || of.len() > limits::SCHEMAS_MAX {
        let max = limits::SCHEMAS_MAX;
        return Err(refused("/schemas/of", format!("has from 1 to {max} schemas")));
    }
    Ok(Shape::ByMember { member, of })
}

// The stored form of a container's schemas: JSON with a version, one row (`docs/formats/schemas.md`).

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

// Setting and removing the schemas of a container. Both run in the catalog's one scope, so they are
// serialized.
//
// They also change the row `Alive`, on which every write of an item depends. So once one of them is
// committed, no item is written that was checked against the previous schemas.

pub fn set(
    txn: &mut Txn<'_>,
    database: &str,
    container: &str,
    definition: &Definition,
) -> Result<(), SchemaError> {
    let container = found(txn, database, container)?;
    let row = write(definition);
    let schemas = Arc::new(Schemas::read(&row)?);
    txn.put(META, Row::Schema { container: container.number() }.key(), row);
    revive(txn, &container.with_schemas(Some(schemas)));
    Ok(())
}

pub fn remove(txn: &mut Txn<'_>, database: &str, container: &str) -> Result<(), SchemaError> {
    let container = found(txn, database, container)?;
    if container.schemas().is_none() {
        return Err(SchemaError::NoSchema);
    }
    txn.delete(META, Row::Schema { container: container.number() }.key());
    revive(txn, &container.with_schemas(None));
    Ok(())
}

/// The schemas of a container in this state.
pub(crate) fn stored(state: &dyn Read, container: u32) -> Result<Option<Arc<Schemas>>, Error> {
    let row = state.get(META, &Row::Schema { container }.key())?;
    row.map(|row| Schemas::read(&row).map(Arc::new)).transpose()
}

fn revive(txn: &mut Txn<'_>, container: &Container) {
    txn.put(META, container.alive_key().clone(), container.alive_value());
}

fn found(txn: &Txn<'_>, database: &str, container: &str) -> Result<Container, SchemaError> {
    load_container(txn, database, container).map_err(|error| match error {
        CatalogError::DatabaseMissing => SchemaError::DatabaseMissing,
        CatalogError::Store(error) => SchemaError::Store(error),
        _ => SchemaError::ContainerMissing,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(body: &str) -> String {
        Definition::parse(body.as_bytes()).unwrap_err().to_string()
    }

    #[test]
    fn a_definition_is_shown_as_it_was_given() {
        for body in [
            r#"{"validation":"enforce","schema":{"type":"object","required":["b","a"]}}"#,
            r#"{"validation":"off","schema":true}"#,
            r#"{"validation":"warn","schemas":{"member":"kind","of":{"z":{"type":"object"},"a":false}}}"#,
        ] {
            let definition = Definition::parse(body.as_bytes()).unwrap();
            assert_eq!(Value::Object(definition.to_json()).to_string(), body);
        }
    }

    #[test]
    fn errors_name_the_place() {
        for (body, expected) in [
            ("", "the body is not JSON"),
            ("[]", "the body is not a JSON object"),
            (r#"{"schema":{}}"#, "/validation: say what violations come to"),
            (r#"{"validation":"maybe","schema":{}}"#, "/validation: say what"),
            (r#"{"validation":"warn"}"#, "give either schema"),
            (r#"{"validation":"warn","schema":{},"schemas":{"member":"a","of":{"b":{}}}}"#, "give either"),
            (r#"{"validation":"warn","schema":{},"more/":1}"#, "/more~1: is not known"),
            (r#"{"validation":"warn","schemas":{"member":"a"}}"#, "/schemas: has two members"),
            (r#"{"validation":"warn","schemas":{"member":"a","of":{},"x":1}}"#, "/schemas: has two members"),
            (r#"{"validation":"warn","schemas":{"member":"a","of":{}}}"#, "/schemas/of: has from 1 to"),
            (r#"{"validation":"warn","schema":{"type":"strin"}}"#, "/schema/type: "),
            (r#"{"validation":"warn","schema":7}"#, "/schema: "),
            (
                r#"{"validation":"warn","schemas":{"member":"a","of":{"b":{"required":"id"}}}}"#,
                "/schemas/of/b/required: ",
            ),
            (
                r#"{"validation":"warn","schema":{"properties":{"a":{"pattern":"(x"}}}}"#,
                "/schema/properties/a/pattern: ",
            ),
            (r#"{"validation":"warn","schema":{"pattern":"(?=x)y"}}"#, "/schema/pattern: "),
            (r#"{"validation":"warn","schema":{"pattern":"(a{1000}){1000}"}}"#, "/schema/pattern: "),
        ] {
            let said = refusal(body);
            assert!(said.starts_with(expected), "{body}: {said}");
        }
        let long = format!(
            r#"{{"validation":"off","schema":{{"title":"{}"}}}}"#,
            "x".repeat(limits::SCHEMA_BYTES_MAX)
        );
        assert!(refusal(&long).contains("bytes"));
    }
}
