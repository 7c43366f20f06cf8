//! A role given to somebody over something.

use super::{RoleError, Scope};
use orrery_core::limits;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assignment {
    pub(super) id: String,
    pub(super) principal: String,
    /// The id of the definition.
    pub(super) role: String,
    pub(super) scope: Scope,
}

impl Assignment {
    pub fn new(id: &str, principal: &str, role: &str, scope: Scope) -> Result<Self, RoleError> {
        let is_short = |text: &str| !text.is_empty() && text.chars().count() <= limits::ROLE_TEXT_CHARS_MAX;
        if ![id, principal, role].into_iter().all(is_short) || id.contains('/') {
            return Err(RoleError::Invalid(
                "an assignment has an id, a principal and a role, none of them long".to_owned(),
            ));
        }
        let (id, role) = (id.to_ascii_lowercase(), role.to_ascii_lowercase());
        Ok(Self { id, principal: principal.to_owned(), role, scope })
    }

    pub fn id(&self) -> &str {
        &self.id
    }

    pub fn principal(&self) -> &str {
        &self.principal
    }

    pub fn role(&self) -> &str {
        &self.role
    }

    pub fn scope(&self) -> &Scope {
        &self.scope
    }
}
