//! The partition key of a container: its paths and how they are hashed.
//!
//! Clients hash keys themselves and read an absent version as 1, so a body without one means version 1 and is
//! shown without it, as by the service (ADR 30). `MultiHash` has only version 2, which is always shown.

use super::SYSTEM_PROPERTIES;
use super::members::{DefinitionError, Parsed, invalid};
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

/// The partition key of a container created without one: all its items are in the logical partition of a
/// missing value.
const SYSTEM_KEY_PATH: &str = "/_partitionKey";

/// The kinds, and whether each hashes every path separately. `Range` dates from the service's first years: it
/// is accepted and shown, and its items are placed as for `Hash`.
const KINDS: [(&str, bool); 3] = [("Hash", false), ("MultiHash", true), ("Range", false)];

impl PartitionKeyDefinition {
    /// The JSON of a container without a partition key, as later clients see it.
    pub fn system() -> Value {
        json!({"paths": [SYSTEM_KEY_PATH], "kind": "Hash", "systemKey": true})
    }

    /// One path, or up to three for `MultiHash`; all distinct.
    pub fn paths(&self) -> &[PropertyPath] {
        &self.paths
    }

    pub fn kind(&self) -> PartitionKind {
        self.kind
    }

    /// Whether the container was created without a partition key.
    pub fn system_key(&self) -> bool {
        self.system_key
    }
}

pub(super) fn parse(raw: Value) -> Parsed<PartitionKeyDefinition> {
    let mut members = Members::of("partitionKey", raw)?;
    let texts = members.list("paths")?;
    let Hashed { kind, name, version } = hashed(&mut members)?;
    let paths = texts.iter().map(path).collect::<Result<Vec<_>, _>>()?;
    check_count(kind, paths.len())?;
    check_different(&paths)?;
    let system_key = members.boolean("systemKey")?;
    let mut shown = Map::new();
    shown.insert("paths".to_owned(), Value::Array(texts));
    shown.insert("kind".to_owned(), json!(name));
    shown.extend(version.map(|version| ("version".to_owned(), json!(version))));
    shown.extend(system_key.map(|value| ("systemKey".to_owned(), json!(value))));
    let definition = PartitionKeyDefinition { paths, kind, system_key: system_key.unwrap_or(false) };
    Ok((definition, members.followed_by_rest(shown)))
}

/// The hash version, and whether it is shown.
struct Hashed {
    kind: PartitionKind,
    name: &'static str,
    version: Option<i64>,
}

fn hashed(members: &mut Members) -> Result<Hashed, DefinitionError> {
    let named = members.string("kind")?.unwrap_or_else(|| "Hash".to_owned());
    let Some((name, is_multiple)) = spelled(&named, &KINDS) else {
        return Err(invalid(format!(
            "The 'kind' value '{named}' specified in the partition key definition is invalid. Please \
             choose 'Hash' or 'MultiHash'."
        )));
    };
    let version = members.integer("version")?.or(is_multiple.then_some(2));
    let kind = match (is_multiple, version) {
        (false, None | Some(1)) => PartitionKind::HashV1,
        (false, Some(2)) => PartitionKind::HashV2,
        (true, Some(2)) => PartitionKind::MultiHash,
        (_, version) => {
            let version = version.unwrap_or_default();
            return Err(invalid(format!(
                "The partition key version '{version}' is invalid for kind '{name}'. Hash has versions 1 and \
                 2, MultiHash only 2."
            )));
        }
    };
    Ok(Hashed { kind, name, version })
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
    match count {
        0 => Err(invalid("The partition key definition has no paths. Give at least one, such as /id.")),
        count if count > count_max => Err(invalid(format!(
            "Too many partition key paths ({count}) specified. A maximum of {count_max} is allowed. Kind 'Hash' \
             takes exactly 1, kind 'MultiHash' 1 to {}.",
            limits::PARTITION_KEY_PATHS_MAX
        ))),
        _ => Ok(()),
    }
}

fn check_different(paths: &[PropertyPath]) -> Result<(), DefinitionError> {
    let repeated = paths.iter().enumerate().find(|(at, path)| paths[..*at].contains(path));
    match repeated {
        None => Ok(()),
        Some((_, path)) => Err(invalid(format!("The partition key path '{path}' is there twice."))),
    }
}
