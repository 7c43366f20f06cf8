//! The operation of a request, in the terms in which access is granted. One table for every route and
//! verb.

use crate::request::Post;
use crate::route::Route;
use http::Method;
use orrery_document_store::monitor::Kind as Measured;
use orrery_documents::roles::Action;
use orrery_documents::subresources::Kind;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    ReadAccount,
    /// Metadata of databases and containers, and the location of items.
    ReadMetadata,
    /// Reads that require an account key.
    ReadManaged,
    /// Permissions, whose tokens are as good as keys.
    ReadPermissions,
    /// Changes that require a read-write account key.
    Manage,
    ReadScripts,
    ManageScripts,
    ExecuteScript,
    ListItems,
    QueryItems,
    PlanQuery,
    ReadChanges,
    ReadItem,
    CreateItem,
    UpsertItem,
    ReplaceItem,
    PatchItem,
    DeleteItem,
    Batch,
    DeletePartition,
    ReadConflicts,
    DeleteConflict,
}

impl Operation {
    /// Its name in measurements.
    pub fn measured_as(self) -> Measured {
        match self {
            Self::ReadItem => Measured::Read,
            Self::CreateItem => Measured::Create,
            Self::UpsertItem => Measured::Upsert,
            Self::ReplaceItem => Measured::Replace,
            Self::PatchItem => Measured::Patch,
            Self::DeleteItem | Self::DeletePartition => Measured::Delete,
            Self::Batch => Measured::Batch,
            Self::QueryItems => Measured::Query,
            Self::PlanQuery => Measured::QueryPlan,
            Self::ListItems => Measured::List,
            Self::ReadChanges => Measured::Changes,
            Self::ExecuteScript => Measured::Script,
            Self::ReadAccount
            | Self::ReadMetadata
            | Self::ReadManaged
            | Self::ReadPermissions
            | Self::Manage
            | Self::ReadScripts
            | Self::ManageScripts
            | Self::ReadConflicts
            | Self::DeleteConflict => Measured::Metadata,
        }
    }

    /// A verb that a route does not support is refused by its handler, and until then requires the
    /// highest access.
    pub fn of(route: &Route<'_>, method: &Method, post: Post, is_change_feed: bool) -> Self {
        let verb = method.as_str();
        match route {
            Route::Account => read_or_manage(verb, Self::ReadAccount),
            Route::Databases | Route::Containers { .. } => list(verb, post, Self::ReadMetadata, Self::Manage),
            Route::Database { .. } | Route::Container { .. } | Route::Ranges { .. } => {
                read_or_manage(verb, Self::ReadMetadata)
            }
            Route::Offers => list(verb, post, Self::ReadManaged, Self::Manage),
            Route::Offer { .. } => read_or_manage(verb, Self::ReadManaged),
            Route::Items { .. } => items(verb, post, is_change_feed),
            Route::Item { .. } => item(verb),
            Route::Subresources { kind, .. } => {
                let (read, manage) = children(*kind);
                list(verb, post, read, manage)
            }
            Route::Subresource { kind, .. } => match (verb, children(*kind)) {
                ("GET", (read, _)) => read,
                ("POST", _) if *kind == Kind::StoredProcedure => Self::ExecuteScript,
                (_, (_, manage)) => manage,
            },
            Route::Conflicts { .. } => list(verb, post, Self::ReadConflicts, Self::Manage),
            Route::Conflict { .. } => match verb {
                "GET" => Self::ReadConflicts,
                "DELETE" => Self::DeleteConflict,
                _ => Self::Manage,
            },
            Route::PartitionKeyDelete { .. } => match verb {
                "POST" => Self::DeletePartition,
                _ => Self::Manage,
            },
            Route::Other { .. } => Self::Manage,
        }
    }

    /// Whether a read-only key is not enough.
    pub fn needs_a_writing_key(self) -> bool {
        match self {
            Self::ReadAccount
            | Self::ReadMetadata
            | Self::ReadManaged
            | Self::ReadScripts
            | Self::ListItems
            | Self::QueryItems
            | Self::PlanQuery
            | Self::ReadChanges
            | Self::ReadItem
            | Self::ReadConflicts => false,
            Self::ReadPermissions
            | Self::Manage
            | Self::ManageScripts
            | Self::ExecuteScript
            | Self::CreateItem
            | Self::UpsertItem
            | Self::ReplaceItem
            | Self::PatchItem
            | Self::DeleteItem
            | Self::Batch
            | Self::DeletePartition
            | Self::DeleteConflict => true,
        }
    }

    /// The actions, all of which a role must have; `None` if no role can grant the operation.
    pub fn actions(self) -> &'static [Action] {
        match self {
            Self::ReadAccount | Self::ReadMetadata => &[Action::ReadMetadata],
            Self::ReadManaged
            | Self::ReadPermissions
            | Self::Manage
            | Self::ReadScripts
            | Self::ManageScripts => &[],
            Self::ExecuteScript => &[Action::ExecuteStoredProcedure],
            Self::ListItems | Self::QueryItems | Self::PlanQuery => &[Action::ExecuteQuery],
            Self::ReadChanges => &[Action::ReadChangeFeed],
            Self::ReadItem => &[Action::ReadItem],
            Self::CreateItem => &[Action::CreateItem],
            Self::UpsertItem => &[Action::UpsertItem],
            Self::ReplaceItem | Self::PatchItem => &[Action::ReplaceItem],
            Self::DeleteItem | Self::DeletePartition => &[Action::DeleteItem],
            // Its content is unknown before the body is read, and may be any of these.
            Self::Batch => &[
                Action::CreateItem,
                Action::ReadItem,
                Action::ReplaceItem,
                Action::UpsertItem,
                Action::DeleteItem,
            ],
            Self::ReadConflicts | Self::DeleteConflict => &[Action::ManageConflicts],
        }
    }
}

fn read_or_manage(verb: &str, read: Operation) -> Operation {
    if verb == "GET" { read } else { Operation::Manage }
}

fn list(verb: &str, post: Post, read: Operation, manage: Operation) -> Operation {
    match (verb, post) {
        ("GET", _) | ("POST", Post::Query | Post::QueryPlan) => read,
        _ => manage,
    }
}

/// To read and to change such a resource.
fn children(kind: Kind) -> (Operation, Operation) {
    match kind {
        Kind::User => (Operation::ReadManaged, Operation::Manage),
        Kind::Permission => (Operation::ReadPermissions, Operation::Manage),
        Kind::ClientEncryptionKey => (Operation::ReadMetadata, Operation::Manage),
        Kind::StoredProcedure | Kind::Trigger | Kind::UserDefinedFunction => {
            (Operation::ReadScripts, Operation::ManageScripts)
        }
    }
}

fn items(verb: &str, post: Post, is_change_feed: bool) -> Operation {
    match (verb, post) {
        ("GET", _) if is_change_feed => Operation::ReadChanges,
        ("GET", _) => Operation::ListItems,
        ("POST", Post::Query) => Operation::QueryItems,
        ("POST", Post::QueryPlan) => Operation::PlanQuery,
        ("POST", Post::Batch) => Operation::Batch,
        ("POST", Post::Upsert) => Operation::UpsertItem,
        ("POST", Post::Create) => Operation::CreateItem,
        _ => Operation::Manage,
    }
}

fn item(verb: &str) -> Operation {
    match verb {
        "GET" => Operation::ReadItem,
        "PUT" => Operation::ReplaceItem,
        "PATCH" => Operation::PatchItem,
        "DELETE" => Operation::DeleteItem,
        _ => Operation::Manage,
    }
}

#[cfg(test)]
mod tests;
