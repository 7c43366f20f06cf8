//! Why an operation on queues failed. Each protocol turns these into its own words in one exhaustive match.

use orrery_kv::Error as EngineError;
use orrery_queues::{MessageError, QueueError};
use orrery_txn::WriteError;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("The specified queue does not exist.")]
    QueueNotFound,
    /// It exists with other metadata.
    #[error("The specified queue already exists.")]
    QueueAlreadyExists,
    #[error("The specified message does not exist.")]
    MessageNotFound,
    #[error("The specified pop receipt did not match the pop receipt for a dequeued message.")]
    PopReceiptMismatch,
    /// A message cannot be invisible for longer than it lives.
    #[error("The visibility timeout ends after the message expires, in {seconds_left} seconds.")]
    VisibilityAfterExpiry { seconds_left: u64 },
    #[error("Too many writes are waiting for the disk; try again.")]
    Busy,
    #[error("The server is stopping.")]
    Stopping,
    #[error(transparent)]
    Engine(#[from] EngineError),
}

impl From<QueueError> for Error {
    fn from(error: QueueError) -> Self {
        match error {
            QueueError::NotFound => Self::QueueNotFound,
            QueueError::AlreadyExists => Self::QueueAlreadyExists,
            QueueError::Engine(error) => Self::Engine(error),
        }
    }
}

impl From<MessageError> for Error {
    fn from(error: MessageError) -> Self {
        match error {
            MessageError::NotFound => Self::MessageNotFound,
            MessageError::PopReceiptMismatch => Self::PopReceiptMismatch,
            MessageError::VisibilityAfterExpiry { seconds_left } => {
                Self::VisibilityAfterExpiry { seconds_left }
            }
            MessageError::Engine(error) => Self::Engine(error),
        }
    }
}

impl<E: Into<Error>> From<WriteError<E>> for Error {
    fn from(error: WriteError<E>) -> Self {
        match error {
            WriteError::Model(error) => error.into(),
            WriteError::PreconditionFailed => Self::QueueNotFound,
            WriteError::Busy => Self::Busy,
            WriteError::Stopping => Self::Stopping,
            WriteError::Engine(error) => Self::Engine(error),
        }
    }
}
