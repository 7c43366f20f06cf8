//! A permission, typed: what it lets a user do, and to what.

use super::definition::{invalid, text, word};
use super::{Kind, Subresource};
use crate::definition::DefinitionError;
use orrery_core::limits;
use serde_json::{Map, Value};

#[derive(Clone, Debug, PartialEq)]
pub struct Permission {
    pub mode: Mode,
    pub resource: ResourceLink,
    /// The values of one logical partition, as a JSON array; `None` is all of the resource.
    pub partition_key: Option<Vec<Value>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    Read,
    All,
}

/// `dbs/<d>/colls/<c>`, or a resource in that container; by names or by resource ids.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResourceLink {
    pub database: String,
    pub container: String,
    /// The segment and name of what is meant in the container, if it is not all of it.
    pub inside: Option<(String, String)>,
}

const MODES: [(&str, Mode); 2] = [("Read", Mode::Read), ("All", Mode::All)];
const INSIDE: [&str; 5] = ["docs", "sprocs", "triggers", "udfs", "conflicts"];

impl Permission {
    pub(super) fn parse(members: &Map<String, Value>) -> Result<Self, DefinitionError> {
        let mode = word(members, "permissionMode", &MODES)?;
        let resource = ResourceLink::parse(text(members, "resource")?)?;
        let partition_key = members.get("resourcePartitionKey").map(partition_key).transpose()?;
        Ok(Self { mode, resource, partition_key })
    }

    /// `None` for a child of another kind.
    pub fn of(child: &Subresource) -> Option<Self> {
        Some(child)
            .filter(|child| child.kind == Kind::Permission)
            .and_then(|it| Self::parse(&it.members).ok())
    }
}

impl ResourceLink {
    pub fn parse(link: &str) -> Result<Self, DefinitionError> {
        let segments: Vec<&str> = link.trim_matches('/').split('/').collect();
        let (database, container, inside) = match segments[..] {
            ["dbs", database, "colls", container] => (database, container, None),
            ["dbs", database, "colls", container, kind, name] if INSIDE.contains(&kind) => {
                (database, container, Some((kind.to_owned(), name.to_owned())))
            }
            _ => {
                return Err(invalid(format!(
                    "The resource '{link}' is not a container or something in one; write it like dbs/D/colls/C or dbs/D/colls/C/docs/I."
                )));
            }
        };
        Ok(Self { database: database.to_owned(), container: container.to_owned(), inside })
    }
}

fn partition_key(value: &Value) -> Result<Vec<Value>, DefinitionError> {
    let is_value = |part: &Value| match part {
        Value::Object(members) => members.is_empty(),
        Value::Array(_) => false,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => true,
    };
    match value {
        Value::Array(parts)
            if !parts.is_empty()
                && parts.len() <= limits::PARTITION_KEY_PATHS_MAX
                && parts.iter().all(is_value) =>
        {
            Ok(parts.clone())
        }
        _ => Err(invalid(
            "The member 'resourcePartitionKey' must be an array of the partition key's values, such as [\"a\"].",
        )),
    }
}
