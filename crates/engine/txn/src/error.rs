//! Why a store does not open, and why a transaction is not committed.

use orrery_kv::Error;

#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    #[error(transparent)]
    Engine(#[from] Error),
    #[error("a thread could not be started: {0}")]
    Thread(std::io::Error),
}

/// Why a transaction was not committed; `E` is the error of its own body.
#[derive(Debug, thiserror::Error)]
pub enum WriteError<E> {
    #[error(transparent)]
    Model(E),
    /// A row outside its scope that it requires has changed or is gone.
    #[error("something that the write depends on changed meanwhile; try again")]
    PreconditionFailed,
    #[error("too many writes are waiting; try again")]
    Busy,
    #[error("the server is stopping")]
    Stopping,
    #[error(transparent)]
    Engine(Error),
}

/// What became of a queued batch that was not committed.
#[derive(Clone, Debug)]
pub(crate) enum CommitError {
    Refused,
    Aborted,
    Busy,
    Closed,
    Engine(Error),
}

impl<E> From<CommitError> for WriteError<E> {
    fn from(error: CommitError) -> Self {
        match error {
            CommitError::Refused => Self::PreconditionFailed,
            CommitError::Aborted | CommitError::Busy => Self::Busy,
            CommitError::Closed => Self::Stopping,
            CommitError::Engine(error) => Self::Engine(error),
        }
    }
}
