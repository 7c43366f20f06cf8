//! Errors of stores, of whatever kind.

use std::time::Duration;

/// Why a store did not execute a request, as far as services distinguish the reasons.
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
    /// Whether a retry may succeed later without a change to the request: a credential may be renewed,
    /// a container recreated.
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Busy { .. } | Self::Unavailable(_) => true,
            Self::Refused { status, .. } => matches!(status, 401 | 404),
            Self::Conflict | Self::Changed | Self::Missing => false,
        }
    }
}
