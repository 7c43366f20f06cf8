//! The hourly sweep: dead-letters undeliverable events a day before they expire, so that none goes unnoticed
//! (C-36), and deletes old outbox items of devices, since their container has no expiry.

use super::containers::EVENTS;
use super::items::{self, before};
use super::{Notifications, ServiceError};
use crate::limits;
use crate::records::{Event, Status};
use orrery_kit::time;
use serde::Deserialize as _;
use serde_json::{Value, json};
use std::time::Duration;

const TOO_OLD: &str = "It could not be delivered before its end: events are kept for 30 days.";

impl Notifications {
    /// Runs both. Returns the number of dead-lettered events.
    pub async fn sweep(&self) -> Result<u64, ServiceError> {
        let swept = self.sweep_events().await?;
        self.purge_outbox().await?;
        Ok(swept)
    }

    /// Returns the number of dead-lettered events.
    pub async fn sweep_events(&self) -> Result<u64, ServiceError> {
        self.ensure().await?;
        let oldest = before(self.now(), Duration::from_secs(limits::NOTIFICATION_UNDELIVERED_SECONDS_MAX));
        let text = "SELECT * FROM c WHERE c.createdAt < @oldest AND (c.status IN ('PENDING', 'PROCESSING') \
                    OR (c.status = 'FAILED' AND c.retryCount < 5))";
        let query = items::query(text, &[("oldest", json!(time::format(oldest)))]);
        let rows = items::rows(self.documents(), EVENTS, None, query, limits::NOTIFICATION_PURGE_MAX).await?;
        let mut swept = 0;
        for row in rows {
            swept += u64::from(self.sweep_event(row).await?);
        }
        Ok(swept)
    }

    /// An event held by a worker, or changed since, is left for the next sweep.
    async fn sweep_event(&self, row: Value) -> Result<bool, ServiceError> {
        let Ok(event) = Event::deserialize(&row) else { return Ok(false) };
        let lease = event.lease_until.as_deref().and_then(time::parse);
        if event.status == Status::Processing && lease.is_some_and(|until| until >= self.now()) {
            return Ok(false);
        }
        let etag = row["_etag"].as_str().unwrap_or_default().to_owned();
        Ok(self.dead_letter(row, &etag, TOO_OLD).await?)
    }
}
