//! Marks notifications as read or dismissed, one or all; a mark keeps its first time (S2-21).

use super::containers::NOTIFICATIONS;
use super::counters::Step;
use super::items::{self, Tagged};
use super::outbox::{self, OutboxEvent};
use super::{Notifications, ServiceError};
use crate::limits;
use crate::records::Notification;
use orrery_core::Timestamp;
use orrery_kit::ports::documents::{StoreError, Write};
use orrery_kit::time;
use serde_json::{Value, json};

#[derive(Clone, Copy)]
enum Mark {
    Read,
    Dismissed,
}

impl Mark {
    /// Sets the mark; false if it was set already.
    fn set(self, notification: &mut Notification, at: &str) -> bool {
        let (mark, since) = match self {
            Self::Read => (&mut notification.read, &mut notification.read_at),
            Self::Dismissed => (&mut notification.dismissed, &mut notification.dismissed_at),
        };
        if *mark {
            return false;
        }
        *mark = true;
        *since = Some(at.to_owned());
        true
    }

    fn kind(self) -> &'static str {
        match self {
            Self::Read => "notification.read",
            Self::Dismissed => "notification.dismissed",
        }
    }
}

impl Notifications {
    pub async fn read(
        &self,
        user: &str,
        id: &str,
        if_match: Option<&str>,
    ) -> Result<Tagged<Notification>, ServiceError> {
        self.mark(user, id, Mark::Read, if_match).await
    }

    pub async fn dismiss(
        &self,
        user: &str,
        id: &str,
        if_match: Option<&str>,
    ) -> Result<Tagged<Notification>, ServiceError> {
        self.mark(user, id, Mark::Dismissed, if_match).await
    }

    /// Marks the unread notifications that existed at `before`, or now; returns their number. Later
    /// arrivals stay unread.
    pub async fn read_all(&self, user: &str, before: Option<&str>) -> Result<u64, ServiceError> {
        self.ensure().await?;
        let before = match before {
            None => self.now(),
            Some(text) => time::parse(text).ok_or_else(|| ServiceError::Invalid {
                member: "before".to_owned(),
                reason: "is no time; give one such as 2026-11-15T10:00:00.000Z".to_owned(),
            })?,
        };
        let text = "SELECT * FROM c WHERE c.userId = @userId AND c.dismissed = false AND c.read = false \
                    AND c.createdAt <= @before";
        let mut marked = 0;
        for _ in 0..limits::NOTIFICATION_PASSES_MAX {
            let mut query =
                items::query(text, &[("userId", json!(user)), ("before", json!(time::format(before)))]);
            query.items_max = limits::NOTIFICATION_BATCH_MAX;
            let max = limits::NOTIFICATION_BATCH_MAX;
            let rows = items::rows(self.documents(), NOTIFICATIONS, Some(user), query, max).await?;
            if rows.is_empty() {
                break;
            }
            for rows in rows.chunks(limits::NOTIFICATION_BATCH_MAX) {
                marked += self.read_some(user, rows).await?;
            }
        }
        Ok(marked)
    }

    /// All in one batch; if one of them changed meanwhile, individually.
    async fn read_some(&self, user: &str, rows: &[Value]) -> Result<u64, ServiceError> {
        let now = self.now();
        let at = time::format(now);
        let (mut writes, mut published, mut ids) = (Vec::new(), Vec::new(), Vec::new());
        for row in rows {
            let Tagged { value: mut notification, etag, .. } = Tagged::<Notification>::of_row(row)?;
            Mark::Read.set(&mut notification, &at);
            notification.ttl = items::ttl(&notification.created_at, now);
            published.push(happened(&notification, Mark::Read, now));
            writes.push(items::put(items::value(&notification)?, &etag));
            ids.push(notification.id);
        }
        writes.push(outbox::item(user, &format!("read-all:{}", self.env().guid()), 0, &published));
        match self.documents().batch(NOTIFICATIONS, user, writes).await {
            Ok(_) => self.changed(user),
            Err(StoreError::Changed | StoreError::Missing) => {
                for id in &ids {
                    match self.read(user, id, None).await {
                        Ok(_) | Err(ServiceError::Missing(_)) => {}
                        Err(error) => return Err(error),
                    }
                }
            }
            Err(error) => return Err(error.into()),
        }
        Ok(ids.len() as u64)
    }

    async fn mark(
        &self,
        user: &str,
        id: &str,
        mark: Mark,
        if_match: Option<&str>,
    ) -> Result<Tagged<Notification>, ServiceError> {
        self.ensure().await?;
        for _ in 0..limits::NOTIFICATION_CHANGE_TRIES_MAX {
            let found = items::find(self.documents(), NOTIFICATIONS, user, id).await?;
            let mut found: Tagged<Notification> = found.ok_or_else(|| missing(id))?;
            if if_match.is_some_and(|wanted| wanted != found.etag && wanted != "*") {
                let current = Box::new(items::value(&found.value)?);
                return Err(ServiceError::Changed { current, etag: found.etag });
            }
            let now = self.now();
            if !mark.set(&mut found.value, &time::format(now)) {
                return Ok(found);
            }
            found.value.ttl = items::ttl(&found.value.created_at, now);
            match self.documents().batch(NOTIFICATIONS, user, self.marked(&found, mark, now)?).await {
                Ok(items) => {
                    self.changed(user);
                    let item = items.into_iter().next().flatten().ok_or_else(|| missing(id))?;
                    self.counters().spent(Step::Mark, item.charge);
                    return Ok(Tagged::of(item)?);
                }
                Err(StoreError::Changed) => {}
                Err(StoreError::Missing) => return Err(missing(id)),
                Err(error) => return Err(error.into()),
            }
        }
        Err(ServiceError::Busy { after: None })
    }

    fn marked(
        &self,
        found: &Tagged<Notification>,
        mark: Mark,
        now: Timestamp,
    ) -> Result<Vec<Write>, StoreError> {
        let user = &found.value.user_id;
        let published = [happened(&found.value, mark, now)];
        let of = format!("{}:{}", found.value.id, self.env().guid());
        Ok(vec![items::put(items::value(&found.value)?, &found.etag), outbox::item(user, &of, 0, &published)])
    }
}

fn happened(notification: &Notification, mark: Mark, at: Timestamp) -> OutboxEvent {
    let data = json!({"notificationId": notification.id, "category": notification.category});
    OutboxEvent { kind: mark.kind(), subject: notification.id.clone(), at, data }
}

fn missing(id: &str) -> ServiceError {
    ServiceError::Missing(format!("There is no notification {id:?}; notifications are kept for 30 days."))
}
