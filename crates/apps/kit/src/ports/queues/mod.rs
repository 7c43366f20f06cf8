//! The port for queues: what a service may ask of the queues of a storage account, which is what Azure promises and no
//! more.
//!
//! ```text
//! embedded   the store of this process
//! remote     an account over the wire: another Orrery's, or Azure's
//! ```
//!
//! A message is delivered at least once: whoever gets it has it for a while, and deletes it with the receipt, or somebody
//! else gets it. An operation under a receipt that is no longer the message's is `Changed`; on a message that is gone,
//! `Missing`. What goes in and comes out is the client's own.

mod embedded;
mod remote;

pub use super::StoreError;
pub use embedded::Embedded;
pub use orrery_client::storage::queues::{
    AcceptedMessage, MessageLife, NewMessage, PeekedMessage, ReceivedMessage, UpdatedMessage,
};
pub use remote::Remote;

/// Where a service keeps its messages: one account, by either adapter. A cheap handle.
///
/// What a request over the wire needs is large and would be part of every future that may make one, so it is boxed.
#[derive(Clone)]
pub enum Queues {
    Embedded(Embedded),
    Remote(Remote),
}

impl Queues {
    /// Makes the queues that are missing; those that are there stay as they are.
    pub async fn ensure(&self, queues: &[&str]) -> Result<(), StoreError> {
        match self {
            Self::Embedded(store) => store.ensure(queues).await,
            Self::Remote(store) => Box::pin(store.ensure(queues)).await,
        }
    }

    /// Puts a message behind those that are visible. One that was put twice, because the first answer was lost, is there
    /// twice: `Unavailable` says that it may be there.
    pub async fn put(&self, queue: &str, new: &NewMessage) -> Result<AcceptedMessage, StoreError> {
        match self {
            Self::Embedded(store) => store.put(queue, new).await,
            Self::Remote(store) => Box::pin(store.put(queue, new)).await,
        }
    }

    /// Takes up to so many messages that are visible, 32 at most, and hides them for so long.
    pub async fn get(
        &self,
        queue: &str,
        count: u32,
        hidden_seconds: u64,
    ) -> Result<Vec<ReceivedMessage>, StoreError> {
        match self {
            Self::Embedded(store) => store.get(queue, count, hidden_seconds).await,
            Self::Remote(store) => Box::pin(store.get(queue, count, hidden_seconds)).await,
        }
    }

    /// The messages that a get would take.
    pub async fn peek(&self, queue: &str, count: u32) -> Result<Vec<PeekedMessage>, StoreError> {
        match self {
            Self::Embedded(store) => store.peek(queue, count).await,
            Self::Remote(store) => Box::pin(store.peek(queue, count)).await,
        }
    }

    /// Hides a message for so long from now on, or shows it at once; with a text, replaces its text. The receipt is good for
    /// nothing any more.
    pub async fn update(
        &self,
        queue: &str,
        id: &str,
        receipt: &str,
        hidden_seconds: u64,
        text: Option<&str>,
    ) -> Result<UpdatedMessage, StoreError> {
        match self {
            Self::Embedded(store) => store.update(queue, id, receipt, hidden_seconds, text).await,
            Self::Remote(store) => Box::pin(store.update(queue, id, receipt, hidden_seconds, text)).await,
        }
    }

    pub async fn delete(&self, queue: &str, id: &str, receipt: &str) -> Result<(), StoreError> {
        match self {
            Self::Embedded(store) => store.delete(queue, id, receipt).await,
            Self::Remote(store) => Box::pin(store.delete(queue, id, receipt)).await,
        }
    }

    /// How many messages there are, visible or not; some of them may have expired.
    pub async fn count(&self, queue: &str) -> Result<u64, StoreError> {
        match self {
            Self::Embedded(store) => store.count(queue),
            Self::Remote(store) => Box::pin(store.count(queue)).await,
        }
    }

    /// Removes all messages.
    pub async fn clear(&self, queue: &str) -> Result<(), StoreError> {
        match self {
            Self::Embedded(store) => store.clear(queue).await,
            Self::Remote(store) => Box::pin(store.clear(queue)).await,
        }
    }
}
