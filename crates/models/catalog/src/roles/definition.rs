//! Role definitions: a name for a set of actions.

use super::RoleError;
use crate::limits;
use std::fmt;

/// `Cosmos DB Built-in Data Reader`
pub const READER: &str = "00000000-0000-0000-0000-000000000001";
/// `Cosmos DB Built-in Data Contributor`
pub const CONTRIBUTOR: &str = "00000000-0000-0000-0000-000000000002";

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Definition {
    pub(super) id: String,
    pub(super) name: String,
    /// As sent.
    pub(super) data_actions: Vec<String>,
    pub(super) is_built_in: bool,
}

impl Definition {
    /// A custom role. Each action must exist, so that typos are found immediately.
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

// Role assignments: a role granted to a principal over a scope.

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assignment {
    pub(super) id: String,
    pub(super) principal: String,
    /// The id of the role definition.
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

// The scope of a role: `/`, `/dbs/d` or `/dbs/d/colls/c`, and everything below it.

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scope {
    Account,
    Database(String),
    Container(String, String),
}

impl Scope {
    pub fn parse(text: &str) -> Option<Self> {
        let segments: Vec<&str> = text.strip_prefix('/')?.trim_end_matches('/').split('/').collect();
        match segments[..] {
            [""] => Some(Self::Account),
            ["dbs", database] if !database.is_empty() => Some(Self::Database(database.to_owned())),
            ["dbs", database, "colls", container] if !database.is_empty() && !container.is_empty() => {
                Some(Self::Container(database.to_owned(), container.to_owned()))
            }
            _ => None,
        }
    }

    /// Whether the resource lies within this scope.
    pub fn covers(&self, meant: &Self) -> bool {
        match (self, meant) {
            (Self::Account, _) => true,
            (Self::Database(ours), Self::Database(theirs) | Self::Container(theirs, _)) => ours == theirs,
            (Self::Container(..), Self::Container(..)) => self == meant,
            (Self::Database(_), Self::Account) | (Self::Container(..), Self::Account | Self::Database(_)) => {
                false
            }
        }
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Account => f.write_str("/"),
            Self::Database(database) => write!(f, "/dbs/{database}"),
            Self::Container(database, container) => write!(f, "/dbs/{database}/colls/{container}"),
        }
    }
}

// Data actions, by their names in roles.

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Action {
    ReadMetadata,
    CreateItem,
    ReadItem,
    ReplaceItem,
    UpsertItem,
    DeleteItem,
    ExecuteQuery,
    ReadChangeFeed,
    ExecuteStoredProcedure,
    ManageConflicts,
}

impl Action {
    pub const ALL: [Self; 10] = [
        Self::ReadMetadata,
        Self::CreateItem,
        Self::ReadItem,
        Self::ReplaceItem,
        Self::UpsertItem,
        Self::DeleteItem,
        Self::ExecuteQuery,
        Self::ReadChangeFeed,
        Self::ExecuteStoredProcedure,
        Self::ManageConflicts,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::ReadMetadata => "Microsoft.DocumentDB/databaseAccounts/readMetadata",
            Self::CreateItem => "Microsoft.DocumentDB/databaseAccounts/sqlDatabases/containers/items/create",
            Self::ReadItem => "Microsoft.DocumentDB/databaseAccounts/sqlDatabases/containers/items/read",
            Self::ReplaceItem => {
                "Microsoft.DocumentDB/databaseAccounts/sqlDatabases/containers/items/replace"
            }
            Self::UpsertItem => "Microsoft.DocumentDB/databaseAccounts/sqlDatabases/containers/items/upsert",
            Self::DeleteItem => "Microsoft.DocumentDB/databaseAccounts/sqlDatabases/containers/items/delete",
            Self::ExecuteQuery => {
                "Microsoft.DocumentDB/databaseAccounts/sqlDatabases/containers/executeQuery"
            }
            Self::ReadChangeFeed => {
                "Microsoft.DocumentDB/databaseAccounts/sqlDatabases/containers/readChangeFeed"
            }
            Self::ExecuteStoredProcedure => {
                "Microsoft.DocumentDB/databaseAccounts/sqlDatabases/containers/executeStoredProcedure"
            }
            Self::ManageConflicts => {
                "Microsoft.DocumentDB/databaseAccounts/sqlDatabases/containers/manageConflicts"
            }
        }
    }

    /// Whether a pattern in a role matches this action; `*` matches anything, and case is ignored.
    pub fn is_named_by(self, pattern: &str) -> bool {
        let (pattern, name) = (pattern.to_ascii_lowercase(), self.name().to_ascii_lowercase());
        let mut pieces = pattern.split('*');
        let Some(mut rest) = pieces.next().and_then(|first| name.strip_prefix(first)) else { return false };
        let mut last = None;
        for piece in pieces {
            let Some(at) = rest.find(piece) else { return false };
            last = Some((rest, piece));
            rest = &rest[at + piece.len()..];
        }
        // The last piece must match at the end; `find` may have found an earlier occurrence.
        match last {
            None => rest.is_empty(),
            Some((from, piece)) => from.ends_with(piece),
        }
    }
}

#[cfg(test)]
mod scope_tests {
    use super::*;

    #[test]
    fn a_scope_covers_itself_and_what_is_in_it() {
        let scopes = ["/", "/dbs/a", "/dbs/b", "/dbs/a/colls/x", "/dbs/a/colls/y", "/dbs/b/colls/x"];
        let covers = |outer: &str| {
            let outer = Scope::parse(outer).unwrap();
            let inner = scopes.iter().filter(|inner| outer.covers(&Scope::parse(inner).unwrap()));
            inner.copied().collect::<Vec<_>>()
        };
        assert_eq!(covers("/"), scopes);
        assert_eq!(covers("/dbs/a"), ["/dbs/a", "/dbs/a/colls/x", "/dbs/a/colls/y"]);
        assert_eq!(covers("/dbs/a/colls/x/"), ["/dbs/a/colls/x"]);
        for scope in scopes {
            assert_eq!(Scope::parse(scope).unwrap().to_string(), scope);
        }
    }

    #[test]
    fn malformed_scopes_are_refused() {
        for text in
            ["", "dbs/a", "/dbs", "/dbs/", "/colls/x", "/dbs/a/colls", "/dbs/a/docs/x", "/dbs//colls/x"]
        {
            assert_eq!(Scope::parse(text), None, "{text}");
        }
    }
}

#[cfg(test)]
mod action_tests {
    use super::*;
    use Action::*;

    fn named(pattern: &str) -> Vec<Action> {
        Action::ALL.into_iter().filter(|action| action.is_named_by(pattern)).collect()
    }

    #[test]
    fn a_name_means_one_action_and_a_star_anything() {
        const ROOT: &str = "Microsoft.DocumentDB/databaseAccounts";
        for action in Action::ALL {
            assert_eq!(named(action.name()), [action]);
            assert_eq!(named(&action.name().to_uppercase()), [action]);
        }
        let items = [CreateItem, ReadItem, ReplaceItem, UpsertItem, DeleteItem];
        assert_eq!(named(&format!("{ROOT}/sqlDatabases/containers/items/*")), items);
        assert_eq!(named(&format!("{ROOT}/sqlDatabases/containers/*")), Action::ALL[1..]);
        assert_eq!(named(&format!("{ROOT}/*")), Action::ALL);
        assert_eq!(named("*"), Action::ALL);
        assert_eq!(named("*/read"), [ReadItem]);
        assert_eq!(named("*/items/re*"), [ReadItem, ReplaceItem]);
        assert_eq!(named("*read*"), [ReadMetadata, ReadItem, ReadChangeFeed]);
        for nothing in
            ["", "items", "Microsoft.DocumentDB", "*/write", "**x", &format!("{ROOT}/readMetadata/")]
        {
            assert_eq!(named(nothing), [], "{nothing}");
        }
    }
}
