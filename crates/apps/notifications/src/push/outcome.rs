//! The result of a push, as far as the event and the device depend on it.

use http::HeaderMap;
use orrery_core::Timestamp;
use orrery_kit::http::SendError;
use std::time::Duration;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The provider accepted it.
    Delivered,
    /// The device is gone: it is revoked and not retried.
    Unregistered { reason: String, status: Option<u16> },
    /// It may succeed later. `after` is the wait that the provider asked for.
    Later { after: Option<Duration>, reason: String, status: Option<u16>, may_have_arrived: bool },
    /// The provider refuses this message; the device is kept.
    Refused { reason: String, status: Option<u16> },
    /// It will succeed once the operator has changed something; the reason says what.
    Misconfigured { reason: String, status: Option<u16> },
}

impl Outcome {
    pub fn is_delivered(&self) -> bool {
        matches!(self, Self::Delivered)
    }

    /// The provider's status, if it responded.
    pub fn status(&self) -> Option<u16> {
        match self {
            Self::Delivered => Some(200),
            Self::Unregistered { status, .. }
            | Self::Later { status, .. }
            | Self::Refused { status, .. }
            | Self::Misconfigured { status, .. } => *status,
        }
    }

    /// A text for people; `delivered` on success.
    pub fn reason(&self) -> &str {
        match self {
            Self::Delivered => "delivered",
            Self::Unregistered { reason, .. }
            | Self::Later { reason, .. }
            | Self::Refused { reason, .. }
            | Self::Misconfigured { reason, .. } => reason,
        }
    }

    /// A copy with a secret removed from its reason.
    pub fn without(mut self, secret: &str) -> Self {
        match &mut self {
            Self::Delivered => {}
            Self::Unregistered { reason, .. }
            | Self::Later { reason, .. }
            | Self::Refused { reason, .. }
            | Self::Misconfigured { reason, .. } => {
                if secret.len() >= SECRET_BYTES_MIN && reason.contains(secret) {
                    *reason = reason.replace(secret, "(the device's token)");
                }
            }
        }
        self
    }

    pub(super) fn unsent(name: &str, error: &SendError) -> Self {
        let reason = format!("{name} gave no answer: {error}");
        Self::Later { after: None, reason, status: None, may_have_arrived: error.may_have_arrived() }
    }
}

/// Anything shorter is not a provider's token and could be part of a word.
const SECRET_BYTES_MIN: usize = 8;

/// `Retry-After`: seconds, or a date.
pub fn retry_after(headers: &HeaderMap, now: Timestamp) -> Option<Duration> {
    let text = headers.get(http::header::RETRY_AFTER)?.to_str().ok()?.trim();
    match text.parse() {
        Ok(seconds) => Some(Duration::from_secs(seconds)),
        Err(_) => {
            let at = Timestamp::parse_http(text)?;
            Some(Duration::from_millis(at.millis().saturating_sub(now.millis())))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_cut_out_and_words_are_left() {
        let reason = |secret: &str| {
            let outcome = Outcome::Refused { reason: "the token tttttttt is bad".to_owned(), status: None };
            outcome.without(secret).reason().to_owned()
        };
        assert_eq!(reason("tttttttt"), "the token (the device's token) is bad");
        assert_eq!(reason("t"), "the token tttttttt is bad");
        assert_eq!(reason(""), "the token tttttttt is bad");
    }

    #[test]
    fn retry_after_is_seconds_or_a_date() {
        let now = Timestamp::from_seconds(1_794_704_563);
        let check = |text: &str, expected: Option<u64>| {
            let headers =
                HeaderMap::from_iter([(http::header::RETRY_AFTER, text.parse().expect("a header"))]);
            assert_eq!(retry_after(&headers, now), expected.map(Duration::from_secs), "{text}");
        };
        check("120", Some(120));
        check(" 0 ", Some(0));
        check(&now.plus(Duration::from_secs(90)).to_http(), Some(90));
        check("Sun, 15 Nov 2020 01:02:43 GMT", Some(0));
        check("soon", None);
        check("-1", None);
        assert_eq!(retry_after(&HeaderMap::new(), now), None);
    }
}
