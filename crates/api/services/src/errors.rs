//! What the errors of the services mean in HTTP.

use crate::notifications::visible as shown;
use crate::problem::{Kind, Problem};
use orrery_api_common::BodyError;
use orrery_kit::port::StoreError;
use orrery_notifications::service::ServiceError;
use std::time::Duration;

/// When nobody says how long, this is.
const AFTER: Duration = Duration::from_secs(1);

impl From<ServiceError> for Problem {
    fn from(error: ServiceError) -> Self {
        match error {
            ServiceError::Invalid { member, reason } => Self::invalid(&member, reason),
            ServiceError::Missing(what) => Self::new(Kind::Missing, what),
            ServiceError::Conflict(why) => Self::new(Kind::Conflict, why),
            ServiceError::Changed { current, etag } => Self::changed(shown(*current), etag),
            ServiceError::Busy { after } => busy(after),
            ServiceError::Unavailable(why) => {
                Self::new(Kind::Unavailable, format!("the store does not answer: {why}")).after(AFTER)
            }
            ServiceError::Broken(why) => broken(&why),
        }
    }
}

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Busy { after } => busy(after),
            StoreError::Unavailable(_) => Self::new(Kind::Unavailable, error.to_string()).after(AFTER),
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
            BodyError::TooSlow | BodyError::Broken(_) => Self::invalid("", error.to_string()),
        }
    }
}

fn busy(after: Option<Duration>) -> Problem {
    Problem::new(Kind::Unavailable, "the store asks to come back later").after(after.unwrap_or(AFTER))
}

/// What broke is for the log; it may name what a caller must not know.
fn broken(why: &str) -> Problem {
    tracing::error!(why, "a service could not answer");
    Problem::new(Kind::Broken, "the request could not be answered; the server's log says why")
}
