//! The lease and the decision, in one batch with the aggregate that the decision changes: so an event counts once.
//!
//! An event that has a decision was taken before, and is only taken again. Whoever loses against another writer reads the
//! event anew, and stops if it is no longer there to be had.

use super::claim::is_claimable;
use super::decide::{Decided, Known, decide};
use super::gather::Gathered;
use super::{Dispatcher, Stop};
use crate::records::{Attempt, Event, Preferences, Status};
use crate::service::Tagged;
use crate::service::containers::EVENTS;
use crate::service::items;
use crate::service::tombstone::is_erased;
use orrery_core::{Timestamp, limits};
use orrery_kit::port::{StoreError, Write};
use orrery_kit::time;

/// An event that this worker has, until its lease ends.
#[derive(Debug)]
pub(super) struct Taken {
    pub event: Event,
    pub etag: String,
    /// Whether its notification may be missing still: not after a step that comes later than writing it.
    pub is_unprojected: bool,
    /// As they were read for the decision.
    pub preferences: Option<Preferences>,
    /// The pushes of this pass.
    pub tried: Vec<Attempt>,
    pub charge: f64,
}

pub(super) enum Took {
    Taken(Box<Taken>),
    /// The user is erased.
    Erased(Box<Tagged<Event>>),
    /// Nothing is known of its type: it cannot be decided.
    Unknown(Box<Tagged<Event>>),
}

impl Dispatcher {
    pub(super) async fn take(&self, mut found: Tagged<Event>) -> Result<Took, Stop> {
        for _ in 0..limits::NOTIFICATION_CHANGE_TRIES_MAX {
            let tried = match found.value.decision {
                None => self.take_first(&found).await,
                Some(_) => self.take_again(&found).await,
            };
            match tried {
                Err(Stop::Store(StoreError::Changed | StoreError::Conflict)) => {}
                Err(Stop::Store(StoreError::Missing)) => return Err(Stop::Lost),
                tried => return tried,
            }
            found = self.look_again(&found.value).await?;
        }
        Err(Stop::Lost)
    }

    async fn look_again(&self, event: &Event) -> Result<Tagged<Event>, Stop> {
        let found = items::find(self.service.documents(), EVENTS, &event.user_id, &event.id).await?;
        let found: Tagged<Event> = found.ok_or(Stop::Lost)?;
        if is_claimable(&found.value, self.service.now()) { Ok(found) } else { Err(Stop::Lost) }
    }

    async fn take_first(&self, found: &Tagged<Event>) -> Result<Took, Stop> {
        let Some(kind) = self.service.registry().find(&found.value.event_type) else {
            return Ok(Took::Unknown(Box::new(found.clone())));
        };
        let now = self.service.now();
        let gathered = self.gather(&found.value, now).await?;
        if gathered.is_erased {
            return Ok(Took::Erased(Box::new(found.clone())));
        }
        let known = Known {
            event: &found.value,
            preferences: &gathered.preferences,
            aggregate: gathered.aggregate.as_ref().map(|found| &found.value),
            earlier: gathered.earlier,
            now,
        };
        let decided = decide(self.service.policy(), kind, known);
        self.reach("notify.decide.before")?;
        let taken = self.write_decision(found, decided, gathered, now).await?;
        self.reach("notify.decide.after")?;
        Ok(Took::Taken(Box::new(taken)))
    }

    async fn write_decision(
        &self,
        found: &Tagged<Event>,
        decided: Decided,
        gathered: Gathered,
        now: Timestamp,
    ) -> Result<Taken, Stop> {
        let mut event = self.leased(&found.value, now);
        event.decision = Some(decided.decision);
        event.notification_id = decided.notification_id;
        let mut writes = vec![items::put(items::value(&event)?, &found.etag)];
        if let Some(aggregate) = decided.aggregate {
            let etag = gathered.aggregate.as_ref().map_or("", |found| &found.etag);
            writes.push(items::put(items::value(&aggregate)?, etag));
        }
        let (etag, charge) = self.write_events(&event.user_id, writes).await?;
        let preferences = Some(gathered.preferences);
        Ok(Taken { event, etag, is_unprojected: true, preferences, tried: Vec::new(), charge })
    }

    async fn take_again(&self, found: &Tagged<Event>) -> Result<Took, Stop> {
        if is_erased(self.service.documents(), &found.value.user_id).await? {
            return Ok(Took::Erased(Box::new(found.clone())));
        }
        let event = self.leased(&found.value, self.service.now());
        let writes = vec![items::put(items::value(&event)?, &found.etag)];
        let (etag, charge) = self.write_events(&event.user_id, writes).await?;
        // Whoever finished it has written its notification before.
        let is_unprojected = found.value.status == Status::Processing;
        let taken = Taken { event, etag, is_unprojected, preferences: None, tried: Vec::new(), charge };
        Ok(Took::Taken(Box::new(taken)))
    }

    /// As it is while this worker has it. What failed is tried again by this, and counted (C-40).
    fn leased(&self, event: &Event, now: Timestamp) -> Event {
        let mut event = event.clone();
        if event.status == Status::Failed {
            event.retry_count += 1;
        }
        event.status = Status::Processing;
        event.lease_owner = Some(self.service.worker().to_owned());
        event.lease_until = Some(time::format(now.plus(self.service.policy().lease())));
        event.lease_epoch += 1;
        event.ttl = items::ttl(&event.created_at, now);
        event
    }

    /// The tag of the first, and what all cost.
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
