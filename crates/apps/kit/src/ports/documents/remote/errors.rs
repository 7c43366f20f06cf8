//! Maps statuses to the port's errors, and parses responses.

use crate::ports::documents::StoreError;
use serde::de::DeserializeOwned;
use std::ops::Deref;
use std::time::Duration;

const SESSION_NOT_AVAILABLE: u32 = 1002;
const OWNER_MISSING: u32 = 1003;
/// Characters of a refusal's message that are kept.
const MESSAGE_CHARS_MAX: usize = 500;

/// A parsed response.
pub struct Answer(pub orrery_client::Answer);

impl Deref for Answer {
    type Target = orrery_client::Answer;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

/// A response that asks for a retry.
pub struct RetryReason {
    pub error: StoreError,
    pub after: Option<Duration>,
    pub nothing_was_done: bool,
    /// The store lacks something seen before.
    pub is_behind: bool,
}

impl Answer {
    pub fn status(&self) -> u16 {
        self.status.as_u16()
    }

    pub fn is_success(&self) -> bool {
        self.status.is_success()
    }

    pub fn json<T: DeserializeOwned>(&self) -> Result<T, StoreError> {
        self.parse().map_err(|error| not_understood(&error.to_string()))
    }

    /// A physical partition is gone; the ranges must be read again.
    pub fn is_gone(&self) -> bool {
        self.status() == 410
    }

    /// The reason for the refusal.
    pub fn refusal(&self) -> StoreError {
        refusal(self.status(), self.substatus(), self.retry_after(), &message(&self.body))
    }

    fn is_session_missing(&self) -> bool {
        self.status() == 404 && self.substatus() == SESSION_NOT_AVAILABLE
    }
}

/// Why a retry may help, if it may. A gone range concerns the caller that named it.
pub fn trouble(answer: &Answer, names_a_range: bool) -> Option<RetryReason> {
    let (status, after, is_behind) = (answer.status(), answer.retry_after(), answer.is_session_missing());
    let nothing_was_done = matches!(status, 429 | 449) || is_behind;
    let is_moving = answer.is_gone() && !names_a_range;
    // An unimplemented operation will not be implemented on a retry.
    let is_trouble = nothing_was_done || is_moving || status == 408 || (status >= 500 && status != 501);
    let after = after.filter(|_| status == 429);
    is_trouble.then(|| RetryReason { error: answer.refusal(), after, nothing_was_done, is_behind })
}

pub fn not_understood(why: &str) -> StoreError {
    StoreError::Unavailable(format!("the store's answer is not understood: {why}"))
}

pub fn refused(status: u16, message: impl Into<String>) -> StoreError {
    StoreError::Refused { status, message: message.into() }
}

pub fn refusal(status: u16, substatus: u32, after: Option<Duration>, message: &str) -> StoreError {
    match (status, substatus) {
        (409, _) => StoreError::Conflict,
        (412, _) => StoreError::Changed,
        (404, SESSION_NOT_AVAILABLE) => {
            StoreError::Unavailable(format!("it does not have what was seen of it before: {message}"))
        }
        (404, OWNER_MISSING) => refused(404, message),
        (404, _) => StoreError::Missing,
        (429 | 449, _) => StoreError::Busy { after },
        (501, _) => refused(501, message),
        (408 | 410 | 500.., _) => StoreError::Unavailable(format!("{status}: {message}")),
        _ => refused(status, message),
    }
}

/// The message in an error's body.
fn message(body: &[u8]) -> String {
    let said: Option<serde_json::Value> = serde_json::from_slice(body).ok();
    let said = said.as_ref().and_then(|said| said.get("message")).and_then(|said| said.as_str());
    let said = said.map_or_else(|| String::from_utf8_lossy(body), Into::into);
    said.chars().take(MESSAGE_CHARS_MAX).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;
    use http::Response;

    fn answer(status: u16, substatus: u32) -> Answer {
        let response = Response::builder().status(status).header("x-ms-substatus", substatus);
        let response = response.header("x-ms-retry-after-ms", "7");
        let response = response.body(Bytes::from_static(br#"{"code":"X","message":"why"}"#)).unwrap();
        Answer(orrery_client::Answer::new(response))
    }

    #[test]
    fn errors_that_services_act_on_are_distinct() {
        let why = |status| StoreError::Refused { status, message: "why".to_owned() };
        let check = |status, substatus, error| assert_eq!(answer(status, substatus).refusal(), error);
        check(409, 0, StoreError::Conflict);
        check(412, 0, StoreError::Changed);
        check(404, 0, StoreError::Missing);
        check(404, 1003, why(404));
        check(400, 0, why(400));
        check(403, 0, why(403));
        check(413, 3402, why(413));
        check(429, 3200, StoreError::Busy { after: Some(Duration::from_millis(7)) });
        check(449, 0, StoreError::Busy { after: Some(Duration::from_millis(7)) });
        check(503, 0, StoreError::Unavailable("503: why".to_owned()));
        assert!(matches!(answer(404, 1002).refusal(), StoreError::Unavailable(_)));
    }

    #[test]
    fn only_transient_errors_are_retried() {
        let judged = |status, substatus, names| {
            trouble(&answer(status, substatus), names).map(|trouble| trouble.nothing_was_done)
        };
        let tried = |status, substatus| judged(status, substatus, false);
        assert_eq!((judged(410, 1002, true), judged(410, 1002, false)), (None, Some(false)));
        for status in [200, 304, 400, 401, 403, 404, 409, 412, 413, 501] {
            assert_eq!(tried(status, 0), None, "{status}");
        }
        for status in [429, 449] {
            assert_eq!(tried(status, 0), Some(true), "{status}");
        }
        assert_eq!(tried(404, 1002), Some(true));
        for status in [408, 500, 502, 503, 504] {
            assert_eq!(tried(status, 0), Some(false), "{status}");
        }
    }
}
