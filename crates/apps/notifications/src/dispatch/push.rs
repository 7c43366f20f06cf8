//! Pushes to each device that does not have the notification yet, outside quiet hours, and never to an erased
//! user.

use super::claim::HeldEvent;
use super::decide::release;
use super::end::{DELIVERED, End, PushResult, trim, verdict};
use super::{Dispatcher, StepError};
use crate::policy::Release;
use crate::push::{Message, Outcome};
use crate::records::{Device, Event, Notification};
use crate::service::containers::NOTIFICATIONS;
use crate::service::tombstone::is_erased;
use crate::service::{Revoked, active_devices, items};
use orrery_kit::ports::documents::StoreError;
use orrery_kit::time;
use std::sync::Arc;
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout_at};

/// The result of pushing.
pub(super) enum Pushed {
    Ended(End),
    /// The user is erased: nothing was sent.
    Erased,
}

impl Dispatcher {
    pub(super) async fn push(&self, held: &mut HeldEvent) -> Result<Pushed, StepError> {
        orrery_core::tour_step!();
        let user = held.event.user_id.clone();
        let preferences = match held.preferences.take() {
            Some(preferences) => preferences,
            None => self.preferences(&user).await?,
        };
        match release(&preferences, &held.event, self.service.now()) {
            Release::At(until) => return Ok(Pushed::Ended(End::Deferred { until, reason: "quiet_hours" })),
            Release::Never => return Ok(Pushed::Ended(End::Completed("inapp_only"))),
            Release::Now => {}
        }
        let documents = self.service.documents();
        let (devices, message) = tokio::try_join!(active_devices(documents, &user), self.message(held))?;
        // Checked last, right before sending.
        if is_erased(documents, &user).await? {
            return Ok(Pushed::Erased);
        }
        let active = devices.len();
        let devices = devices.into_iter().map(|found| found.value);
        let waiting: Vec<Device> = devices.filter(|device| !has_it(&held.event, device)).collect();
        let tried = self.send(waiting, message, held.pushed_by).await;
        self.reach("notify.push.after")?;
        self.note(held, &tried);
        self.revoke_gone(&user, &tried).await;
        Ok(Pushed::Ended(verdict(&held.event, active, &tried, self.service.now())))
    }

    /// The notification's current text if the event is processed again: others may have joined it
    /// since.
    async fn message(&self, held: &HeldEvent) -> Result<Message, StoreError> {
        let event = &held.event;
        let id = event.notification_id.clone().unwrap_or_else(|| event.id.clone());
        let says = event.decision.as_ref().and_then(|decision| decision.says.clone());
        let mut texts = says.map(|says| (says.title, says.body, says.deeplink)).unwrap_or_default();
        if !held.is_unprojected {
            let found = items::find(self.service.documents(), NOTIFICATIONS, &event.user_id, &id).await?;
            if let Some(Notification { title, body, deeplink, .. }) = found.map(|found| found.value) {
                texts = (title, body, deeplink);
            }
        }
        let (title, body, deeplink) = texts;
        Ok(Message {
            collapse_id: id.clone(),
            notification_id: id,
            title,
            body,
            deeplink,
            category: event.category,
            event_type: event.event_type.clone(),
        })
    }

    /// All devices concurrently, within the lease: after it, another worker may be pushing.
    async fn send(&self, devices: Vec<Device>, message: Message, until: Instant) -> Vec<PushResult> {
        let message = Arc::new(message);
        let mut tasks = JoinSet::new();
        let is_one = devices.len() == 1;
        let mut tried = Vec::new();
        for device in devices {
            let (service, message) = (self.service.clone(), message.clone());
            let sent = async move {
                let outcome = in_time(until, service.providers().push(&device, &message)).await;
                PushResult { at: time::format(service.now()), device, outcome }
            };
            if is_one {
                tried.push(sent.await);
            } else {
                tasks.spawn(sent);
            }
        }
        tried.extend(tasks.join_all().await);
        tried
    }

    fn note(&self, held: &mut HeldEvent, tried: &[PushResult]) {
        let delivered = tried.iter().filter(|one| matches!(one.outcome, Outcome::Delivered)).count();
        self.service.counters().pushed.add(delivered as u64);
        held.tried = tried.iter().map(PushResult::attempt).collect();
        held.event.attempts.extend(held.tried.iter().cloned());
        trim(&mut held.event.attempts);
    }

    /// Revokes an invalid token (S2-79). If the store refuses the write now, the next push finds it out
    /// again.
    async fn revoke_gone(&self, user: &str, tried: &[PushResult]) {
        for one in tried.iter().filter(|one| matches!(one.outcome, Outcome::Unregistered { .. })) {
            let token = Some(one.device.push_token.as_str());
            if let Err(error) = self.service.revoke_for(user, &one.device.id, Revoked::Invalid, token).await {
                tracing::warn!(user, device = one.device.id, %error, "a device that is gone could not be revoked");
            }
        }
    }
}

async fn in_time(until: Instant, push: impl Future<Output = Outcome>) -> Outcome {
    match timeout_at(until, push).await {
        Ok(outcome) => outcome,
        Err(_) => {
            let reason = "there was no answer while the event was held".to_owned();
            Outcome::Later { after: None, reason, status: None, may_have_arrived: true }
        }
    }
}

/// Whether a success was recorded: then the device gets no second push (K6).
fn has_it(event: &Event, device: &Device) -> bool {
    event.attempts.iter().any(|one| one.device_id == device.id && one.result == DELIVERED)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    /// S2-73: a silent provider is abandoned before another worker can take the event.
    #[tokio::test]
    async fn a_push_ends_before_the_lease_does() {
        let soon = Instant::now() + Duration::from_millis(10);
        let outcome = in_time(soon, std::future::pending()).await;
        assert!(matches!(outcome, Outcome::Later { after: None, .. }), "{outcome:?}");
        assert_eq!(in_time(soon, async { Outcome::Delivered }).await, Outcome::Delivered);
    }
}
