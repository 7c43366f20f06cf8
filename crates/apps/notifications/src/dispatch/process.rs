//! Takes one event through all its steps, or dead-letters it.

use super::claim::{Claim, HeldEvent};
use super::due::UserGroup;
use super::due::is_due_event;
use super::end::End;
use super::push::Pushed;
use super::{Dispatcher, Round, StepError};
use crate::records::{Ending, Event, Status};
use crate::service::Tagged;
use crate::service::containers::EVENTS;
use crate::service::counters::Step;
use crate::service::items;
use orrery_kit::ports::documents::StoreError;
use serde::Deserialize as _;
use serde_json::Value;

impl Dispatcher {
    /// Processes a user's events in sequence. If the store cannot process one now, those behind it wait
    /// too, so that they do not overtake it; one that it will never process is dead-lettered.
    pub(super) async fn work(&self, group: UserGroup) -> Round {
        orrery_core::tour_step!();
        let mut round = Round { claimed: group.events.len(), ..Round::default() };
        for found in group.events {
            let id = found.value.id.clone();
            let ended = match self.process(found).await {
                Err(StepError::Store(error)) if is_final(&error) => {
                    self.give_up(&group.user, &id, &error).await
                }
                ended => ended,
            };
            match ended {
                Ok(()) => round.processed += 1,
                Err(StepError::Crashed) => break,
                Err(StepError::Store(error)) if error.is_transient() => {
                    tracing::warn!(user = group.user, id, %error, "an event could not be worked on now");
                    round.troubled += 1;
                    break;
                }
                Err(StepError::Store(error)) if is_final(&error) => {
                    tracing::error!(user = group.user, id, %error, "an event can be neither worked on nor given up");
                    round.stuck += 1;
                }
                Err(StepError::Lost | StepError::Store(_)) => {
                    self.service.counters().lost.one();
                    round.lost += 1;
                }
            }
        }
        round
    }

    async fn process(&self, found: Tagged<Event>) -> Result<(), StepError> {
        orrery_core::tour_step!();
        let mut held = match self.claim(found).await? {
            Claim::Held(held) => *held,
            Claim::Erased(found) => return self.drop_erased(&found.value).await,
            Claim::Unknown(found) => {
                let reason = format!("The event type {} is not known to the policy.", found.value.event_type);
                let item = items::value(&found.value)?;
                let is_given_up = self.service.dead_letter(item, &found.etag, &reason).await?;
                return if is_given_up { Ok(()) } else { Err(StepError::Lost) };
            }
        };
        if held.is_unprojected {
            held.charge += self.project(&held.event).await?;
            self.reach("notify.project.after")?;
        }
        let Some(end) = self.end(&mut held).await? else { return self.drop_erased(&held.event).await };
        let charge = held.charge + self.finish(held, &end).await?;
        self.service.counters().spent(Step::Process, charge);
        Ok(())
    }

    /// `None` if the user is erased.
    async fn end(&self, held: &mut HeldEvent) -> Result<Option<End>, StepError> {
        let ending = held.event.decision.as_ref().map_or(Ending::NeverPush, |decision| decision.ending);
        let end = match ending {
            Ending::SuppressedCategory => End::Completed("suppressed_category"),
            Ending::Deduplicated => End::Deduplicated,
            Ending::RateLimited => End::RateLimited,
            Ending::NeverPush => End::Completed("inapp_only"),
            Ending::Push => match self.push(held).await? {
                Pushed::Ended(end) => end,
                Pushed::Erased => return Ok(None),
            },
        };
        Ok(Some(end))
    }
}

/// Whether a retry would fail in the same way; losing a race to another writer does not count.
fn is_final(error: &StoreError) -> bool {
    matches!(error, StoreError::Refused { .. }) && !error.is_transient()
}

/// Dead-letters an event that cannot be processed, with the reason: an event that would fail in the same way
/// every time must not return again and again, nor delay other users' events.
impl Dispatcher {
    /// The store refuses it, or one of its inputs is unreadable.
    pub(super) async fn give_up(&self, user: &str, id: &str, error: &StoreError) -> Result<(), StepError> {
        let found = self.service.documents().read(EVENTS, user, id).await?.ok_or(StepError::Lost)?;
        let is_ours = self.is_ours(&found.value);
        if is_ours && self.service.dead_letter(found.value, &found.etag, &reason(error)).await? {
            Ok(())
        } else {
            Err(StepError::Lost)
        }
    }

    /// It has no holder, or this worker holds it.
    fn is_ours(&self, item: &Value) -> bool {
        let Ok(event) = Event::deserialize(item) else { return true };
        let is_held_here =
            event.status == Status::Processing && event.lease_owner.as_deref() == Some(self.service.worker());
        is_held_here || is_due_event(&event, self.service.now())
    }

    /// An item among the events that is not an event.
    pub(super) async fn give_up_row(&self, row: &Value, error: &StoreError) -> Result<(), StoreError> {
        let etag = row["_etag"].as_str().unwrap_or_default();
        let reason = format!("It is no event: {}", reason(error));
        match self.service.dead_letter(row.clone(), etag, &reason).await {
            Err(error) if !error.is_transient() => {
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
