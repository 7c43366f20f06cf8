//! Why an operation on tables failed. Each protocol turns these into its own words in one exhaustive match.

use orrery_kv::Error as EngineError;
use orrery_tables::{EntityError, GroupError, TableError};
use orrery_txn::WriteError;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// `TableNotFound`; also of a table that was dropped meanwhile.
    #[error("The table specified does not exist.")]
    TableNotFound,
    /// `TableAlreadyExists`
    #[error("The table specified already exists.")]
    TableExists,
    #[error(transparent)]
    Entity(EntityError),
    /// An operation of an entity group transaction failed, and none was done.
    #[error(transparent)]
    Group(GroupError),
    #[error("Too many writes are waiting for the disk; try again.")]
    Busy,
    #[error("The server is stopping.")]
    Stopping,
    #[error(transparent)]
    Engine(#[from] EngineError),
}

impl From<EntityError> for Error {
    fn from(error: EntityError) -> Self {
        match error {
            EntityError::Store(error) => Self::Engine(error),
            error => Self::Entity(error),
        }
    }
}

impl From<GroupError> for Error {
    fn from(error: GroupError) -> Self {
        match error {
            GroupError { error: EntityError::Store(error), .. } => Self::Engine(error),
            error => Self::Group(error),
        }
    }
}

impl From<TableError> for Error {
    fn from(error: TableError) -> Self {
        match error {
            TableError::Exists => Self::TableExists,
            TableError::NotFound => Self::TableNotFound,
            TableError::Store(error) => Self::Engine(error),
        }
    }
}

impl<E: Into<Error>> From<WriteError<E>> for Error {
    fn from(error: WriteError<E>) -> Self {
        match error {
            WriteError::Model(error) => error.into(),
            WriteError::PreconditionFailed => Self::TableNotFound,
            WriteError::Busy => Self::Busy,
            WriteError::Stopping => Self::Stopping,
            WriteError::Engine(error) => Self::Engine(error),
        }
    }
}
