//! Decides how work on an event ends, from the providers' responses. Pure.
//!
//! ```text
//! one asks for a retry ──────────────────▶ Failed, retried
//! one is misconfigured ──────────────────▶ Deferred: not the event's fault
//! one accepted it ───────────────────────▶ Completed, delivered
//! one refuses the message ───────────────▶ Refused: a retry would be refused too
//! all tokens gone, or no devices ────────▶ Completed, no_devices
//! ```

use crate::limits;
use crate::policy::{Backoff, Next};
use crate::push::Outcome;
use crate::records::{Attempt, Device, Event, Status};
use crate::service::dead_letter::DeadLetter;
use crate::service::items::{self, short};
use orrery_core::Timestamp;
use orrery_kit::time;
use std::time::Duration;

#[derive(Clone, Debug, PartialEq)]
pub(super) enum End {
    /// Final, with its outcome.
    Completed(&'static str),
    RateLimited,
    Deduplicated,
    /// Its push waits for an hour that is not quiet.
    Deferred {
        until: Timestamp,
        reason: &'static str,
    },
    /// Its push waits until the provider is configured; the event has not failed.
    Misconfigured {
        until: Timestamp,
        reason: String,
    },
    /// To be retried, not sooner than the provider asked for.
    Failed {
        after: Option<Duration>,
        reason: String,
    },
    /// Dead-lettered, because it would be refused again.
    Refused {
        reason: String,
    },
}

impl End {
    /// The event to write. `random` is any number.
    pub fn apply(&self, mut event: Event, now: Timestamp, backoff: &Backoff, random: u64) -> Event {
        orrery_core::tour_step!();
        event.lease_owner = None;
        event.lease_until = None;
        event.next_retry_at = None;
        event.defer_reason = None;
        event.ttl = items::ttl(&event.created_at, now);
        match self {
            Self::Completed(outcome) => ended(&mut event, Status::Completed, Some(outcome), now),
            Self::RateLimited => ended(&mut event, Status::RateLimited, Some("inapp_only"), now),
            Self::Deduplicated => ended(&mut event, Status::Deduplicated, None, now),
            Self::Deferred { until, reason } => deferred(&mut event, *until, reason, None),
            Self::Misconfigured { until, reason } => {
                deferred(&mut event, *until, "provider_misconfigured", Some(reason));
            }
            Self::Refused { reason } => DeadLetter::new(reason, now).mark(&mut event),
            Self::Failed { after, reason } => {
                // The failed retry was counted when it began.
                match backoff.next(event.retry_count.checked_sub(1), random, *after) {
                    Next::DeadLetter { .. } => DeadLetter::new(reason, now).mark(&mut event),
                    Next::Again { retry_count, after } => {
                        event.status = Status::Failed;
                        event.retry_count = retry_count;
                        event.next_retry_at = Some(time::format(now.plus(after)));
                        event.last_error = Some(short(reason));
                    }
                }
            }
        }
        event
    }
}

fn ended(event: &mut Event, status: Status, outcome: Option<&str>, now: Timestamp) {
    event.status = status;
    event.outcome = outcome.map(str::to_owned);
    event.processed_at = Some(time::format(now));
}

fn deferred(event: &mut Event, until: Timestamp, reason: &str, error: Option<&String>) {
    event.status = Status::Pending;
    event.next_retry_at = Some(time::format(until));
    event.defer_reason = Some(reason.to_owned());
    event.last_error = error.map(|error| short(error)).or(event.last_error.take());
}

pub(super) const DELIVERED: &str = "delivered";

/// The result of one push to one device.
pub(super) struct PushResult {
    pub at: String,
    pub device: Device,
    pub outcome: Outcome,
}

impl PushResult {
    pub fn attempt(&self) -> Attempt {
        let (result, status) = match &self.outcome {
            Outcome::Delivered => (DELIVERED.to_owned(), None),
            Outcome::Unregistered { reason, status } => (format!("unregistered: {reason}"), *status),
            Outcome::Refused { reason, status } => (format!("refused: {reason}"), *status),
            Outcome::Later { reason, status, may_have_arrived: true, .. } => {
                (format!("later: {reason}; it may have arrived"), *status)
            }
            Outcome::Later { reason, status, .. } => (format!("later: {reason}"), *status),
            Outcome::Misconfigured { reason, status } => (format!("misconfigured: {reason}"), *status),
        };
        Attempt {
            device_id: self.device.id.clone(),
            platform: self.device.platform,
            at: self.at.clone(),
            result: result.chars().take(limits::NOTIFICATION_ERROR_CHARS_MAX).collect(),
            status,
        }
    }
}

/// The event already contains the attempts in `tried`; `devices` is the number of active ones.
pub(super) fn verdict(event: &Event, devices: usize, tried: &[PushResult], now: Timestamp) -> End {
    orrery_core::tour_step!();
    let later = tried.iter().filter_map(|one| match &one.outcome {
        Outcome::Later { after, reason, .. } => Some((*after, reason.clone())),
        _ => None,
    });
    if let Some((after, reason)) = later.max_by_key(|(after, _)| *after) {
        return End::Failed { after, reason };
    }
    if let Some(reason) = tried.iter().find_map(|one| match &one.outcome {
        Outcome::Misconfigured { reason, .. } => Some(reason.clone()),
        _ => None,
    }) {
        return End::Misconfigured { until: now.plus(wait(event, now)), reason };
    }
    if event.attempts.iter().any(|attempt| attempt.result == DELIVERED) {
        return End::Completed(DELIVERED);
    }
    let refused = tried.iter().find_map(|one| match &one.outcome {
        Outcome::Refused { reason, .. } => Some(reason.clone()),
        _ => None,
    });
    match refused {
        Some(reason) if devices > 0 => End::Refused { reason },
        _ => End::Completed("no_devices"),
    }
}

/// A few minutes, and longer for events that have waited long.
fn wait(event: &Event, now: Timestamp) -> Duration {
    const HOURS_6: Duration = Duration::from_secs(6 * 3_600);
    let age = time::parse(&event.created_at).map_or(Duration::ZERO, |created| now.abs_diff(created));
    (age / 4).clamp(Duration::from_secs(limits::NOTIFICATION_MISCONFIGURED_SECONDS), HOURS_6)
}

/// Keeps the newest attempts and every success: a success prevents a second push to the device.
pub(super) fn trim(attempts: &mut Vec<Attempt>) {
    let mut surplus = attempts.len().saturating_sub(limits::NOTIFICATION_ATTEMPTS_MAX);
    attempts.retain(|attempt| {
        let goes = surplus > 0 && attempt.result != DELIVERED;
        surplus -= usize::from(goes);
        !goes
    });
}

#[cfg(test)]
mod tests {
    use super::super::decide::tests::event;
    use super::*;
    use crate::records::Platform;

    const NOW: Timestamp = Timestamp::from_seconds(1_800_000_000);

    fn held(retry_count: u32) -> Event {
        Event {
            status: Status::Processing,
            retry_count,
            lease_owner: Some("w".to_owned()),
            lease_until: Some(time::format(NOW)),
            ..event()
        }
    }

    fn applied(end: &End, retry_count: u32) -> Event {
        let after = end.apply(held(retry_count), NOW, &Backoff::default(), 0);
        assert_eq!((&after.lease_owner, &after.lease_until), (&None, &None));
        after
    }

    #[test]
    fn an_ended_event_is_not_scheduled() {
        for (end, status, outcome) in [
            (End::Completed("delivered"), Status::Completed, Some("delivered")),
            (End::RateLimited, Status::RateLimited, Some("inapp_only")),
            (End::Deduplicated, Status::Deduplicated, None),
        ] {
            let after = applied(&end, 2);
            assert_eq!((after.status, after.outcome.as_deref(), after.retry_count), (status, outcome, 2));
            assert_eq!(after.processed_at, Some(time::format(NOW)));
            assert_eq!(after.next_retry_at, None);
        }
    }

    #[test]
    fn waiting_for_quiet_hours_is_pending_and_counts_no_retry() {
        let until = NOW.plus(Duration::from_secs(60));
        let after = applied(&End::Deferred { until, reason: "quiet_hours" }, 3);
        assert_eq!((after.status, after.retry_count), (Status::Pending, 3));
        assert_eq!(after.next_retry_at, Some(time::format(until)));
        assert_eq!(after.defer_reason.as_deref(), Some("quiet_hours"));
        let after = applied(&End::Misconfigured { until, reason: "no key".to_owned() }, 0);
        assert_eq!((after.status, after.last_error.as_deref()), (Status::Pending, Some("no key")));
    }

    /// K8, C-40: five waits, then it is dead-lettered with the number that no query finds.
    #[test]
    fn the_sixth_failure_is_the_last() {
        let end = End::Failed { after: None, reason: "503".to_owned() };
        for (retry_count, seconds) in [(0, 24), (1, 96), (2, 384), (3, 1_536), (4, 5_760)] {
            let after = applied(&end, retry_count);
            assert_eq!((after.status, after.retry_count), (Status::Failed, retry_count));
            assert_eq!(after.next_retry_at, Some(time::format(NOW.plus(Duration::from_secs(seconds)))));
            assert_eq!(after.dead_lettered_at, None);
        }
        let after = applied(&end, 5);
        assert_eq!(
            (after.status, after.retry_count, after.next_retry_at.as_deref()),
            (Status::Failed, 5, None)
        );
        assert_eq!(after.dead_lettered_at, Some(time::format(NOW)));
    }

    #[test]
    fn a_refused_message_is_dead_lettered_at_once() {
        let after = applied(&End::Refused { reason: "INVALID_ARGUMENT".to_owned() }, 0);
        assert_eq!((after.status, after.retry_count), (Status::Failed, 5));
        assert_eq!(after.last_error.as_deref(), Some("INVALID_ARGUMENT"));
        assert!(after.dead_lettered_at.is_some());
    }

    fn tried(outcome: Outcome) -> PushResult {
        let device = Device {
            id: "d".to_owned(),
            user_id: "u".to_owned(),
            device_id: "d".to_owned(),
            push_token: "t".to_owned(),
            platform: Platform::Fcm,
            label: String::new(),
            created_at: String::new(),
            last_seen_at: String::new(),
            revoked_at: None,
            revoke_reason: None,
        };
        PushResult { at: time::format(NOW), device, outcome }
    }

    fn gone() -> Outcome {
        Outcome::Unregistered { reason: "UNREGISTERED".to_owned(), status: Some(404) }
    }

    fn refused() -> Outcome {
        Outcome::Refused { reason: "INVALID_ARGUMENT".to_owned(), status: Some(400) }
    }

    fn wrong() -> Outcome {
        Outcome::Misconfigured { reason: "no key".to_owned(), status: None }
    }

    fn later(seconds: Option<u64>) -> Outcome {
        let after = seconds.map(Duration::from_secs);
        Outcome::Later { after, reason: "503".to_owned(), status: Some(503), may_have_arrived: false }
    }

    fn check(outcomes: Vec<Outcome>, expected: &End) {
        let tried: Vec<PushResult> = outcomes.into_iter().map(tried).collect();
        let mut event = event();
        event.attempts = tried.iter().map(PushResult::attempt).collect();
        event.created_at = time::format(NOW);
        assert_eq!(&verdict(&event, tried.len(), &tried, NOW), expected);
    }

    #[test]
    fn one_response_decides_for_all_devices() {
        let failed = |seconds: Option<u64>| End::Failed {
            after: seconds.map(Duration::from_secs),
            reason: "503".to_owned(),
        };
        check(vec![], &End::Completed("no_devices"));
        check(vec![gone(), gone()], &End::Completed("no_devices"));
        check(vec![Outcome::Delivered, gone()], &End::Completed("delivered"));
        check(vec![Outcome::Delivered, refused()], &End::Completed("delivered"));
        check(vec![gone(), refused()], &End::Refused { reason: "INVALID_ARGUMENT".to_owned() });
        check(vec![Outcome::Delivered, later(None)], &failed(None));
        // B-6: the longest wait that any provider asked for counts.
        check(vec![later(Some(60)), later(Some(120)), later(None)], &failed(Some(120)));
        let until = NOW.plus(Duration::from_secs(300));
        check(vec![wrong(), Outcome::Delivered], &End::Misconfigured { until, reason: "no key".to_owned() });
    }

    #[test]
    fn a_recorded_success_is_never_trimmed() {
        let mut attempts: Vec<Attempt> = vec![tried(Outcome::Delivered).attempt()];
        attempts.extend((0..80).map(|_| tried(later(None)).attempt()));
        trim(&mut attempts);
        assert_eq!(attempts.len(), limits::NOTIFICATION_ATTEMPTS_MAX);
        assert_eq!(attempts[0].result, DELIVERED);
    }
}
