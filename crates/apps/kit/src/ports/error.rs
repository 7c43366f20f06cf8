//! Errors of stores, of whatever kind.

use std::time::Duration;

/// Why a store did not do what it was asked, told apart as far as a service acts on it.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum StoreError {
    #[error("it is there already")]
    Conflict,
    #[error("it has changed since it was read")]
    Changed,
    #[error("it is not there")]
    Missing,
    #[error("the store asks to come back later")]
    Busy { after: Option<Duration> },
    #[error("the store does not answer: {0}")]
    Unavailable(String),
    #[error("the store refuses with {status}: {message}")]
    Refused { status: u16, message: String },
}

impl StoreError {
    /// Whether the same may go well later, though nobody changes what is asked: a credential that ended is renewed by
    /// somebody, and a container that is gone made again.
    pub fn is_passing(&self) -> bool {
        match self {
            Self::Busy { .. } | Self::Unavailable(_) => true,
            Self::Refused { status, .. } => matches!(status, 401 | 404),
            Self::Conflict | Self::Changed | Self::Missing => false,
        }
    }
}
