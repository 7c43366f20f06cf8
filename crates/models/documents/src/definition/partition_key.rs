//! The partition key of a container: which properties, hashed how.
//!
//! Clients hash keys themselves, so answers always say `kind` and `version`; a client that finds none assumes
//! version 1. What a body leaves out is `Hash`, version 2 (wire guide §9).

use super::SYSTEM_PROPERTIES;
use super::error::{DefinitionError, Parsed, invalid};
use super::members::{Members, spelled};
use super::path::PropertyPath;
use orrery_core::limits;
use serde_json::{Map, Value, json};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartitionKeyDefinition {
    paths: Vec<PropertyPath>,
    kind: PartitionKind,
    system_key: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartitionKind {
    HashV1,
    HashV2,
    /// Hierarchical: one hash per path.
    MultiHash,
}

impl PartitionKeyDefinition {
    /// One path, or up to three for `MultiHash`; all different.
    pub fn paths(&self) -> &[PropertyPath] {
        &self.paths
    }

    pub fn kind(&self) -> PartitionKind {
        self.kind
    }

    /// Whether the container was migrated from one without a partition key.
    pub fn system_key(&self) -> bool {
        self.system_key
    }
}

pub(super) fn parse(raw: Value) -> Parsed<PartitionKeyDefinition> {
    let mut members = Members::of("partitionKey", raw)?;
    let texts = members.list("paths")?;
    let (kind, kind_name, version) = kind(&mut members)?;
    let paths = texts.iter().map(path).collect::<Result<Vec<_>, _>>()?;
    check_count(kind, paths.len())?;
    check_different(&paths)?;
    let system_key = members.boolean("systemKey")?;
    let mut shown = Map::new();
    shown.insert("paths".to_owned(), Value::Array(texts));
    shown.insert("kind".to_owned(), json!(kind_name));
    shown.insert("version".to_owned(), json!(version));
    shown.extend(system_key.map(|value| ("systemKey".to_owned(), json!(value))));
    let definition = PartitionKeyDefinition { paths, kind, system_key: system_key.unwrap_or(false) };
    Ok((definition, members.followed_by_rest(shown)))
}

fn kind(members: &mut Members) -> Result<(PartitionKind, &'static str, i64), DefinitionError> {
    let named = members.string("kind")?.unwrap_or_else(|| "Hash".to_owned());
    let version = members.integer("version")?.unwrap_or(2);
    let Some((name, multiple)) = spelled(&named, &[("Hash", false), ("MultiHash", true)]) else {
        return Err(invalid(format!(
            "The 'kind' value '{named}' specified in the partition key definition is invalid. Please \
             choose 'Hash' or 'MultiHash'."
        )));
    };
    match (multiple, version) {
        (false, 1) => Ok((PartitionKind::HashV1, name, version)),
        (false, 2) => Ok((PartitionKind::HashV2, name, version)),
        (true, 2) => Ok((PartitionKind::MultiHash, name, version)),
        _ => Err(invalid(format!(
            "The partition key version '{version}' is invalid for kind '{name}'. Hash has versions 1 and 2, \
             MultiHash only 2."
        ))),
    }
}

fn path(raw: &Value) -> Result<PropertyPath, DefinitionError> {
    let text = raw.as_str().ok_or_else(|| invalid("The paths of the partitionKey must be strings."))?;
    let path = PropertyPath::parse(text).map_err(|error| {
        invalid(format!(
            "The partition key component definition {error}. Partition key paths must contain only valid \
             characters and not contain a trailing slash or wildcard character."
        ))
    })?;
    if SYSTEM_PROPERTIES.contains(&path.segments()[0].as_str()) {
        return Err(invalid(format!(
            "The partition key path '{text}' is a system property. Choose a property of your items."
        )));
    }
    Ok(path)
}

fn check_count(kind: PartitionKind, count: usize) -> Result<(), DefinitionError> {
    let count_max = match kind {
        PartitionKind::HashV1 | PartitionKind::HashV2 => 1,
        PartitionKind::MultiHash => limits::PARTITION_KEY_PATHS_MAX,
    };
    if (1..=count_max).contains(&count) {
        return Ok(());
    }
    Err(invalid(format!(
        "The partition key definition has {count} paths. Kind 'Hash' takes exactly 1, kind 'MultiHash' 1 \
         to {}.",
        limits::PARTITION_KEY_PATHS_MAX
    )))
}

fn check_different(paths: &[PropertyPath]) -> Result<(), DefinitionError> {
    let repeated = paths.iter().enumerate().find(|(at, path)| paths[..*at].contains(path));
    match repeated {
        None => Ok(()),
        Some((_, path)) => Err(invalid(format!("The partition key path '{path}' is there twice."))),
    }
}
