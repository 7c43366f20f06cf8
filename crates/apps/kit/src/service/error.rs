//! Why an operation was not done, told apart by what the caller can do about it.

use crate::ports::documents::StoreError;
use serde_json::Value;
use std::time::Duration;

#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ServiceError {
    /// Say it otherwise: `member` is where, in the caller's own words.
    #[error("{member}: {reason}")]
    Invalid { member: String, reason: String },
    #[error("{0}")]
    Missing(String),
    /// The record's state does not allow it.
    #[error("{0}")]
    Conflict(String),
    /// Somebody else changed it; here is what it is now.
    #[error("it has changed; look at what it is now and try again with its tag")]
    Changed { current: Box<Value>, etag: String },
    #[error("too much is asked at once; come back later")]
    Busy { after: Option<Duration> },
    #[error("the store does not answer: {0}")]
    Unavailable(String),
    /// The store refused what it should not have, or holds what is no record of ours.
    #[error("{0}")]
    Broken(String),
}

impl ServiceError {
    /// As a member of invalid input: the key came with another request before.
    pub const IDEMPOTENCY_KEY: &'static str = "Idempotency-Key";

    pub fn invalid(member: &str, reason: impl Into<String>) -> Self {
        Self::Invalid { member: member.to_owned(), reason: reason.into() }
    }

    /// The error of a page: a store refuses a continuation that it did not give, and the caller who sent it must hear that.
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
            // Operations retry by themselves; what arrives here lost every time.
            StoreError::Changed => Self::Busy { after: None },
            StoreError::Missing => Self::Missing("The item is not there.".to_owned()),
            StoreError::Busy { after } => Self::Busy { after },
            StoreError::Unavailable(reason) => Self::Unavailable(reason),
            // Somebody renews a credential that ended, and nothing is lost until then.
            StoreError::Refused { status: 401, message } => {
                Self::Unavailable(format!("it does not accept the credential: {message}"))
            }
            StoreError::Refused { status, message } => {
                Self::Broken(format!("The store refuses with {status}: {message}"))
            }
        }
    }
}
