//! Deletes devices revoked long ago (S2-69), and their outbox items, since their container has no expiry.

use super::containers::DEVICES;
use super::items::{self, before};
use super::{Notifications, ServiceError};
use crate::limits;
use crate::records::Device;
use orrery_core::Timestamp;
use orrery_kit::ports::documents::StoreError;
use orrery_kit::time;
use serde_json::{Value, json};
use std::time::Duration;

impl Notifications {
    /// Deletes devices revoked longer ago than this, and returns their number.
    pub async fn purge_devices(&self, older_than: Duration) -> Result<u64, ServiceError> {
        self.ensure().await?;
        let before = before(self.now(), older_than);
        let text = "SELECT c.id, c.userId FROM c WHERE c.revokedAt < @before";
        let mut deleted = 0;
        for row in self.all_devices(text, before).await? {
            deleted += u64::from(self.purge_device(&row, before).await?);
        }
        Ok(deleted)
    }

    /// Under its etag, and only if still revoked: it may have registered again since the query.
    async fn purge_device(&self, row: &Value, before: Timestamp) -> Result<bool, StoreError> {
        let (Some(id), Some(user)) = (row["id"].as_str(), row["userId"].as_str()) else { return Ok(false) };
        let Some(found) = items::find::<Device>(self.documents(), DEVICES, user, id).await? else {
            return Ok(false);
        };
        let revoked = found.value.revoked_at.as_deref().and_then(time::parse);
        if revoked.is_none_or(|revoked| revoked >= before) {
            return Ok(false);
        }
        items::delete(self.documents(), DEVICES, user, id, Some(found.etag)).await
    }

    /// Outbox items that every consumer has had the time to read.
    pub(super) async fn purge_outbox(&self) -> Result<(), StoreError> {
        let before = before(self.now(), Duration::from_secs(limits::NOTIFICATION_OUTBOX_SECONDS));
        let text = "SELECT c.id, c.userId FROM c WHERE c.kind = 'outbox' AND c.toldAt < @before";
        for row in self.all_devices(text, before).await? {
            if let (Some(id), Some(user)) = (row["id"].as_str(), row["userId"].as_str()) {
                items::delete(self.documents(), DEVICES, user, id, None).await?;
            }
        }
        Ok(())
    }

    async fn all_devices(&self, text: &str, before: Timestamp) -> Result<Vec<Value>, StoreError> {
        let query = items::query(text, &[("before", json!(time::format(before)))]);
        items::rows(self.documents(), DEVICES, None, query, limits::NOTIFICATION_PURGE_MAX).await
    }
}
