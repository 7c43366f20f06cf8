//! How roles are stored: JSON with a version, one row each (`docs/formats/roles.md`).

use super::{Assignment, Definition, Scope};
use bytes::Bytes;
use orrery_kv::Error;
use serde::{Deserialize, Serialize, de::DeserializeOwned};

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
