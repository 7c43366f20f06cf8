//! The problem that each error of a service, a store or a body becomes.

use crate::problem::{Kind, Problem};
use orrery_api_common::BodyError;
use orrery_core::LogLimiter;
use orrery_kit::ports::documents::StoreError;
use orrery_kit::service::ServiceError;
use std::time::{Duration, Instant};

/// When nobody says how long, this is.
const AFTER: Duration = Duration::from_secs(1);

impl From<ServiceError> for Problem {
    fn from(error: ServiceError) -> Self {
        match error {
            // The record of a key lives for a day, and the event that it made for longer.
            ServiceError::Invalid { member, .. } if member == ServiceError::IDEMPOTENCY_KEY => Self::reused(),
            ServiceError::Invalid { member, reason } => Self::invalid(&member, reason),
            ServiceError::Missing(what) => Self::new(Kind::Missing, what),
            ServiceError::Conflict(why) => Self::new(Kind::Conflict, why),
            ServiceError::Changed { current, etag } => Self::changed(*current, etag),
            ServiceError::Busy { after } => busy(after),
            ServiceError::Unavailable(why) => unavailable(&why),
            ServiceError::Broken(why) => broken(&why),
        }
    }
}

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Busy { after } => busy(after),
            StoreError::Unavailable(why) => unavailable(&why),
            StoreError::Conflict | StoreError::Changed => {
                Self::new(Kind::Conflict, "the same request is being answered; ask again").after(AFTER)
            }
            StoreError::Missing | StoreError::Refused { .. } => broken(&error.to_string()),
        }
    }
}

impl From<BodyError> for Problem {
    fn from(error: BodyError) -> Self {
        match error {
            BodyError::TooLarge { .. } => Self::new(Kind::TooLarge, error.to_string()),
            BodyError::NoRoom => Self::new(Kind::Unavailable, error.to_string()),
            BodyError::TooSlow | BodyError::Broken(_) => Self::invalid("", error.to_string()),
        }
    }
}

fn busy(after: Option<Duration>) -> Problem {
    Problem::new(Kind::Unavailable, "the store asks to come back later").after(after.unwrap_or(AFTER))
}

/// Why is for the log: it may name addresses and files.
fn unavailable(why: &str) -> Problem {
    static REFUSALS: LogLimiter = LogLimiter::new();
    if let Some(left_out) = REFUSALS.admit(Instant::now()) {
        tracing::warn!(why, left_out, "the store does not answer");
    }
    Problem::new(Kind::Unavailable, "the store does not answer now; come back later").after(AFTER)
}

/// What broke is for the log; it may name what a caller must not know.
fn broken(why: &str) -> Problem {
    tracing::error!(why, "a service could not answer");
    Problem::new(Kind::Broken, "the request could not be answered; the server's log says why")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Addresses and files of the server are not for callers.
    #[test]
    fn what_is_wrong_inside_is_not_told() {
        let why = || "10.0.0.7:8081 refuses /var/lib/orrery".to_owned();
        let problems = [
            Problem::from(ServiceError::Unavailable(why())),
            Problem::from(ServiceError::Broken(why())),
            Problem::from(StoreError::Unavailable(why())),
            Problem::from(StoreError::Refused { status: 400, message: why() }),
        ];
        for problem in problems {
            assert!(
                !problem.detail.contains("10.0.0.7") && !problem.detail.contains("orrery"),
                "{problem:?}"
            );
        }
        let unavailable = Problem::from(StoreError::Unavailable(why()));
        assert_eq!(unavailable.kind, Kind::Unavailable);
    }

    #[test]
    fn a_key_that_was_used_otherwise_is_said_to_be_so_whoever_notices() {
        let noticed = ServiceError::Invalid {
            member: ServiceError::IDEMPOTENCY_KEY.to_owned(),
            reason: "was used".to_owned(),
        };
        assert_eq!(Problem::from(noticed), Problem::reused());
        let invalid = ServiceError::Invalid { member: "userId".to_owned(), reason: "is empty".to_owned() };
        assert_eq!(Problem::from(invalid).kind, Kind::Invalid);
    }
}
