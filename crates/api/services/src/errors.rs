//! Maps the errors of services and stores to problems.

use orrery_api_common::problem::{Kind, Problem};
use orrery_core::LogLimiter;
use orrery_kit::ports::documents::StoreError;
use orrery_kit::service::ServiceError;
use serde_json::json;
use std::time::{Duration, Instant};

/// The default retry delay.
const AFTER: Duration = Duration::from_secs(1);

pub fn of_service(error: ServiceError) -> Problem {
    match error {
        // A key's record lives for a day; the event that it created lives longer.
        ServiceError::Invalid { member, .. } if member == ServiceError::IDEMPOTENCY_KEY => reused(),
        ServiceError::Invalid { member, reason } => Problem::invalid(&member, reason),
        ServiceError::Missing(what) => Problem::new(Kind::Missing, what),
        ServiceError::Conflict(why) => Problem::new(Kind::Conflict, why),
        ServiceError::Changed { current, etag } => Problem::changed(*current, etag),
        ServiceError::Busy { after } => busy(after),
        ServiceError::Unavailable(why) => unavailable(&why),
        ServiceError::Broken(why) => broken(&why),
    }
}

pub fn of_store(error: StoreError) -> Problem {
    match error {
        StoreError::Busy { after } => busy(after),
        StoreError::Unavailable(why) => unavailable(&why),
        StoreError::Conflict | StoreError::Changed => {
            Problem::new(Kind::Conflict, "the same request is being answered; ask again").after(AFTER)
        }
        StoreError::Missing | StoreError::Refused { .. } => broken(&error.to_string()),
    }
}

/// A key belongs to one request.
pub fn reused() -> Problem {
    let detail = "this Idempotency-Key came with another request before; give each request its own";
    Problem::new(Kind::Reused, detail).with("member", json!(ServiceError::IDEMPOTENCY_KEY))
}

fn busy(after: Option<Duration>) -> Problem {
    Problem::new(Kind::Unavailable, "the store asks to come back later").after(after.unwrap_or(AFTER))
}

/// The reason is only logged, since it may name addresses and files.
fn unavailable(why: &str) -> Problem {
    static REFUSALS: LogLimiter = LogLimiter::new();
    if let Some(left_out) = REFUSALS.admit(Instant::now()) {
        tracing::warn!(why, left_out, "the store does not answer");
    }
    Problem::new(Kind::Unavailable, "the store does not answer now; come back later").after(AFTER)
}

/// The cause is only logged, since it may name what a caller must not know.
fn broken(why: &str) -> Problem {
    tracing::error!(why, "a service could not answer");
    Problem::new(Kind::Broken, "the request could not be answered; the server's log says why")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Callers must not see addresses and files of the server.
    #[test]
    fn internal_errors_are_not_revealed() {
        let why = || "10.0.0.7:8081 refuses /var/lib/orrery".to_owned();
        let problems = [
            of_service(ServiceError::Unavailable(why())),
            of_service(ServiceError::Broken(why())),
            of_store(StoreError::Unavailable(why())),
            of_store(StoreError::Refused { status: 400, message: why() }),
        ];
        for problem in problems {
            assert!(
                !problem.detail.contains("10.0.0.7") && !problem.detail.contains("orrery"),
                "{problem:?}"
            );
        }
        let unavailable = of_store(StoreError::Unavailable(why()));
        assert_eq!(unavailable.kind, Kind::Unavailable);
    }

    #[test]
    fn a_key_that_was_used_otherwise_is_said_to_be_so_whoever_notices() {
        let noticed = ServiceError::Invalid {
            member: ServiceError::IDEMPOTENCY_KEY.to_owned(),
            reason: "was used".to_owned(),
        };
        assert_eq!(of_service(noticed), reused());
        let invalid = ServiceError::Invalid { member: "userId".to_owned(), reason: "is empty".to_owned() };
        assert_eq!(of_service(invalid).kind, Kind::Invalid);
    }
}
