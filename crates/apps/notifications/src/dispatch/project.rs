//! Writes the notification as decided: the same item on every repetition, and never an older text over a
//! newer one.

use super::{Dispatcher, StepError};
use crate::limits;
use crate::records::{Decision, Ending, Event, Notification, Says};
use crate::service::Tagged;
use crate::service::containers::NOTIFICATIONS;
use crate::service::items;
use orrery_core::Timestamp;
use orrery_kit::ports::documents::{StoreError, Write};

impl Dispatcher {
    /// The charge.
    pub(super) async fn project(&self, event: &Event) -> Result<f64, StepError> {
        orrery_core::tour_step!();
        let (Some(decision), Some(id)) = (&event.decision, &event.notification_id) else { return Ok(0.0) };
        let Some(says) = &decision.says else { return Ok(0.0) };
        let fresh = fresh(event, id, decision, says, self.service.now());
        let charge = self.write_notification(fresh, decision.ending == Ending::Deduplicated).await?;
        self.service.changed(&event.user_id);
        Ok(charge)
    }

    /// An event that joins an aggregate probably finds the notification; any other does not.
    async fn write_notification(&self, fresh: Notification, is_joining: bool) -> Result<f64, StepError> {
        let documents = self.service.documents();
        let user = fresh.user_id.clone();
        let mut is_likely_there = is_joining;
        for _ in 0..limits::NOTIFICATION_CHANGE_TRIES_MAX {
            let present: Option<Tagged<Notification>> = if is_likely_there {
                items::find(documents, NOTIFICATIONS, &user, &fresh.id).await?
            } else {
                None
            };
            let write = match present {
                None => Write::Create(items::value(&fresh)?),
                Some(present) if present.value.version >= fresh.version => return Ok(present.charge),
                Some(present) => items::put(items::value(&renewed(present.value, &fresh))?, &present.etag),
            };
            match documents.write(NOTIFICATIONS, &user, write).await {
                Ok(item) => return Ok(item.map_or(0.0, |item| item.charge)),
                Err(StoreError::Conflict | StoreError::Changed | StoreError::Missing) => {
                    is_likely_there = true
                }
                Err(error) => return Err(error.into()),
            }
        }
        Err(StepError::Store(StoreError::Busy { after: None }))
    }
}

fn fresh(event: &Event, id: &str, decision: &Decision, says: &Says, now: Timestamp) -> Notification {
    Notification {
        id: id.to_owned(),
        user_id: event.user_id.clone(),
        category: event.category,
        event_type: event.event_type.clone(),
        title: says.title.clone(),
        body: says.body.clone(),
        deeplink: says.deeplink.clone(),
        target_id: Some(event.payload.target_id.clone()),
        target_type: Some(event.payload.target_type),
        read: false,
        read_at: None,
        dismissed: false,
        dismissed_at: None,
        created_at: decision.at.clone(),
        count: says.count,
        version: says.version,
        ttl: items::ttl(&decision.at, now),
    }
}

/// Updates a notification: unread and visible again, at the top (C-41).
fn renewed(present: Notification, fresh: &Notification) -> Notification {
    Notification {
        title: fresh.title.clone(),
        body: fresh.body.clone(),
        deeplink: fresh.deeplink.clone(),
        read: false,
        read_at: None,
        dismissed: false,
        dismissed_at: None,
        created_at: present.created_at.max(fresh.created_at.clone()),
        count: fresh.count,
        version: fresh.version,
        ttl: fresh.ttl,
        ..present
    }
}

#[cfg(test)]
mod tests {
    use super::super::decide::tests::event;
    use super::*;

    #[test]
    fn an_updated_notification_moves_to_the_top() {
        let says = |title: &str, version| Says {
            title: title.to_owned(),
            body: String::new(),
            deeplink: "asora://post/1".to_owned(),
            count: version,
            version,
        };
        let decided = |at: &str| Decision { ending: Ending::Push, at: at.to_owned(), says: None };
        let made = |at: &str, title: &str, version| {
            fresh(
                &event(),
                "n-1",
                &decided(at),
                &says(title, version),
                Timestamp::from_seconds(1_800_000_000),
            )
        };
        let mut seen = made("2026-11-15T10:00:00.000Z", "A liked it", 1);
        seen.read = true;
        seen.read_at = Some("2026-11-15T10:00:30.000Z".to_owned());
        seen.dismissed = true;
        let news = made("2026-11-15T10:01:00.000Z", "A and 1 other liked it", 2);
        assert_eq!(renewed(seen, &news), news);
    }
}
