//! A role: a name for a set of actions.

use super::{Action, RoleError};
use orrery_core::limits;

/// `Cosmos DB Built-in Data Reader`
pub const READER: &str = "00000000-0000-0000-0000-000000000001";
/// `Cosmos DB Built-in Data Contributor`
pub const CONTRIBUTOR: &str = "00000000-0000-0000-0000-000000000002";

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Definition {
    pub(super) id: String,
    pub(super) name: String,
    /// As they were given.
    pub(super) data_actions: Vec<String>,
    pub(super) is_built_in: bool,
}

impl Definition {
    /// A role of the account's own. Each name must mean something, so that a slip of the pen is not found out much later.
    pub fn new(id: &str, name: &str, data_actions: Vec<String>) -> Result<Self, RoleError> {
        let is_short = |text: &str| !text.is_empty() && text.chars().count() <= limits::ROLE_TEXT_CHARS_MAX;
        if !is_short(id) || !is_short(name) || id.contains('/') {
            return Err(RoleError::Invalid("a role has an id and a name, neither of them long".to_owned()));
        }
        if data_actions.is_empty() || data_actions.len() > limits::ROLE_ACTIONS_MAX {
            let max = limits::ROLE_ACTIONS_MAX;
            return Err(RoleError::Invalid(format!("a role has from 1 to {max} dataActions")));
        }
        for given in &data_actions {
            let means = |action: &Action| action.is_named_by(given);
            if !is_short(given) || !Action::ALL.iter().any(means) {
                let known: Vec<&str> = Action::ALL.iter().map(|action| action.name()).collect();
                let known = known.join(", ");
                return Err(RoleError::Invalid(format!("'{given}' names no data action; there are {known}")));
            }
        }
        Ok(Self { id: id.to_ascii_lowercase(), name: name.to_owned(), data_actions, is_built_in: false })
    }

    pub(super) fn built_in() -> [Self; 2] {
        let role = |id: &str, name: &str, actions: &[&str]| Self {
            id: id.to_owned(),
            name: name.to_owned(),
            data_actions: actions.iter().map(|action| (*action).to_owned()).collect(),
            is_built_in: true,
        };
        let containers = "Microsoft.DocumentDB/databaseAccounts/sqlDatabases/containers/*";
        let items = "Microsoft.DocumentDB/databaseAccounts/sqlDatabases/containers/items/*";
        let reading = [Action::ReadMetadata, Action::ReadItem, Action::ExecuteQuery, Action::ReadChangeFeed];
        [
            role(READER, "Cosmos DB Built-in Data Reader", &reading.map(Action::name)),
            role(
                CONTRIBUTOR,
                "Cosmos DB Built-in Data Contributor",
                &[Action::ReadMetadata.name(), containers, items],
            ),
        ]
    }

    pub fn id(&self) -> &str {
        &self.id
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    pub fn data_actions(&self) -> &[String] {
        &self.data_actions
    }

    pub fn is_built_in(&self) -> bool {
        self.is_built_in
    }

    pub fn allows(&self, action: Action) -> bool {
        self.data_actions.iter().any(|given| action.is_named_by(given))
    }
}
