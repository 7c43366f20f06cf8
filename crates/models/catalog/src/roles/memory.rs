//! All roles in memory, for every request with a bearer token. Their number is bounded.

use super::{Action, Assignment, Definition, Scope, operations};
use crate::row;
use orrery_kv::{Error, META, Order, Read};
use std::collections::BTreeMap;

#[derive(Clone, Debug)]
pub struct Roles {
    definitions: BTreeMap<String, Definition>,
    assignments: BTreeMap<String, Assignment>,
}

impl Roles {
    pub fn load(state: &dyn Read) -> Result<Self, Error> {
        let built_in = Definition::built_in().into_iter().map(|role| (role.id.clone(), role));
        let mut roles = Self { definitions: built_in.collect(), assignments: BTreeMap::new() };
        for row in state.range(META, &row::role_definitions(), Order::Ascending) {
            let role = operations::read_definition(&row?.1)?;
            roles.definitions.insert(role.id.clone(), role);
        }
        for row in state.range(META, &row::role_assignments(), Order::Ascending) {
            let assignment = operations::read_assignment(&row?.1)?;
            roles.assignments.insert(assignment.id.clone(), assignment);
        }
        Ok(roles)
    }

    pub fn definitions(&self) -> impl Iterator<Item = &Definition> {
        self.definitions.values()
    }

    pub fn assignments(&self) -> impl Iterator<Item = &Assignment> {
        self.assignments.values()
    }

    /// By id, by the short names of the built-in roles, or by name if it is unique.
    pub fn definition(&self, named: &str) -> Option<&Definition> {
        let id = match named.to_ascii_lowercase().as_str() {
            "reader" => super::READER.to_owned(),
            "contributor" => super::CONTRIBUTOR.to_owned(),
            other => other.to_owned(),
        };
        let by_name = || {
            let mut found = self.definitions.values().filter(|role| role.name.eq_ignore_ascii_case(named));
            found.next().filter(|_| found.next().is_none())
        };
        self.definitions.get(&id).or_else(by_name)
    }

    /// Whether a principal may perform an action on a resource.
    pub fn allow(&self, principal: &str, action: Action, there: &Scope) -> bool {
        self.of(principal).any(|(scope, role)| scope.covers(there) && role.allows(action))
    }

    /// Whether a principal may perform an action anywhere.
    pub fn allow_somewhere(&self, principal: &str, action: Action) -> bool {
        self.of(principal).any(|(_, role)| role.allows(action))
    }

    fn of(&self, principal: &str) -> impl Iterator<Item = (&Scope, &Definition)> {
        let given = self.assignments.values().filter(move |given| given.principal == principal);
        given.filter_map(|given| Some((&given.scope, self.definitions.get(&given.role)?)))
    }
}
