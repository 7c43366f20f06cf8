//! Live changes of a user's in-app centre.
//!
//! Order and cursor are those of the store's change feed, so a watcher that reconnects continues where it
//! was, and also sees the writes of other processes. Within this process a change wakes the watchers of users
//! in the same bucket.

use super::containers::NOTIFICATIONS;
use super::{Notifications, ServiceError, place_of};
use crate::limits;
use orrery_kit::ports::documents::{Cursor, StoreError};
use serde_json::Value;
use tokio::sync::watch;

#[derive(Clone, Debug)]
pub struct Streamed {
    /// Notifications in their current version, in the order of their changes.
    pub items: Vec<Value>,
    /// The cursor for the next page, as text that may be stored.
    pub cursor: String,
    pub has_more: bool,
}

/// The number of watcher buckets: a change wakes one of them.
const BUCKETS: usize = 1_024;

pub(super) struct Watched(Vec<watch::Sender<u64>>);

impl Default for Watched {
    fn default() -> Self {
        Self((0..BUCKETS).map(|_| watch::Sender::new(0)).collect())
    }
}

impl Watched {
    fn of(&self, user: &str) -> &watch::Sender<u64> {
        &self.0[place_of(user, BUCKETS)]
    }
}

impl Notifications {
    /// Notifications that changed since the cursor, or from the beginning.
    pub async fn changes(&self, user: &str, cursor: Option<&str>) -> Result<Streamed, ServiceError> {
        self.ensure().await?;
        let since = cursor.map(|cursor| Cursor(cursor.to_owned()));
        let page = limits::NOTIFICATION_LIST_MAX;
        let changes = self.documents().changes(NOTIFICATIONS, Some(user), since.as_ref(), page).await;
        let changes = changes.map_err(|error| match error {
            StoreError::Refused { status: 400, message } if cursor.is_some() => {
                ServiceError::Invalid { member: "Last-Event-ID".to_owned(), reason: message }
            }
            error => error.into(),
        })?;
        let items = changes.items.into_iter().filter(|item| item.get("kind").is_none()).collect();
        Ok(Streamed { items, cursor: changes.next.0, has_more: changes.has_more })
    }

    /// The current end of a user's changes, for watchers that need no history.
    pub async fn now_cursor(&self, user: &str) -> Result<String, ServiceError> {
        self.ensure().await?;
        Ok(self.documents().end_of_changes(NOTIFICATIONS, Some(user)).await?.0)
    }

    /// Ticks when something of this user may have changed; sometimes it was another user's change.
    pub fn watch(&self, user: &str) -> watch::Receiver<u64> {
        self.0.watched.of(user).subscribe()
    }

    pub(crate) fn changed(&self, user: &str) {
        let sender = self.0.watched.of(user);
        if sender.receiver_count() > 0 {
            sender.send_modify(|count| *count = count.wrapping_add(1));
        }
    }
}
