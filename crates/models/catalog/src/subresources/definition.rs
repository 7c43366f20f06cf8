//! Validates the body of a create or replace: the members of its kind, in one order, and nothing else.
//!
//! Words such as `read` and `Pre` are case-insensitive and shown as sent, as by the service.

use super::Subresource;
use crate::definition::DefinitionError;
use crate::limits;
use orrery_core::ChildName;
use orrery_core::limits::PARTITION_KEY_PATHS_MAX;
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

/// A required string member.
pub(super) fn text<'a>(members: &'a Map<String, Value>, name: &str) -> Result<&'a str, DefinitionError> {
    match members.get(name) {
        Some(Value::String(text)) if !text.is_empty() => Ok(text),
        Some(Value::String(_)) | None => Err(missing(name)),
        Some(_) => Err(invalid(format!("The member '{name}' must be a string."))),
    }
}

/// One of several words, ignoring case.
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

// The kinds of subresources, and their names in the protocol.

/// The numbers are part of stored keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    User = 1,
    Permission = 2,
    StoredProcedure = 3,
    Trigger = 4,
    UserDefinedFunction = 5,
    ClientEncryptionKey = 6,
}

impl Kind {
    pub const ALL: [Self; 6] = [
        Self::User,
        Self::Permission,
        Self::StoredProcedure,
        Self::Trigger,
        Self::UserDefinedFunction,
        Self::ClientEncryptionKey,
    ];
    /// The kinds that a container owns.
    pub const SCRIPTS: [Self; 3] = [Self::StoredProcedure, Self::Trigger, Self::UserDefinedFunction];

    /// The path segment.
    pub fn segment(self) -> &'static str {
        match self {
            Self::User => "users",
            Self::Permission => "permissions",
            Self::StoredProcedure => "sprocs",
            Self::Trigger => "triggers",
            Self::UserDefinedFunction => "udfs",
            Self::ClientEncryptionKey => "clientencryptionkeys",
        }
    }

    /// The member of a feed that contains them.
    pub fn feed(self) -> &'static str {
        match self {
            Self::User => "Users",
            Self::Permission => "Permissions",
            Self::StoredProcedure => "StoredProcedures",
            Self::Trigger => "Triggers",
            Self::UserDefinedFunction => "UserDefinedFunctions",
            Self::ClientEncryptionKey => "ClientEncryptionKeys",
        }
    }

    /// The singular for use in a sentence.
    pub fn noun(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Permission => "permission",
            Self::StoredProcedure => "stored procedure",
            Self::Trigger => "trigger",
            Self::UserDefinedFunction => "user-defined function",
            Self::ClientEncryptionKey => "client encryption key",
        }
    }

    /// The limit per owner.
    pub fn count_max(self) -> u64 {
        match self {
            Self::User => limits::USERS_MAX,
            Self::Permission => limits::PERMISSIONS_MAX,
            Self::StoredProcedure => limits::STORED_PROCEDURES_MAX,
            Self::Trigger => limits::TRIGGERS_MAX,
            Self::UserDefinedFunction => limits::USER_DEFINED_FUNCTIONS_MAX,
            Self::ClientEncryptionKey => limits::CLIENT_KEYS_MAX,
        }
    }

    pub(crate) fn number(self) -> u8 {
        self as u8
    }
}

// Permissions, typed: what a user may do, and to which resource.

#[derive(Clone, Debug, PartialEq)]
pub struct Permission {
    pub mode: Mode,
    pub resource: ResourceLink,
    /// The values of one logical partition, as a JSON array; `None` means the whole resource.
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
    /// The segment and name within the container; `None` for the whole container.
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

    /// `None` for a subresource of another kind.
    pub fn of(subresource: &Subresource) -> Option<Self> {
        Some(subresource)
            .filter(|subresource| subresource.kind == Kind::Permission)
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
            if !parts.is_empty() && parts.len() <= PARTITION_KEY_PATHS_MAX && parts.iter().all(is_value) =>
        {
            Ok(parts.clone())
        }
        _ => Err(invalid(
            "The member 'resourcePartitionKey' must be an array of the partition key's values, such as [\"a\"].",
        )),
    }
}

// A trigger, typed: when it runs, and for which operations.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trigger {
    pub time: TriggerTime,
    pub operation: TriggerOperation,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TriggerTime {
    Pre,
    Post,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TriggerOperation {
    All,
    Create,
    Update,
    Delete,
    Replace,
    Upsert,
}

const TIMES: [(&str, TriggerTime); 2] = [("Pre", TriggerTime::Pre), ("Post", TriggerTime::Post)];
const OPERATIONS: [(&str, TriggerOperation); 6] = [
    ("All", TriggerOperation::All),
    ("Create", TriggerOperation::Create),
    ("Update", TriggerOperation::Update),
    ("Delete", TriggerOperation::Delete),
    ("Replace", TriggerOperation::Replace),
    ("Upsert", TriggerOperation::Upsert),
];

impl Trigger {
    pub(super) fn parse(members: &Map<String, Value>) -> Result<Self, DefinitionError> {
        let time = word(members, "triggerType", &TIMES)?;
        Ok(Self { time, operation: word(members, "triggerOperation", &OPERATIONS)? })
    }

    /// `None` for a subresource of another kind.
    pub fn of(subresource: &Subresource) -> Option<Self> {
        Some(subresource)
            .filter(|subresource| subresource.kind == Kind::Trigger)
            .and_then(|it| Self::parse(&it.members).ok())
    }
}
