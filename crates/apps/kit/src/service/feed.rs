//! A live feed: changes from a cursor on, page by page, and a signal when there may be more. The API streams it.

use super::{BoxFuture, ServiceError};
use serde_json::Value;

/// What a handler gives for a stream.
pub struct LiveFeed {
    /// The name of each event.
    pub event: &'static str,
    /// Where the stream begins.
    pub cursor: String,
    pub feed: Box<dyn Feed>,
}

pub trait Feed: Send + Sync {
    /// What changed since the cursor, in order.
    fn page<'a>(&'a mut self, cursor: &'a str) -> BoxFuture<'a, Result<FeedPage, ServiceError>>;

    /// Resolves when something may have changed. Dropping the future loses no signal.
    fn changed(&mut self) -> BoxFuture<'_, ()>;
}

#[derive(Clone, Debug)]
pub struct FeedPage {
    pub items: Vec<Value>,
    /// Where to go on; text that a client may keep.
    pub cursor: String,
    pub has_more: bool,
}
