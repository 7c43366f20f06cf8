//! An example entity: its key, and properties in the types of the Entity Data Model.
//!
//! A property's type is said beside it as on the wire (`"At@odata.type": Edm.DateTime`), or by the table's columns;
//! otherwise it follows from the value. A text is accepted for any type, as Terraform has nothing else.

use super::{ANNOTATION, ExampleEntity};
use crate::node::{Data, Fault, Location, Member, Node, fault};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use orrery_tables::entity::TIMESTAMP;
use orrery_tables::{DateTime, EdmType, EntityBuilder, EntityKey, Guid, Value};

/// Checked against every limit of an entity.
pub(crate) fn entity(
    at: Location,
    partition_key: &Node,
    row_key: &Node,
    members: &[Member],
    columns: &[(String, EdmType)],
) -> Result<ExampleEntity, Fault> {
    let partition_key = key_text(partition_key, "'PartitionKey'")?;
    let row_key = key_text(row_key, "'RowKey'")?;
    let mut properties = Vec::new();
    for member in members {
        if let Some(annotated) = member.name.strip_suffix(ANNOTATION) {
            if !members.iter().any(|known| known.name == annotated) {
                return fault(member.at, format!("there is a type of '{annotated}', and no value"));
            }
            continue;
        }
        if member.name == TIMESTAMP {
            return fault(member.at, "the Timestamp of an entity is the server's; leave it out");
        }
        // As on the wire, where null is no value.
        if member.value.data == Data::Null {
            continue;
        }
        let wanted = annotation(&member.name, members)?.or_else(|| column(&member.name, columns));
        properties.push((member.name.clone(), value(&member.name, &member.value, wanted)?));
    }
    let made = ExampleEntity { partition_key, row_key, properties };
    check(&made).map_err(|reason| Fault { at, reason: format!("the entity cannot be made: {reason}") })?;
    Ok(made)
}

fn key_text(node: &Node, what: &str) -> Result<String, Fault> {
    match &node.data {
        Data::Number(_) | Data::Bool(_) => {
            fault(node.at, format!("{what} must be text; put it between quotes"))
        }
        _ => Ok(node.expect_text(what)?.to_owned()),
    }
}

fn annotation(name: &str, members: &[Member]) -> Result<Option<EdmType>, Fault> {
    let of_name = |member: &&Member| member.name.strip_suffix(ANNOTATION) == Some(name);
    members.iter().find(of_name).map(|member| edm_type(&member.value)).transpose()
}

fn column(name: &str, columns: &[(String, EdmType)]) -> Option<EdmType> {
    columns.iter().find(|(known, _)| known == name).map(|(_, edm_type)| *edm_type)
}

/// `Edm.Int64`, or `Int64`.
pub(super) fn edm_type(node: &Node) -> Result<EdmType, Fault> {
    let text = node.expect_text("the type of a property")?;
    let found = EdmType::ALL.into_iter().find(|known| bare(*known) == text || known.name() == text);
    found.ok_or_else(|| {
        let names = EdmType::ALL.map(bare).join(", ");
        Fault { at: node.at, reason: format!("'{text}' is no type of a property; there are {names}") }
    })
}

fn bare(edm_type: EdmType) -> &'static str {
    edm_type.name().trim_start_matches("Edm.")
}

fn value(name: &str, node: &Node, wanted: Option<EdmType>) -> Result<Value, Fault> {
    let wanted = match wanted {
        Some(wanted) => wanted,
        None => implied(name, node)?,
    };
    let found = match (wanted, &node.data) {
        (EdmType::String, Data::Text(text)) => Some(Value::String(text.clone())),
        (EdmType::Boolean, _) => node.expect_bool("").ok().map(Value::Boolean),
        (EdmType::Int32, _) => integer(node).and_then(|whole| i32::try_from(whole).ok()).map(Value::Int32),
        (EdmType::Int64, _) => integer(node).map(Value::Int64),
        (EdmType::Double, Data::Number(number)) => number.as_f64().map(Value::Double),
        (EdmType::Double, Data::Text(text)) => text.parse().ok().map(Value::Double),
        (EdmType::DateTime, Data::Text(text)) => DateTime::parse(text).map(Value::DateTime),
        (EdmType::Guid, Data::Text(text)) => Guid::parse(text).map(Value::Guid),
        (EdmType::Binary, Data::Text(text)) => {
            STANDARD.decode(text).ok().map(|bytes| Value::Binary(Bytes::from(bytes)))
        }
        _ => None,
    };
    found.ok_or_else(|| {
        let like = match wanted {
            EdmType::String => "text (put it between quotes)",
            EdmType::Boolean => "true or false",
            EdmType::Int32 => "a whole number of 32 bits",
            EdmType::Int64 => "a whole number of 64 bits",
            EdmType::Double => "a number",
            EdmType::DateTime => "like 2024-01-15T10:30:00Z",
            EdmType::Guid => "like c9da6455-213d-42c9-9a79-3e9149a57833",
            EdmType::Binary => "Base64",
        };
        Fault { at: node.at, reason: format!("'{name}' is of type {}, which is {like}", wanted.name()) }
    })
}

fn integer(node: &Node) -> Option<i64> {
    node.expect_integer("").ok()
}

fn implied(name: &str, node: &Node) -> Result<EdmType, Fault> {
    match &node.data {
        Data::Text(_) => Ok(EdmType::String),
        Data::Bool(_) => Ok(EdmType::Boolean),
        Data::Number(number) if number.is_f64() => Ok(EdmType::Double),
        Data::Number(number) if number.as_i64().is_some_and(|whole| i32::try_from(whole).is_ok()) => {
            Ok(EdmType::Int32)
        }
        Data::Number(_) => fault(
            node.at,
            format!("'{name}' is no number of 32 bits; say its type: '{name}{ANNOTATION}': Edm.Int64"),
        ),
        Data::Null | Data::List(_) | Data::Map(_) => {
            fault(node.at, format!("'{name}' must be one value: text, a number, or true or false"))
        }
    }
}

/// As an insert would.
fn check(entity: &ExampleEntity) -> Result<(), String> {
    let sentence = |error: &dyn std::fmt::Display| error.to_string().trim_end_matches('.').to_owned();
    let key = EntityKey::parse(&entity.partition_key, &entity.row_key).map_err(|error| sentence(&error))?;
    let mut builder = EntityBuilder::new();
    for (name, value) in &entity.properties {
        builder.push(name, value.as_ref()).map_err(|error| sentence(&error))?;
    }
    builder.finish(key).map(drop).map_err(|error| sentence(&error))
}
