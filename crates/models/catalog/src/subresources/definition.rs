//! The body of a create or a replace, checked: the members that a kind has, in one order, and nothing else.
//!
//! Words such as `read` and `Pre` are taken in any case and given back as they came, as the service does.

use super::{Kind, Permission, Trigger};
use crate::definition::DefinitionError;
use orrery_core::{ChildName, limits};
use serde_json::{Map, Value};

#[derive(Clone, Debug, PartialEq)]
pub struct Definition {
    name: ChildName,
    /// Without `id`.
    members: Map<String, Value>,
}

impl Definition {
    pub fn parse(kind: Kind, mut body: Map<String, Value>) -> Result<Self, DefinitionError> {
        let name = match body.get("id") {
            Some(Value::String(id)) => ChildName::parse(id)?,
            _ => return Err(missing("id")),
        };
        let mut members = Map::new();
        for member in names(kind) {
            match body.remove(*member) {
                None | Some(Value::Null) => {}
                Some(value) => drop(members.insert((*member).to_owned(), value)),
            }
        }
        check(kind, &members)?;
        Ok(Self { name, members })
    }

    pub fn name(&self) -> &ChildName {
        &self.name
    }

    pub fn members(&self) -> &Map<String, Value> {
        &self.members
    }
}

fn names(kind: Kind) -> &'static [&'static str] {
    match kind {
        Kind::User => &[],
        Kind::Permission => &["permissionMode", "resource", "resourcePartitionKey"],
        Kind::StoredProcedure | Kind::UserDefinedFunction => &["body"],
        Kind::Trigger => &["body", "triggerType", "triggerOperation"],
        Kind::ClientEncryptionKey => &["encryptionAlgorithm", "keyWrapMetadata", "wrappedDataEncryptionKey"],
    }
}

fn check(kind: Kind, members: &Map<String, Value>) -> Result<(), DefinitionError> {
    match kind {
        Kind::User => Ok(()),
        Kind::Permission => {
            at_most(kind, members, limits::PERMISSION_BYTES_MAX)?;
            Permission::parse(members).map(drop)
        }
        Kind::StoredProcedure | Kind::UserDefinedFunction => check_script(members),
        Kind::Trigger => {
            check_script(members)?;
            Trigger::parse(members).map(drop)
        }
        Kind::ClientEncryptionKey => {
            at_most(kind, members, limits::CLIENT_KEY_BYTES_MAX)?;
            check_client_key(members)
        }
    }
}

fn check_script(members: &Map<String, Value>) -> Result<(), DefinitionError> {
    let body = text(members, "body")?;
    let max = limits::SCRIPT_BYTES_MAX;
    if body.len() > max {
        return Err(invalid(format!("The script has {} bytes; the longest is {max}.", body.len())));
    }
    Ok(())
}

fn check_client_key(members: &Map<String, Value>) -> Result<(), DefinitionError> {
    text(members, "encryptionAlgorithm")?;
    text(members, "wrappedDataEncryptionKey")?;
    let Some(Value::Object(metadata)) = members.get("keyWrapMetadata") else {
        return Err(missing("keyWrapMetadata"));
    };
    for member in ["type", "name", "value", "algorithm"] {
        text(metadata, member)?;
    }
    Ok(())
}

fn at_most(kind: Kind, members: &Map<String, Value>, max: usize) -> Result<(), DefinitionError> {
    let bytes: usize = members.values().map(|value| value.to_string().len()).sum();
    if bytes > max {
        return Err(invalid(format!("The {} has {bytes} bytes; the largest has {max}.", kind.noun())));
    }
    Ok(())
}

/// A member that must be there and be text.
pub(super) fn text<'a>(members: &'a Map<String, Value>, name: &str) -> Result<&'a str, DefinitionError> {
    match members.get(name) {
        Some(Value::String(text)) if !text.is_empty() => Ok(text),
        Some(Value::String(_)) | None => Err(missing(name)),
        Some(_) => Err(invalid(format!("The member '{name}' must be a string."))),
    }
}

/// One of some words, in any case.
pub(super) fn word<T: Copy>(
    members: &Map<String, Value>,
    name: &str,
    words: &[(&str, T)],
) -> Result<T, DefinitionError> {
    let given = text(members, name)?;
    let found = words.iter().find(|(word, _)| word.eq_ignore_ascii_case(given)).map(|(_, value)| *value);
    found.ok_or_else(|| {
        let known: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
        invalid(format!("The member '{name}' is '{given}'; it must be one of {}.", known.join(", ")))
    })
}

pub(super) fn invalid(message: impl Into<String>) -> DefinitionError {
    DefinitionError::Invalid(message.into())
}

fn missing(name: &str) -> DefinitionError {
    invalid(format!(
        "The input content is invalid because the required properties - '{name}; ' - are missing"
    ))
}
