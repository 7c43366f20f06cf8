//! Claims an event: writes its lease and the decision in one batch with the aggregate that the decision
//! changes, so an event counts once.
//!
//! An event with a decision was claimed before and only gets a new lease. A worker that loses against another
//! writer reads the event again, and stops if it is no longer due.

use super::decide::{Decided, Known, aggregate_id, decide};
use super::due::is_due_event;
use super::{Dispatcher, StepError};
use crate::limits;
use crate::policy::{Earlier, is_wanted};
use crate::records::{Aggregate, Attempt, Event, Preferences, Status};
use crate::service::Tagged;
use crate::service::containers::{EVENTS, NOTIFICATIONS, PREFERENCES};
use crate::service::items::{self, before};
use crate::service::tombstone::is_erased;
use orrery_core::Timestamp;
use orrery_kit::ports::documents::{StoreError, Write};
use orrery_kit::time;
use serde_json::{Value, json};
use std::time::Duration;
use tokio::time::Instant;

/// An event that this worker holds until its lease expires.
#[derive(Debug)]
pub(super) struct HeldEvent {
    pub event: Event,
    pub etag: String,
    /// Whether its notification may still be missing: false after any later step.
    pub is_unprojected: bool,
    /// The deadline of the push, so that no other worker can hold the event meanwhile.
    pub pushed_by: Instant,
    /// The preferences read for the decision.
    pub preferences: Option<Preferences>,
    /// The pushes of this pass.
    pub tried: Vec<Attempt>,
    pub charge: f64,
}

pub(super) enum Claim {
    Held(Box<HeldEvent>),
    /// The user has been erased.
    Erased(Box<Tagged<Event>>),
    /// Its type is unknown, so it cannot be decided.
    Unknown(Box<Tagged<Event>>),
}

/// The inputs of a decision, as read from the store.
#[derive(Debug)]
struct DecisionInputs {
    is_erased: bool,
    preferences: Preferences,
    aggregate: Option<Tagged<Aggregate>>,
    earlier: Earlier,
}

impl Dispatcher {
    pub(super) async fn claim(&self, mut found: Tagged<Event>) -> Result<Claim, StepError> {
        orrery_core::tour_step!();
        let (user, id) = (found.value.user_id.clone(), found.value.id.clone());
        for _ in 0..limits::NOTIFICATION_CHANGE_TRIES_MAX {
            let tried = match found.value.decision {
                None => self.claim_undecided(found).await,
                Some(_) => self.claim_decided(found).await,
            };
            match tried {
                Err(StepError::Store(StoreError::Changed | StoreError::Conflict)) => {}
                Err(StepError::Store(StoreError::Missing)) => return Err(StepError::Lost),
                tried => return tried,
            }
            found = self.reload(&user, &id).await?;
        }
        Err(StepError::Lost)
    }

    async fn reload(&self, user: &str, id: &str) -> Result<Tagged<Event>, StepError> {
        let found = items::find(self.service.documents(), EVENTS, user, id).await?;
        let found: Tagged<Event> = found.ok_or(StepError::Lost)?;
        if is_due_event(&found.value, self.service.now()) { Ok(found) } else { Err(StepError::Lost) }
    }

    async fn claim_undecided(&self, found: Tagged<Event>) -> Result<Claim, StepError> {
        let Some(kind) = self.service.registry().find(&found.value.event_type) else {
            return Ok(Claim::Unknown(Box::new(found)));
        };
        let now = self.service.now();
        let inputs = self.load_inputs(&found.value, now).await?;
        if inputs.is_erased {
            return Ok(Claim::Erased(Box::new(found)));
        }
        let known = Known {
            event: &found.value,
            preferences: &inputs.preferences,
            aggregate: inputs.aggregate.as_ref().map(|found| &found.value),
            earlier: inputs.earlier,
            now,
        };
        let decided = decide(self.service.policy(), kind, known);
        self.reach("notify.decide.before")?;
        let held = self.write_decision(found, decided, inputs).await?;
        self.reach("notify.decide.after")?;
        Ok(Claim::Held(Box::new(held)))
    }

    async fn write_decision(
        &self,
        found: Tagged<Event>,
        decided: Decided,
        inputs: DecisionInputs,
    ) -> Result<HeldEvent, StepError> {
        orrery_core::tour_step!();
        let mut held = self.leased(found.value);
        held.event.decision = Some(decided.decision);
        held.event.notification_id = decided.notification_id;
        let mut writes = vec![items::put(items::value(&held.event)?, &found.etag)];
        if let Some(aggregate) = decided.aggregate {
            let etag = inputs.aggregate.as_ref().map_or("", |found| &found.etag);
            writes.push(items::put(items::value(&aggregate)?, etag));
        }
        (held.etag, held.charge) = self.write_events(&held.event.user_id, writes).await?;
        Ok(HeldEvent { preferences: Some(inputs.preferences), ..held })
    }

    async fn claim_decided(&self, found: Tagged<Event>) -> Result<Claim, StepError> {
        if is_erased(self.service.documents(), &found.value.user_id).await? {
            return Ok(Claim::Erased(Box::new(found)));
        }
        // The worker that finished it has written its notification before.
        let is_unprojected = found.value.status == Status::Processing || found.value.unprojected;
        let mut held = HeldEvent { is_unprojected, ..self.leased(found.value) };
        let writes = vec![items::put(items::value(&held.event)?, &found.etag)];
        (held.etag, held.charge) = self.write_events(&held.event.user_id, writes).await?;
        Ok(Claim::Held(Box::new(held)))
    }

    /// The event while this worker holds it. A failed event counts as retried from here on (C-40).
    fn leased(&self, mut event: Event) -> HeldEvent {
        let (now, policy): (Timestamp, _) = (self.service.now(), self.service.policy());
        if event.status == Status::Failed {
            event.retry_count += 1;
        }
        event.status = Status::Processing;
        event.unprojected = false;
        event.lease_owner = Some(self.service.worker().to_owned());
        event.lease_until = Some(time::format(now.plus(policy.lease())));
        event.lease_epoch += 1;
        event.ttl = items::ttl(&event.created_at, now);
        HeldEvent {
            event,
            etag: String::new(),
            is_unprojected: true,
            pushed_by: Instant::now() + policy.push_time(),
            preferences: None,
            tried: Vec::new(),
            charge: 0.0,
        }
    }

    /// Returns the first item's etag and the total charge.
    pub(super) async fn write_events(
        &self,
        user: &str,
        mut writes: Vec<Write>,
    ) -> Result<(String, f64), StoreError> {
        let documents = self.service.documents();
        let items = match (writes.pop(), writes.is_empty()) {
            (Some(only), true) => vec![documents.write(EVENTS, user, only).await?],
            (Some(last), false) => {
                writes.push(last);
                documents.batch(EVENTS, user, writes).await?
            }
            (None, _) => Vec::new(),
        };
        let charge = items.iter().flatten().map(|item| item.charge).sum();
        let first = items.into_iter().next().flatten().ok_or(StoreError::Missing)?;
        Ok((first.etag, charge))
    }
}

/// Reads concurrently what it can, and skips what the order of checks makes unnecessary.
impl Dispatcher {
    async fn load_inputs(&self, event: &Event, now: Timestamp) -> Result<DecisionInputs, StepError> {
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

    /// The seed's query (S2-26), as a count. If the category has none, neither has the target.
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
