//! Operations on one event: read with its attempts, cancel, queue again.

use super::containers::EVENTS;
use super::items::{self, Tagged};
use super::{Notifications, ServiceError};
use crate::limits;
use crate::records::{Event, Status};
use orrery_kit::ports::documents::StoreError;
use serde_json::{Value, json};

impl Notifications {
    pub async fn event(&self, user: &str, id: &str) -> Result<Tagged<Event>, ServiceError> {
        self.ensure().await?;
        let found = items::find(self.documents(), EVENTS, user, id).await?;
        found.ok_or_else(|| missing(id))
    }

    /// For callers who do not know its user: queries all partitions.
    pub async fn find_event(&self, id: &str) -> Result<Tagged<Event>, ServiceError> {
        self.ensure().await?;
        let text = "SELECT * FROM c WHERE c.id = @id AND IS_DEFINED(c.eventType)";
        let query = items::query(text, &[("id", json!(id))]);
        let rows = items::rows(self.documents(), EVENTS, None, query, 1).await?;
        let found = rows.into_iter().next().ok_or_else(|| missing(id))?;
        Ok(Tagged::of_row(&found)?)
    }

    /// Events of a user, or of all users, in the store's order; optionally of one status.
    pub async fn events(
        &self,
        user: Option<&str>,
        status: Option<Status>,
        limit: usize,
        continuation: Option<String>,
    ) -> Result<(Vec<Value>, Option<String>), ServiceError> {
        self.ensure().await?;
        let wanted = status.map_or("", |_| " AND c.status = @status");
        let text = format!("SELECT * FROM c WHERE IS_DEFINED(c.eventType){wanted}");
        let parameters: Vec<(&str, Value)> =
            status.map(|status| ("status", json!(status))).into_iter().collect();
        let mut query = items::query(text, &parameters);
        query.items_max = limit.clamp(1, limits::NOTIFICATION_LIST_MAX);
        query.continuation = continuation;
        let page = self.documents().query(EVENTS, user, &query).await;
        let page = page.map_err(|error| ServiceError::of_page(error, query.continuation.as_deref()))?;
        Ok((page.rows, page.continuation))
    }

    /// Ends a waiting event: COMPLETED with the outcome `cancelled`, as the seed has no status for it.
    /// A notification already in the in-app centre, as during quiet hours, stays there.
    pub async fn cancel(&self, user: &str, id: &str) -> Result<Tagged<Event>, ServiceError> {
        let now = self.stamp();
        let cancelled = self
            .change_event(user, id, |event| {
                if event.status != Status::Pending {
                    let is = event.status.name();
                    return Err(format!("The event is {is}; only one that is PENDING can be cancelled."));
                }
                event.status = Status::Completed;
                event.outcome = Some("cancelled".to_owned());
                event.processed_at = Some(now.clone());
                event.next_retry_at = None;
                event.defer_reason = None;
                Ok(())
            })
            .await?;
        self.counters().cancelled.one();
        Ok(cancelled)
    }

    /// Restarts a dead-lettered event. Devices that have it already do not get it again.
    pub async fn requeue(&self, user: &str, id: &str) -> Result<Tagged<Event>, ServiceError> {
        let queued = self
            .change_event(user, id, |event| {
                if event.dead_lettered_at.take().is_none() {
                    let is = event.status.name();
                    return Err(format!(
                        "The event is {is}; only one that was dead-lettered can be queued again."
                    ));
                }
                event.status = Status::Pending;
                event.retry_count = 0;
                event.next_retry_at = None;
                event.processed_at = None;
                event.outcome = None;
                Ok(())
            })
            .await?;
        self.wake();
        Ok(queued)
    }

    /// Reads, changes and writes it, and retries if another writer came between. An error of `change`
    /// is a conflict.
    async fn change_event(
        &self,
        user: &str,
        id: &str,
        change: impl Fn(&mut Event) -> Result<(), String>,
    ) -> Result<Tagged<Event>, ServiceError> {
        for _ in 0..limits::NOTIFICATION_CHANGE_TRIES_MAX {
            let mut found = self.event(user, id).await?;
            change(&mut found.value).map_err(ServiceError::Conflict)?;
            found.value.ttl = items::ttl(&found.value.created_at, self.now());
            let write = items::put(items::value(&found.value)?, &found.etag);
            match self.documents().write(EVENTS, user, write).await {
                Ok(Some(item)) => return Ok(Tagged::of(item)?),
                Ok(None) | Err(StoreError::Missing) => return Err(missing(id)),
                Err(StoreError::Changed) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(ServiceError::Busy { after: None })
    }
}

fn missing(id: &str) -> ServiceError {
    ServiceError::Missing(format!("There is no event {id:?}; events are kept for 30 days."))
}
