//! One event through all its steps.

use super::claim::{Claim, HeldEvent};
use super::due::UserGroup;
use super::end::End;
use super::push::Pushed;
use super::{Dispatcher, Round, StepError};
use crate::records::{Ending, Event};
use crate::service::Tagged;
use crate::service::counters::Step;
use crate::service::items;
use orrery_kit::ports::documents::StoreError;

impl Dispatcher {
    /// The events of a user, one after the other. What the store does not do now stops those behind it too, so that they do
    /// not overtake it; what it will never do is given up.
    pub(super) async fn work(&self, group: UserGroup) -> Round {
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
                Err(StepError::Store(error)) if error.is_passing() => {
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

    /// None: the user is erased.
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

/// Whether the store would say the same the next time; what says that somebody else was faster is not meant.
fn is_final(error: &StoreError) -> bool {
    matches!(error, StoreError::Refused { .. }) && !error.is_passing()
}
