//! What has to be known to decide, asked for at once where it can be and not at all where the order of checks makes it
//! needless.

use super::decide::aggregate_id;
use super::{Dispatcher, StepError};
use crate::policy::{Earlier, is_wanted};
use crate::records::{Aggregate, Event, Preferences};
use crate::service::Tagged;
use crate::service::containers::{EVENTS, NOTIFICATIONS, PREFERENCES};
use crate::service::items::{self, before};
use crate::service::tombstone::is_erased;
use orrery_core::Timestamp;
use orrery_kit::ports::documents::StoreError;
use orrery_kit::time;
use serde_json::{Value, json};
use std::time::Duration;

#[derive(Debug)]
pub(super) struct DecisionInputs {
    pub is_erased: bool,
    pub preferences: Preferences,
    pub aggregate: Option<Tagged<Aggregate>>,
    pub earlier: Earlier,
}

impl Dispatcher {
    pub(super) async fn load_inputs(
        &self,
        event: &Event,
        now: Timestamp,
    ) -> Result<DecisionInputs, StepError> {
        let documents = self.service.documents();
        let user = &event.user_id;
        let (is_erased, preferences, aggregate) =
            tokio::try_join!(is_erased(documents, user), self.preferences(user), self.aggregate(event))?;
        let is_open = aggregate.as_ref().is_some_and(|found| self.is_open(&found.value, now));
        let is_limited = !is_erased && is_wanted(event.category, preferences.categories) && !is_open;
        let earlier = if is_limited { self.earlier(event, now).await? } else { Earlier::default() };
        Ok(DecisionInputs { is_erased, preferences, aggregate, earlier })
    }

    pub(super) async fn preferences(&self, user: &str) -> Result<Preferences, StoreError> {
        let found = items::find::<Preferences>(self.service.documents(), PREFERENCES, user, user).await?;
        Ok(found.map_or_else(|| self.service.default_preferences(user), |found| found.value))
    }

    async fn aggregate(&self, event: &Event) -> Result<Option<Tagged<Aggregate>>, StoreError> {
        let Some(id) = aggregate_id(event) else { return Ok(None) };
        self.service.documents().read(EVENTS, &event.user_id, &id).await?.map(Tagged::of).transpose()
    }

    fn is_open(&self, aggregate: &Aggregate, now: Timestamp) -> bool {
        let opened = time::parse(&aggregate.opened_at);
        opened.is_some_and(|opened| now < opened.plus(self.service.policy().dedupe_window()))
    }

    /// The seed's query (S2-26), counted. Where there is nothing of the category, there is nothing of the target.
    async fn earlier(&self, event: &Event, now: Timestamp) -> Result<Earlier, StoreError> {
        let limit = self.service.policy().limits.of(event.category);
        let (window, target_window) = (limit.window(), limit.target_window());
        let in_window = self.count(event, now, window, None).await?;
        let of_target_in_its_window = if in_window == 0 && target_window <= window {
            0
        } else {
            self.count(event, now, target_window, Some(&event.payload.target_id)).await?
        };
        Ok(Earlier { in_window, of_target_in_its_window })
    }

    async fn count(
        &self,
        event: &Event,
        now: Timestamp,
        window: Duration,
        target: Option<&str>,
    ) -> Result<u64, StoreError> {
        let of_target = target.map_or("", |_| " AND c.targetId = @target");
        let text = format!(
            "SELECT VALUE COUNT(1) FROM c WHERE c.userId = @userId AND c.category = @category \
             AND c.createdAt >= @window{of_target}"
        );
        let mut parameters: Vec<(&str, Value)> = vec![
            ("userId", json!(event.user_id)),
            ("category", json!(event.category)),
            ("window", json!(time::format(before(now, window)))),
        ];
        parameters.extend(target.map(|target| ("target", json!(target))));
        let query = items::query(text, &parameters);
        items::count(self.service.documents(), NOTIFICATIONS, Some(&event.user_id), query).await
    }
}
