//! Finishes an event: writes its end and the outbox events in one batch, under the etag that came with the
//! lease.
//!
//! A worker that was overtaken holds an old etag and changes nothing. If the event itself is gone, its user
//! was erased meanwhile, and the notification written for it is deleted too.

use super::claim::HeldEvent;
use super::end::{DELIVERED, End};
use super::{Dispatcher, StepError};
use crate::limits;
use crate::records::{Attempt, Ending, Event, Status};
use crate::service::containers::{EVENTS, NOTIFICATIONS};
use crate::service::items;
use crate::service::outbox::{self, OutboxEvent};
use crate::service::tombstone::is_erased;
use orrery_core::Timestamp;
use orrery_kit::ports::documents::StoreError;
use orrery_kit::time;
use serde_json::json;
use std::time::Duration;

impl Dispatcher {
    pub(super) async fn finish(&self, held: HeldEvent, end: &End) -> Result<f64, StepError> {
        orrery_core::tour_step!();
        self.reach("notify.finish.before")?;
        let now = self.service.now();
        let backoff = &self.service.policy().backoff;
        let event = end.apply(held.event, now, backoff, self.service.env().random_u64());
        let published = published(held.is_unprojected, &held.tried, &event, now);
        let charge = self.write_end(&event, &held.etag, &published).await?;
        self.count_end(end, &event, now);
        self.reach("notify.finish.after")?;
        Ok(charge)
    }

    /// Repeats while the store does not respond, because a push that is not recorded would be sent
    /// again. If the first write succeeded after all, the repetition finds another etag and counts as
    /// lost.
    async fn write_end(
        &self,
        event: &Event,
        etag: &str,
        published: &[OutboxEvent],
    ) -> Result<f64, StepError> {
        let mut wait = Duration::from_millis(20);
        for tries_left in (0..limits::NOTIFICATION_FINISH_TRIES_MAX).rev() {
            let mut writes = vec![items::put(items::value(event)?, etag)];
            if !published.is_empty() {
                writes.push(outbox::item(&event.user_id, &event.id, event.lease_epoch, published));
            }
            match self.write_events(&event.user_id, writes).await {
                Ok((_, charge)) => return Ok(charge),
                Err(StoreError::Changed | StoreError::Conflict) => return Err(StepError::Lost),
                Err(StoreError::Missing) => {
                    self.forget_if_erased(event).await?;
                    return Err(StepError::Lost);
                }
                Err(StoreError::Busy { .. } | StoreError::Unavailable(_)) if tries_left > 0 => {
                    tokio::time::sleep(wait).await;
                    wait *= 4;
                }
                Err(error) => return Err(error.into()),
            }
        }
        Err(StepError::Lost)
    }

    /// Drops the event of an erased user, and the notification that it may have led to.
    pub(super) async fn drop_erased(&self, event: &Event) -> Result<(), StepError> {
        self.delete(NOTIFICATIONS, &event.user_id, event.notification_id.as_deref()).await?;
        self.delete(EVENTS, &event.user_id, Some(&event.id)).await?;
        self.service.counters().dropped.one();
        Ok(())
    }

    async fn forget_if_erased(&self, event: &Event) -> Result<(), StepError> {
        if is_erased(self.service.documents(), &event.user_id).await? {
            self.delete(NOTIFICATIONS, &event.user_id, event.notification_id.as_deref()).await?;
        }
        Ok(())
    }

    async fn delete(&self, container: &str, user: &str, id: Option<&str>) -> Result<(), StoreError> {
        let Some(id) = id else { return Ok(()) };
        items::delete(self.service.documents(), container, user, id, None).await.map(drop)
    }

    fn count_end(&self, end: &End, event: &Event, now: Timestamp) {
        let counters = self.service.counters();
        match end {
            End::Completed(DELIVERED) => counters.delivered.one(),
            End::Completed("suppressed_category") => counters.suppressed.one(),
            End::Completed("no_devices") => counters.no_devices.one(),
            End::Completed(_) => counters.inapp_only.one(),
            End::RateLimited => counters.rate_limited.one(),
            End::Deduplicated => counters.deduplicated.one(),
            End::Deferred { .. } | End::Misconfigured { .. } => counters.deferred.one(),
            End::Failed { .. } | End::Refused { .. } if event.dead_lettered_at.is_some() => {
                counters.dead_lettered.one();
            }
            End::Failed { .. } | End::Refused { .. } => counters.failed.one(),
        }
        if event.processed_at.is_some()
            && let Some(created) = time::parse(&event.created_at)
        {
            counters.ended(now.abs_diff(created));
        }
    }
}

/// The outbox events of this pass: a new or changed notification, pushes, and a dead-lettered event.
fn published(was_unprojected: bool, tried: &[Attempt], event: &Event, now: Timestamp) -> Vec<OutboxEvent> {
    let mut published = Vec::new();
    let ending = event.decision.as_ref().map(|decision| decision.ending);
    if let (true, Some(id), Some(ending)) = (was_unprojected, &event.notification_id, ending) {
        let kind =
            if ending == Ending::Deduplicated { "notification.updated" } else { "notification.created" };
        let data = json!({"notificationId": id, "eventId": event.id, "category": event.category});
        published.push(OutboxEvent { kind, subject: id.clone(), at: now, data });
    }
    for attempt in tried {
        let kind = if attempt.result == DELIVERED { "push.delivered" } else { "push.failed" };
        let data = json!({
            "notificationId": event.notification_id, "deviceId": attempt.device_id, "platform": attempt.platform,
            "result": attempt.result, "status": attempt.status,
        });
        published.push(OutboxEvent { kind, subject: event.id.clone(), at: now, data });
    }
    if event.status == Status::Failed && event.dead_lettered_at.is_some() {
        let data = json!({"eventId": event.id, "eventType": event.event_type, "reason": event.last_error});
        published.push(OutboxEvent { kind: "event.deadlettered", subject: event.id.clone(), at: now, data });
    }
    published
}
