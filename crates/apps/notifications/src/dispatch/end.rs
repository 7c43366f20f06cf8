//! How work on an event ends, and what the event is then. Pure.

use crate::policy::{Backoff, Next};
use crate::records::{Event, Status};
use crate::service::dead_letter::GivenUp;
use crate::service::items::{self, short};
use orrery_core::Timestamp;
use orrery_kit::time;
use std::time::Duration;

#[derive(Clone, Debug, PartialEq)]
pub(super) enum End {
    /// For good, with what came of it.
    Completed(&'static str),
    RateLimited,
    Deduplicated,
    /// Its push waits for an hour.
    Deferred {
        until: Timestamp,
        reason: &'static str,
    },
    /// Its push waits for somebody to set the provider up; that is no failure of the event.
    Misconfigured {
        until: Timestamp,
        reason: String,
    },
    /// To be tried again, not sooner than the provider asked for.
    Failed {
        after: Option<Duration>,
        reason: String,
    },
    /// It would be refused again: given up.
    Refused {
        reason: String,
    },
}

impl End {
    /// The event as it is to be written. `random` is any number.
    pub fn apply(&self, mut event: Event, now: Timestamp, backoff: &Backoff, random: u64) -> Event {
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
            Self::Refused { reason } => GivenUp::new(reason, now).mark(&mut event),
            Self::Failed { after, reason } => {
                // The retry that failed was counted when it began.
                match backoff.next(event.retry_count.checked_sub(1), random, *after) {
                    Next::DeadLetter { .. } => GivenUp::new(reason, now).mark(&mut event),
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

#[cfg(test)]
mod tests {
    use super::super::decide::tests::event;
    use super::*;

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
    fn what_is_over_has_no_next_time() {
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
    fn what_waits_for_an_hour_is_pending_and_counts_no_retry() {
        let until = NOW.plus(Duration::from_secs(60));
        let after = applied(&End::Deferred { until, reason: "quiet_hours" }, 3);
        assert_eq!((after.status, after.retry_count), (Status::Pending, 3));
        assert_eq!(after.next_retry_at, Some(time::format(until)));
        assert_eq!(after.defer_reason.as_deref(), Some("quiet_hours"));
        let after = applied(&End::Misconfigured { until, reason: "no key".to_owned() }, 0);
        assert_eq!((after.status, after.last_error.as_deref()), (Status::Pending, Some("no key")));
    }

    /// K8, C-40: five waits, then it is given up with the number that no query finds.
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
    fn what_is_refused_is_given_up_at_once() {
        let after = applied(&End::Refused { reason: "INVALID_ARGUMENT".to_owned() }, 0);
        assert_eq!((after.status, after.retry_count), (Status::Failed, 5));
        assert_eq!(after.last_error.as_deref(), Some("INVALID_ARGUMENT"));
        assert!(after.dead_lettered_at.is_some());
    }
}
