//! What a request did, in the words of the measurements.

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    Read,
    Create,
    Upsert,
    Replace,
    Patch,
    Delete,
    Batch,
    Query,
    QueryPlan,
    List,
    Changes,
    Script,
    /// Anything about databases, containers, offers and what is not an item.
    Metadata,
    /// What was refused before it was known what it is: a path that is none, a signature that is wrong.
    Refused,
}

/// What it is to whoever sums up: reads, writes and queries are told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    Read,
    Write,
    Query,
    Other,
}

impl Kind {
    pub const ALL: [Self; 14] = [
        Self::Read,
        Self::Create,
        Self::Upsert,
        Self::Replace,
        Self::Patch,
        Self::Delete,
        Self::Batch,
        Self::Query,
        Self::QueryPlan,
        Self::List,
        Self::Changes,
        Self::Script,
        Self::Metadata,
        Self::Refused,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Create => "create",
            Self::Upsert => "upsert",
            Self::Replace => "replace",
            Self::Patch => "patch",
            Self::Delete => "delete",
            Self::Batch => "batch",
            Self::Query => "query",
            Self::QueryPlan => "query_plan",
            Self::List => "list",
            Self::Changes => "change_feed",
            Self::Script => "script",
            Self::Metadata => "metadata",
            Self::Refused => "refused",
        }
    }

    pub fn class(self) -> Class {
        match self {
            Self::Read => Class::Read,
            Self::Create | Self::Upsert | Self::Replace | Self::Patch | Self::Delete => Class::Write,
            Self::Batch | Self::Script => Class::Write,
            Self::Query | Self::List | Self::Changes => Class::Query,
            Self::QueryPlan | Self::Metadata | Self::Refused => Class::Other,
        }
    }
}

impl Class {
    pub const ALL: [Self; 4] = [Self::Read, Self::Write, Self::Query, Self::Other];

    pub fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Query => "query",
            Self::Other => "other",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_stands_at_its_own_place_with_its_own_name() {
        for (at, kind) in Kind::ALL.into_iter().enumerate() {
            assert_eq!(kind as usize, at);
            assert!(Kind::ALL.iter().filter(|other| other.name() == kind.name()).count() == 1);
        }
    }
}
