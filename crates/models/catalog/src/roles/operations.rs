//! Changing roles. All of these run in the catalog's one scope, so each sees the last.

use super::{Assignment, Definition, Roles, record};
use crate::row::Row;
use orrery_core::limits;
use orrery_kv::{Error, META, Txn};

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

/// Defines a role, or changes the one that has this id.
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
    txn.put(META, Row::RoleDefinition { id: &role.id }.key(), record::write_definition(role));
    Ok(())
}

/// Gives a role, which may be named as [`Roles::definition`] takes it; what was given is told.
pub fn assign(txn: &mut Txn<'_>, given: &Assignment) -> Result<Assignment, RoleError> {
    let roles = Roles::load(txn)?;
    let role = roles.definition(&given.role).ok_or_else(|| RoleError::NoDefinition(given.role.clone()))?;
    let given = Assignment { role: role.id.clone(), ..given.clone() };
    let is_new = roles.assignments().all(|known| known.id != given.id);
    let count = roles.assignments().count();
    if is_new && count >= limits::ROLE_ASSIGNMENTS_MAX {
        return Err(RoleError::TooMany(count));
    }
    txn.put(META, Row::RoleAssignment { id: &given.id }.key(), record::write_assignment(&given));
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
