//! The end of an event and what the world is told of it, in one batch under the tag that came with the lease.
//!
//! A worker that was overtaken holds an old tag, and changes nothing. If the event itself is gone, its user was erased
//! meanwhile, and so goes the notification that was written.

use super::claim::HeldEvent;
use super::end::{DELIVERED, End};
use super::{Dispatcher, StepError};
use crate::limits;
use crate::records::{Attempt, Ending, Event, Status};
use crate::service::containers::{EVENTS, NOTIFICATIONS};
use crate::service::items;
use crate::service::outbox::{self, Told};
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
        let told = told(held.is_unprojected, &held.tried, &event, now);
        let charge = self.write_end(&event, &held.etag, &told).await?;
        self.count_end(end, &event, now);
        self.reach("notify.finish.after")?;
        Ok(charge)
    }

    /// Again while the store does not answer: what was pushed should not be pushed again for want of a note. A repeat of
    /// what was written after all finds another tag, and is as good as lost.
    async fn write_end(&self, event: &Event, etag: &str, told: &[Told]) -> Result<f64, StepError> {
        let mut wait = Duration::from_millis(20);
        for tries_left in (0..limits::NOTIFICATION_FINISH_TRIES_MAX).rev() {
            let mut writes = vec![items::put(items::value(event)?, etag)];
            if !told.is_empty() {
                writes.push(outbox::item(&event.user_id, &event.id, event.lease_epoch, told));
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

    /// The event of a user who is erased, and the notification that it may have led to.
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

/// What this pass did: a notification that came or changed, pushes, and an event that was given up.
fn told(was_unprojected: bool, tried: &[Attempt], event: &Event, now: Timestamp) -> Vec<Told> {
    let mut told = Vec::new();
    let ending = event.decision.as_ref().map(|decision| decision.ending);
    if let (true, Some(id), Some(ending)) = (was_unprojected, &event.notification_id, ending) {
        let kind =
            if ending == Ending::Deduplicated { "notification.updated" } else { "notification.created" };
        let data = json!({"notificationId": id, "eventId": event.id, "category": event.category});
        told.push(Told { kind, subject: id.clone(), at: now, data });
    }
    for attempt in tried {
        let kind = if attempt.result == DELIVERED { "push.delivered" } else { "push.failed" };
        let data = json!({
            "notificationId": event.notification_id, "deviceId": attempt.device_id, "platform": attempt.platform,
            "result": attempt.result, "status": attempt.status,
        });
        told.push(Told { kind, subject: event.id.clone(), at: now, data });
    }
    if event.status == Status::Failed && event.dead_lettered_at.is_some() {
        let data = json!({"eventId": event.id, "eventType": event.event_type, "reason": event.last_error});
        told.push(Told { kind: "event.deadlettered", subject: event.id.clone(), at: now, data });
    }
    told
}
