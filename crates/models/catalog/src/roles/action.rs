//! What can be done to data, as roles name it.

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

    /// Whether a name in a role means this one; `*` stands for anything, and case for nothing.
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
        // What the last piece ends with must be the end; `find` may have met an earlier place.
        match last {
            None => rest.is_empty(),
            Some((from, piece)) => from.ends_with(piece),
        }
    }
}

#[cfg(test)]
mod tests {
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
