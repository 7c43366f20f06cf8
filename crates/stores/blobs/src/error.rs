//! Why an operation on blobs failed. Each protocol turns these into its own words in one exhaustive match.

use orrery_blobs::{BlobError, Refusal};
use orrery_kv::Error as EngineError;
use orrery_txn::WriteError;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    Refused(#[from] Refusal),
    #[error("Too many writes are waiting for the disk; try again.")]
    Busy,
    #[error("The server is stopping.")]
    Stopping,
    #[error(transparent)]
    Engine(#[from] EngineError),
}

impl From<BlobError> for Error {
    fn from(error: BlobError) -> Self {
        match error {
            BlobError::Refused(refusal) => Self::Refused(refusal),
            BlobError::Store(error) => Self::Engine(error),
        }
    }
}

impl<E: Into<Error>> From<WriteError<E>> for Error {
    fn from(error: WriteError<E>) -> Self {
        match error {
            WriteError::Model(error) => error.into(),
            WriteError::PreconditionFailed => Self::Refused(Refusal::ContainerNotFound),
            WriteError::Busy => Self::Busy,
            WriteError::Stopping => Self::Stopping,
            WriteError::Engine(error) => Self::Engine(error),
        }
    }
}
