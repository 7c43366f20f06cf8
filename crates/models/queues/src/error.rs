//! Why an operation on queues or messages is refused.

use orrery_kv::Error;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum QueueError {
    #[error("The specified queue does not exist.")]
    NotFound,
    /// It exists with other metadata.
    #[error("The specified queue already exists.")]
    AlreadyExists,
    #[error(transparent)]
    Engine(#[from] Error),
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MessageError {
    #[error("The specified message does not exist.")]
    NotFound,
    /// Somebody got or updated the message since the receipt was given.
    #[error("The specified pop receipt did not match the pop receipt for a dequeued message.")]
    PopReceiptMismatch,
    /// A message cannot be invisible for longer than it lives.
    #[error("The visibility timeout ends after the message expires, in {seconds_left} seconds.")]
    VisibilityAfterExpiry { seconds_left: u64 },
    #[error(transparent)]
    Engine(#[from] Error),
}
