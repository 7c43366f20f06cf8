//! Accepts events: each is stored before the response (K1), one per user.
//!
//! Whether the user is erased is checked after the event is stored, and then it is deleted again: either the
//! erasure finds the event, or it began before this check. A scheduled event, which might go unnoticed for
//! weeks, is not stored at all for a user known to be erased.

use super::containers::EVENTS;
use super::counters::Step;
use super::items::{self, Tagged};
use super::{Notifications, ServiceError, tombstone};
use crate::limits;
use crate::policy::check::{self, Enqueue};
use crate::records::{Event, Status};
use orrery_core::Guid;
use orrery_kit::ports::documents::{StoreError, Write};
use orrery_kit::{failpoint, time};
use serde::Serialize;
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::sync::Arc;
use tokio::task::JoinSet;

/// The result for one user's event.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Accepted {
    pub user_id: String,
    /// None if nothing was stored.
    pub id: Option<String>,
    /// The event's status, `dropped`, or `unavailable` if the store did not accept it and it must be
    /// sent again.
    pub status: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl Notifications {
    /// Creates one event for each user of the request. A repeat with the same key creates nothing,
    /// because ids derive from keys. The key must be unique to the caller, so prefix it with the
    /// caller's name.
    pub async fn enqueue(&self, body: &Value, key: Option<&str>) -> Result<Vec<Accepted>, ServiceError> {
        orrery_core::tour_step!();
        let request = Arc::new(check::enqueue(self.registry(), body, self.now())?);
        self.ensure().await?;
        let taken = self.enqueue_all(&request, key).await;
        failpoint::hit("notify.enqueue.after");
        self.wake();
        let mut errors = taken.iter().filter_map(|(_, result)| result.as_ref().err());
        if let (Some(error), true) = (errors.next_back(), taken.iter().all(|(_, result)| result.is_err())) {
            return Err(error.clone());
        }
        taken.into_iter().map(|(user, result)| accepted(user, result)).collect()
    }

    /// In the order of the request.
    async fn enqueue_all(
        &self,
        request: &Arc<Enqueue>,
        key: Option<&str>,
    ) -> Vec<(String, Result<Accepted, ServiceError>)> {
        if let [user] = request.users.as_slice() {
            return vec![(user.clone(), self.enqueue_one(request, user, key).await)];
        }
        let mut tasks = JoinSet::new();
        for (at, user) in request.users.iter().enumerate() {
            let (this, request, user, key) =
                (self.clone(), request.clone(), user.clone(), key.map(str::to_owned));
            tasks.spawn(async move {
                let result = this.enqueue_one(&request, &user, key.as_deref()).await;
                (at, user, result)
            });
        }
        let mut taken = tasks.join_all().await;
        taken.sort_by_key(|(at, _, _)| *at);
        taken.into_iter().map(|(_, user, result)| (user, result)).collect()
    }

    async fn enqueue_one(
        &self,
        request: &Enqueue,
        user: &str,
        key: Option<&str>,
    ) -> Result<Accepted, ServiceError> {
        orrery_core::tour_step!();
        if request.scheduled_at.is_some() && tombstone::is_erased(self.documents(), user).await? {
            return Ok(self.dropped(user));
        }
        let event = self.new_event(request, user, key);
        let write = Write::Create(items::value(&event)?);
        let (accepted, is_new) = match self.documents().write(EVENTS, user, write).await {
            Ok(item) => {
                self.counters().spent(Step::Enqueue, item.map_or(0.0, |item| item.charge));
                (stored(&event), true)
            }
            // An earlier request with this key; or, without a key, this request, whose response was
            // lost.
            Err(StoreError::Conflict) => (self.repeated(&event).await?, false),
            Err(error) => return Err(error.into()),
        };
        failpoint::hit("notify.enqueue.stored");
        if tombstone::is_erased(self.documents(), user).await? {
            // The erasure may have been faster, or a worker that found the tombstone.
            items::delete(self.documents(), EVENTS, user, &event.id, None).await?;
            return Ok(self.dropped(user));
        }
        if is_new {
            self.counters().enqueued.one();
        }
        Ok(accepted)
    }

    fn dropped(&self, user: &str) -> Accepted {
        self.counters().dropped.one();
        Accepted {
            user_id: user.to_owned(),
            id: None,
            status: "dropped".to_owned(),
            reason: Some("user_erased".to_owned()),
        }
    }

    fn new_event(&self, request: &Enqueue, user: &str, key: Option<&str>) -> Event {
        let created_at = self.stamp();
        Event {
            id: key.map_or_else(|| self.env().guid(), |key| id_of(key, user)),
            user_id: user.to_owned(),
            event_type: request.event_type.clone(),
            category: request.category,
            payload: request.payload.clone(),
            status: Status::Pending,
            retry_count: 0,
            next_retry_at: request.scheduled_at.map(time::format),
            last_error: None,
            dedupe_key: request.dedupe_key.clone(),
            created_at,
            processed_at: None,
            lease_owner: None,
            lease_until: None,
            lease_epoch: 0,
            outcome: None,
            defer_reason: request.scheduled_at.map(|_| "scheduled".to_owned()),
            dead_lettered_at: None,
            notification_id: None,
            unprojected: false,
            decision: None,
            attempts: Vec::new(),
            ttl: limits::NOTIFICATION_KEPT_SECONDS,
        }
    }

    /// The event that an earlier request with this key created.
    async fn repeated(&self, event: &Event) -> Result<Accepted, ServiceError> {
        let found = items::find(self.documents(), EVENTS, &event.user_id, &event.id).await?;
        let earlier: Tagged<Event> = found.ok_or(ServiceError::Busy { after: None })?;
        let earlier = earlier.value;
        let is_same = earlier.event_type == event.event_type
            && earlier.payload == event.payload
            && earlier.dedupe_key == event.dedupe_key;
        if !is_same {
            return Err(ServiceError::Invalid {
                member: ServiceError::IDEMPOTENCY_KEY.to_owned(),
                reason: "was used for another request; use a new key for a new request".to_owned(),
            });
        }
        Ok(stored(&earlier))
    }
}

fn accepted(user: String, result: Result<Accepted, ServiceError>) -> Result<Accepted, ServiceError> {
    match result {
        Err(error @ (ServiceError::Busy { .. } | ServiceError::Unavailable(_))) => {
            tracing::warn!(user, %error, "an event was not taken");
            Ok(Accepted {
                user_id: user,
                id: None,
                status: "unavailable".to_owned(),
                reason: Some("The store did not take it now; send it again.".to_owned()),
            })
        }
        result => result,
    }
}

fn stored(event: &Event) -> Accepted {
    Accepted {
        user_id: event.user_id.clone(),
        id: Some(event.id.clone()),
        status: event.status.name().to_owned(),
        reason: None,
    }
}

/// The same for the same key and user, in the form of all event ids.
fn id_of(key: &str, user: &str) -> String {
    let mut hash = Sha256::new();
    hash.update((key.len() as u64).to_be_bytes());
    hash.update(key);
    hash.update(user);
    let bytes: [u8; 32] = hash.finalize().into();
    let number = bytes.iter().take(16).fold(0u128, |number, byte| (number << 8) | u128::from(*byte));
    Guid::random(number).as_str().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_follow_from_key_and_user() {
        assert_eq!(id_of("k", "u"), id_of("k", "u"));
        assert_ne!(id_of("k", "u"), id_of("k", "v"));
        assert_ne!(id_of("ku", ""), id_of("k", "u"));
        assert_eq!(id_of("k", "u").len(), 36);
    }
}
