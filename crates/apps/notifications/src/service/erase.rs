//! Erases a user: nothing of them stays in the four containers, and nothing more is sent to them (S2-70, K4).
//!
//! ```text
//! under way     recorded, so that it is completed even if this process dies
//! tombstone     from here on workers drop the user's events before pushing, and new ones are refused
//! events        deleted one by one under their etags; an event in progress is waited for
//! the rest      notifications, preferences, devices
//! repeat        until a pass finds nothing; then the record is removed
//! ```
//!
//! An erasure interrupted by a crash is completed by the jobs of any process, or by repeating the request.
//! The tombstone stays.

use super::containers::{DEVICES, EVENTS, NOTIFICATIONS, PREFERENCES};
use super::items;
use super::{Notifications, ServiceError, tombstone};
use crate::limits;
use orrery_core::Timestamp;
use orrery_kit::ports::documents::StoreError;
use orrery_kit::{failpoint, time};
use serde::Serialize;
use serde_json::{Value, json};
use std::time::Duration;
use tokio::time::Instant;

/// The number of items deleted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Erased {
    pub notification_events: u64,
    pub notifications: u64,
    pub notification_preferences: u64,
    pub device_tokens: u64,
}

impl Notifications {
    pub async fn erase(&self, user: &str) -> Result<Erased, ServiceError> {
        self.ensure().await?;
        self.begin_erasure(user).await?;
        tombstone::create(self.documents(), user, &self.stamp()).await?;
        failpoint::hit("notify.erase.tombstoned");
        let mut erased = Erased::default();
        for _ in 0..limits::NOTIFICATION_PASSES_MAX {
            let before = erased;
            erased.notification_events += self.erase_events(user).await?;
            failpoint::hit("notify.erase.half");
            erased.notifications += self.erase_all(NOTIFICATIONS, user).await?;
            erased.notification_preferences += self.erase_all(PREFERENCES, user).await?;
            erased.device_tokens += self.erase_all(DEVICES, user).await?;
            if erased == before {
                self.erasure_ended(user).await?;
                self.changed(user);
                return Ok(erased);
            }
        }
        Err(ServiceError::Busy { after: None })
    }

    /// Repeats until there are none. A worker is waited for until its lease expires; if it has died, no
    /// longer.
    async fn erase_events(&self, user: &str) -> Result<u64, ServiceError> {
        let patience = Instant::now() + self.policy().lease() + WAIT_MAX;
        let mut deleted = 0;
        loop {
            let rows = self.rows_of(EVENTS, user).await?;
            if rows.is_empty() {
                return Ok(deleted);
            }
            let now = self.now();
            let (held, free): (Vec<Value>, Vec<Value>) = rows.into_iter().partition(|row| is_held(row, now));
            for row in &free {
                deleted += u64::from(self.erase_one(EVENTS, user, row).await?);
            }
            if !held.is_empty() && free.is_empty() {
                if Instant::now() > patience {
                    return Err(ServiceError::Busy { after: Some(self.policy().lease()) });
                }
                tokio::time::sleep(POLL_INTERVAL).await;
            }
        }
    }

    pub(super) async fn erase_all(&self, container: &str, user: &str) -> Result<u64, ServiceError> {
        let mut deleted = 0;
        for _ in 0..limits::NOTIFICATION_PASSES_MAX {
            let rows = self.rows_of(container, user).await?;
            if rows.is_empty() {
                break;
            }
            for row in &rows {
                deleted += u64::from(self.erase_one(container, user, row).await?);
            }
        }
        Ok(deleted)
    }

    /// The seed's query, reduced to the members needed.
    async fn rows_of(&self, container: &str, user: &str) -> Result<Vec<Value>, StoreError> {
        let text = "SELECT c.id, c._etag, c.status, c.leaseUntil FROM c WHERE c.userId = @userId";
        let query = items::query(text, &[("userId", json!(user))]);
        items::rows(self.documents(), container, Some(user), query, limits::NOTIFICATION_ROWS_MAX).await
    }

    /// False if it changed or vanished meanwhile: the next pass reads it again.
    async fn erase_one(&self, container: &str, user: &str, row: &Value) -> Result<bool, StoreError> {
        let (id, etag) = (row["id"].as_str().unwrap_or_default(), row["_etag"].as_str().map(str::to_owned));
        items::delete(self.documents(), container, user, id, etag).await
    }
}

const WAIT_MAX: Duration = Duration::from_secs(5);
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// Whether a worker holds it.
fn is_held(row: &Value, now: Timestamp) -> bool {
    let until = row["leaseUntil"].as_str().and_then(time::parse);
    row["status"] == "PROCESSING" && until.is_some_and(|until| until >= now)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_unexpired_lease_is_waited_for() {
        let at = time::parse("2026-11-15T10:00:00.000Z").expect("a time");
        let check = |status: &str, until: Value, expected: bool| {
            assert_eq!(
                is_held(&json!({"status": status, "leaseUntil": until}), at),
                expected,
                "{status} {until}"
            );
        };
        check("PROCESSING", json!("2026-11-15T10:00:05.000Z"), true);
        check("PROCESSING", json!("2026-11-15T09:59:59.000Z"), false);
        check("PROCESSING", Value::Null, false);
        check("PENDING", json!("2026-11-15T10:00:05.000Z"), false);
    }
}
