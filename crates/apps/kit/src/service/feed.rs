//! A live feed: pages of changes from a cursor on, and a signal when there may be more. The API streams it.

use super::{BoxFuture, ServiceError};
use serde_json::Value;

/// A handler's streaming response.
pub struct LiveFeed {
    /// The name of each event.
    pub event: &'static str,
    /// The cursor at which the stream begins.
    pub cursor: String,
    pub feed: Box<dyn Feed>,
}

pub trait Feed: Send + Sync {
    /// The changes since the cursor, in order.
    fn page<'a>(&'a mut self, cursor: &'a str) -> BoxFuture<'a, Result<FeedPage, ServiceError>>;

    /// Resolves when something may have changed. Dropping the future loses no signal.
    fn changed(&mut self) -> BoxFuture<'_, ()>;
}

#[derive(Clone, Debug)]
pub struct FeedPage {
    pub items: Vec<Value>,
    /// The cursor for the next page, as text that a client may store.
    pub cursor: String,
    pub has_more: bool,
}
