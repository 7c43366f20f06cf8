//! Why an operation failed, distinguished by what the caller can do about it.

use crate::ports::documents::StoreError;
use serde_json::Value;
use std::time::Duration;

#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ServiceError {
    /// The request must change: `member` is the location in the caller's terms.
    #[error("{member}: {reason}")]
    Invalid { member: String, reason: String },
    #[error("{0}")]
    Missing(String),
    /// The record's state does not permit it.
    #[error("{0}")]
    Conflict(String),
    /// Someone else changed the record; this is its current version.
    #[error("it has changed; look at what it is now and try again with its tag")]
    Changed { current: Box<Value>, etag: String },
    #[error("too much is asked at once; come back later")]
    Busy { after: Option<Duration> },
    #[error("the store does not answer: {0}")]
    Unavailable(String),
    /// The store refused something it should accept, or contains an item that is not one of our
    /// records.
    #[error("{0}")]
    Broken(String),
}

impl ServiceError {
    /// As invalid input: the key was used with another request before.
    pub const IDEMPOTENCY_KEY: &'static str = "Idempotency-Key";

    pub fn invalid(member: &str, reason: impl Into<String>) -> Self {
        Self::Invalid { member: member.to_owned(), reason: reason.into() }
    }

    /// The error of a page: a store refuses a foreign continuation, and the caller who sent it must be
    /// told.
    pub fn of_page(error: StoreError, continuation: Option<&str>) -> Self {
        match error {
            StoreError::Refused { status: 400, .. } if continuation.is_some() => {
                Self::invalid("continuation", "is none that this list gave; begin with the first page")
            }
            error => error.into(),
        }
    }
}

impl From<StoreError> for ServiceError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Conflict => Self::Conflict("An item with this id is there already.".to_owned()),
            // Operations retry by themselves; an error here lost every race.
            StoreError::Changed => Self::Busy { after: None },
            StoreError::Missing => Self::Missing("The item is not there.".to_owned()),
            StoreError::Busy { after } => Self::Busy { after },
            StoreError::Unavailable(reason) => Self::Unavailable(reason),
            // The operator renews an expired credential; nothing is lost until then.
            StoreError::Refused { status: 401, message } => {
                Self::Unavailable(format!("it does not accept the credential: {message}"))
            }
            StoreError::Refused { status, message } => {
                Self::Broken(format!("The store refuses with {status}: {message}"))
            }
        }
    }
}
