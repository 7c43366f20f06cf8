//! Erasures under way: one interrupted by a crash or a disconnected client is completed by the next process
//! that checks.
//!
//! ```text
//! {id: "erasure:<hash of the user>", partition: "erasures", kind: "erasure", userId, startedAt}
//! ```
//!
//! The record is written before the tombstone and deleted when nothing is left of the user. Its container has
//! no index, so the change feed of its partition lists the records.

use super::containers::SERVICE;
use super::items;
use super::{Notifications, ServiceError};
use crate::limits;
use orrery_kit::idempotency::hash;
use orrery_kit::ports::documents::{StoreError, Write};
use orrery_kit::time;
use serde_json::{Value, json};
use std::time::Duration;

const PARTITION: &str = "erasures";

impl Notifications {
    /// Completes erasures that began a while ago and did not end; returns their number.
    pub async fn end_erasures(&self) -> Result<u64, ServiceError> {
        self.ensure().await?;
        let mut ended = 0;
        for user in self.overdue_erasures().await? {
            match self.erase(&user).await {
                Ok(_) => ended += 1,
                Err(error) => tracing::warn!(user, %error, "an erasure that was begun is not ended yet"),
            }
        }
        Ok(ended)
    }

    /// A record from an earlier attempt stays unchanged.
    pub(super) async fn begin_erasure(&self, user: &str) -> Result<(), StoreError> {
        let item = json!({
            "id": id(user), "partition": PARTITION, "kind": "erasure", "userId": user, "startedAt": self.stamp(),
        });
        match self.documents().write(SERVICE, PARTITION, Write::Create(item)).await {
            Ok(_) | Err(StoreError::Conflict) => Ok(()),
            Err(error) => Err(error),
        }
    }

    pub(super) async fn erasure_ended(&self, user: &str) -> Result<(), StoreError> {
        items::delete(self.documents(), SERVICE, PARTITION, &id(user), None).await.map(drop)
    }

    /// Users whose erasure is overdue.
    async fn overdue_erasures(&self) -> Result<Vec<String>, StoreError> {
        let needed = Duration::from_secs(limits::NOTIFICATION_ERASURE_SECONDS) + self.policy().lease();
        let (mut users, mut cursor, now) = (Vec::new(), None, self.now());
        loop {
            let page = limits::NOTIFICATION_ROWS_PAGE;
            let found = self.documents().changes(SERVICE, Some(PARTITION), cursor.as_ref(), page).await?;
            let overdue = found.items.iter().filter(|item| {
                let started = item["startedAt"].as_str().and_then(time::parse);
                started.is_none_or(|started| started.plus(needed) <= now)
            });
            users.extend(overdue.filter_map(erased_user));
            if !found.has_more || users.len() >= limits::NOTIFICATION_ROWS_MAX {
                return Ok(users);
            }
            cursor = Some(found.next);
        }
    }
}

/// A user may have the partition's name; then their tombstone is in it too.
fn erased_user(item: &Value) -> Option<String> {
    let user = item["userId"].as_str().filter(|_| item["kind"] == "erasure")?;
    Some(user.to_owned())
}

/// A user's name is arbitrary text, which an id cannot be.
fn id(user: &str) -> String {
    format!("erasure:{}", hash(&[user.as_bytes()]))
}
