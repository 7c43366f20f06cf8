//! Events that nobody could deliver are dead-lettered a day before they expire, so that none goes unnoticed (C-36).

use super::containers::EVENTS;
use super::items::{self, Tagged, before};
use super::outbox::{self, Told};
use super::{Notifications, ServiceError};
use crate::records::{Event, Status};
use orrery_core::limits;
use orrery_kit::port::StoreError;
use orrery_kit::time;
use serde_json::{Value, json};
use std::time::Duration;

const TOO_OLD: &str = "It could not be delivered before its end: events are kept for 30 days.";

impl Notifications {
    /// Gives how many.
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

    /// One that somebody works on, or that changed since, is left for the next time.
    async fn sweep_event(&self, row: Value) -> Result<bool, ServiceError> {
        let now = self.now();
        let etag = row["_etag"].as_str().unwrap_or_default().to_owned();
        let Ok(event) = items::record::<Event>(row) else { return Ok(false) };
        let lease = event.lease_until.as_deref().and_then(time::parse);
        if event.status == Status::Processing && lease.is_some_and(|until| until >= now) {
            return Ok(false);
        }
        let dead = Tagged { value: event, etag, charge: 0.0 };
        Ok(self.dead_letter(dead, TOO_OLD).await?)
    }

    /// Gives an event up as it was read. False if it changed meanwhile.
    pub(crate) async fn dead_letter(&self, found: Tagged<Event>, reason: &str) -> Result<bool, StoreError> {
        let now = self.now();
        let mut event = found.value;
        event.status = Status::Failed;
        event.retry_count = limits::NOTIFICATION_RETRIES_MAX as u32;
        event.dead_lettered_at = Some(time::format(now));
        event.last_error = Some(reason.to_owned());
        event.next_retry_at = None;
        event.lease_owner = None;
        event.lease_until = None;
        event.lease_epoch += 1;
        event.ttl = items::ttl(&event.created_at, now);
        let data = json!({"eventId": event.id, "eventType": event.event_type, "reason": reason});
        let told = [Told { kind: "event.deadlettered", subject: event.id.clone(), at: now, data }];
        let writes = vec![
            items::put(items::value(&event)?, &found.etag),
            outbox::item(&event.user_id, &event.id, event.lease_epoch, &told),
        ];
        match self.documents().batch(EVENTS, &event.user_id, writes).await {
            Ok(_) => {
                self.counters().dead_lettered.one();
                Ok(true)
            }
            Err(StoreError::Changed | StoreError::Missing | StoreError::Conflict) => Ok(false),
            Err(error) => Err(error),
        }
    }
}
