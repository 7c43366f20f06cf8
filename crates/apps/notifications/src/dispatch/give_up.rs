//! Events that cannot be worked on are dead-lettered with the reason: whatever would be the same the next time must not come
//! back again and again, and nobody else's events wait for it.

use super::due::is_due_event;
use super::{Dispatcher, StepError};
use crate::records::{Event, Status};
use crate::service::containers::EVENTS;
use orrery_kit::ports::documents::StoreError;
use serde::Deserialize as _;
use serde_json::Value;

impl Dispatcher {
    /// The store will not have it, or something that it depends on cannot be read.
    pub(super) async fn give_up(&self, user: &str, id: &str, error: &StoreError) -> Result<(), StepError> {
        let found = self.service.documents().read(EVENTS, user, id).await?.ok_or(StepError::Lost)?;
        let is_ours = self.is_ours(&found.value);
        if is_ours && self.service.dead_letter(found.value, &found.etag, &reason(error)).await? {
            Ok(())
        } else {
            Err(StepError::Lost)
        }
    }

    /// Nobody's, or this worker's.
    fn is_ours(&self, item: &Value) -> bool {
        let Ok(event) = Event::deserialize(item) else { return true };
        let is_held_here =
            event.status == Status::Processing && event.lease_owner.as_deref() == Some(self.service.worker());
        is_held_here || is_due_event(&event, self.service.now())
    }

    /// What was found among the events and is none.
    pub(super) async fn give_up_row(&self, row: &Value, error: &StoreError) -> Result<(), StoreError> {
        let etag = row["_etag"].as_str().unwrap_or_default();
        let reason = format!("It is no event: {}", reason(error));
        match self.service.dead_letter(row.clone(), etag, &reason).await {
            Err(error) if !error.is_passing() => {
                let (user, id) = (row["userId"].as_str(), row["id"].as_str());
                tracing::warn!(user, id, %error, "an item of notification_events is no event and cannot be marked");
                Ok(())
            }
            done => done.map(drop),
        }
    }
}

fn reason(error: &StoreError) -> String {
    match error {
        StoreError::Refused { message, .. } => message.clone(),
        error => error.to_string(),
    }
}
