//! Dead-letters an event: it stays readable and can be queued again, but no scan for work finds it.

use super::Notifications;
use super::containers::EVENTS;
use super::items;
use super::outbox::{self, OutboxEvent};
use crate::limits;
use crate::records::{Event, Status};
use orrery_core::Timestamp;
use orrery_kit::ports::documents::StoreError;
use orrery_kit::time;
use serde_json::{Value, json};

/// The members of a dead-lettered event, defined in one place.
pub(crate) struct DeadLetter {
    at: String,
    reason: String,
}

/// The retry count that the seed's query never finds.
const RETRY_COUNT: u32 = limits::NOTIFICATION_RETRIES_MAX as u32;

impl DeadLetter {
    pub fn new(reason: &str, now: Timestamp) -> Self {
        Self { at: time::format(now), reason: items::short(reason) }
    }

    pub fn mark(self, event: &mut Event) {
        event.status = Status::Failed;
        event.retry_count = RETRY_COUNT;
        event.next_retry_at = None;
        event.dead_lettered_at = Some(self.at);
        event.last_error = Some(self.reason);
    }

    /// Variant for an item that may not be an event.
    fn mark_item(self, item: &mut Value) {
        let Value::Object(members) = item else { return };
        for gone in ["nextRetryAt", "leaseOwner", "leaseUntil"] {
            members.shift_remove(gone);
        }
        members.insert("status".to_owned(), json!(Status::Failed));
        members.insert("retryCount".to_owned(), RETRY_COUNT.into());
        members.insert("deadLetteredAt".to_owned(), self.at.into());
        members.insert("lastError".to_owned(), self.reason.into());
    }
}

impl Notifications {
    /// Dead-letters an item as it was read, whatever it is. False if it changed meanwhile.
    pub(crate) async fn dead_letter(
        &self,
        mut item: Value,
        etag: &str,
        reason: &str,
    ) -> Result<bool, StoreError> {
        let now = self.now();
        let text = |name: &str| item[name].as_str().unwrap_or_default().to_owned();
        let (id, user) = (text("id"), text("userId"));
        let epoch = item["leaseEpoch"].as_u64().unwrap_or_default() + 1;
        let data = json!({"eventId": id, "eventType": item["eventType"], "reason": items::short(reason)});
        // Its worker may have stopped before its notification was written.
        let is_unprojected = item["status"] == json!(Status::Processing) && item.get("decision").is_some();
        let ttl = items::ttl(&text("createdAt"), now);
        DeadLetter::new(reason, now).mark_item(&mut item);
        item["leaseEpoch"] = epoch.into();
        item["ttl"] = ttl.into();
        if is_unprojected {
            item["unprojected"] = true.into();
        }
        let published = [OutboxEvent { kind: "event.deadlettered", subject: id.clone(), at: now, data }];
        let writes = vec![items::put(item, etag), outbox::item(&user, &id, epoch, &published)];
        match self.documents().batch(EVENTS, &user, writes).await {
            Ok(_) => {
                self.counters().dead_lettered.one();
                Ok(true)
            }
            Err(StoreError::Changed | StoreError::Missing | StoreError::Conflict) => Ok(false),
            Err(error) => Err(error),
        }
    }
}
