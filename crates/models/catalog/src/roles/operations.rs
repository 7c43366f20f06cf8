//! Role changes. All run in the catalog's one scope, so they are serialized.

use super::{Assignment, Definition, Roles, Scope};
use crate::limits;
use crate::row::Row;
use bytes::Bytes;
use orrery_kv::{Error, META, Txn};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

#[derive(Debug, thiserror::Error)]
pub enum RoleError {
    #[error("{0}")]
    Invalid(String),
    #[error("there is no role '{0}'; orrery role ls shows those there are")]
    NoDefinition(String),
    #[error("there is no assignment '{0}'; orrery role ls shows those there are")]
    NoAssignment(String),
    #[error("the role '{0}' is built in and stays as it is")]
    BuiltIn(String),
    #[error("the role '{0}' is assigned; remove its assignments first")]
    Assigned(String),
    #[error("there are {0} already, which is as many as there may be; remove one first")]
    TooMany(usize),
    #[error(transparent)]
    Store(#[from] Error),
}

/// Defines a role, or changes the one with this id.
pub fn define(txn: &mut Txn<'_>, role: &Definition) -> Result<(), RoleError> {
    let roles = Roles::load(txn)?;
    let known = roles.definitions().find(|known| known.id == role.id);
    if known.is_some_and(Definition::is_built_in) {
        return Err(RoleError::BuiltIn(role.id.clone()));
    }
    let own = roles.definitions().filter(|role| !role.is_built_in()).count();
    if known.is_none() && own >= limits::ROLE_DEFINITIONS_MAX {
        return Err(RoleError::TooMany(own));
    }
    txn.put(META, Row::RoleDefinition { id: &role.id }.key(), write_definition(role));
    Ok(())
}

/// Assigns a role, named as [`Roles::definition`] accepts it; returns the assignment.
pub fn assign(txn: &mut Txn<'_>, given: &Assignment) -> Result<Assignment, RoleError> {
    let roles = Roles::load(txn)?;
    let role = roles.definition(&given.role).ok_or_else(|| RoleError::NoDefinition(given.role.clone()))?;
    let given = Assignment { role: role.id.clone(), ..given.clone() };
    let is_new = roles.assignments().all(|known| known.id != given.id);
    let count = roles.assignments().count();
    if is_new && count >= limits::ROLE_ASSIGNMENTS_MAX {
        return Err(RoleError::TooMany(count));
    }
    txn.put(META, Row::RoleAssignment { id: &given.id }.key(), write_assignment(&given));
    Ok(given)
}

pub fn remove_definition(txn: &mut Txn<'_>, named: &str) -> Result<(), RoleError> {
    let roles = Roles::load(txn)?;
    let role = roles.definition(named).ok_or_else(|| RoleError::NoDefinition(named.to_owned()))?;
    if role.is_built_in {
        return Err(RoleError::BuiltIn(role.id.clone()));
    }
    if roles.assignments().any(|given| given.role == role.id) {
        return Err(RoleError::Assigned(role.id.clone()));
    }
    txn.delete(META, Row::RoleDefinition { id: &role.id }.key());
    Ok(())
}

pub fn remove_assignment(txn: &mut Txn<'_>, id: &str) -> Result<(), RoleError> {
    let roles = Roles::load(txn)?;
    let given = roles.assignments().find(|given| given.id.eq_ignore_ascii_case(id));
    let given = given.ok_or_else(|| RoleError::NoAssignment(id.to_owned()))?;
    txn.delete(META, Row::RoleAssignment { id: &given.id }.key());
    Ok(())
}

// The stored form of roles: JSON with a version, one row each (`docs/formats/roles.md`).

const VERSION: u32 = 1;

#[derive(Serialize, Deserialize)]
struct DefinitionRecord {
    v: u32,
    id: String,
    name: String,
    data_actions: Vec<String>,
}

#[derive(Serialize, Deserialize)]
struct AssignmentRecord {
    v: u32,
    id: String,
    principal: String,
    role: String,
    scope: String,
}

pub(super) fn write_definition(role: &Definition) -> Bytes {
    write(&DefinitionRecord {
        v: VERSION,
        id: role.id.clone(),
        name: role.name.clone(),
        data_actions: role.data_actions.clone(),
    })
}

pub(super) fn read_definition(bytes: &[u8]) -> Result<Definition, Error> {
    let record: DefinitionRecord = read(bytes)?;
    check(record.v)?;
    Ok(Definition { id: record.id, name: record.name, data_actions: record.data_actions, is_built_in: false })
}

pub(super) fn write_assignment(given: &Assignment) -> Bytes {
    write(&AssignmentRecord {
        v: VERSION,
        id: given.id.clone(),
        principal: given.principal.clone(),
        role: given.role.clone(),
        scope: given.scope.to_string(),
    })
}

pub(super) fn read_assignment(bytes: &[u8]) -> Result<Assignment, Error> {
    let record: AssignmentRecord = read(bytes)?;
    check(record.v)?;
    let scope = Scope::parse(&record.scope).ok_or_else(|| damaged("its scope is none"))?;
    Ok(Assignment { id: record.id, principal: record.principal, role: record.role, scope })
}

fn write(record: &impl Serialize) -> Bytes {
    Bytes::from(serde_json::to_vec(record).expect("a record of texts has a JSON form"))
}

fn read<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Error> {
    serde_json::from_slice(bytes).map_err(|error| damaged(&error.to_string()))
}

fn check(version: u32) -> Result<(), Error> {
    if version == VERSION { Ok(()) } else { Err(damaged(&format!("it has version {version}"))) }
}

fn damaged(why: &str) -> Error {
    Error::Corrupt(format!("the record of a role: {why}"))
}
