//! The response to every failed request on the services port: `application/problem+json` (RFC 9457).
//!
//! `type` links to the section of `/v1/docs` that explains the kind. Invalid input names the member and the reason; a
//! stale etag returns the current document.

use crate::body::{Body, BodyError, body};
use http::header::{ALLOW, CONTENT_TYPE, ETAG, HeaderName, RETRY_AFTER, WWW_AUTHENTICATE};
use http::{HeaderValue, Response, StatusCode};
use serde_json::{Map, Value, json};
use std::time::Duration;

pub const CONTENT: &str = "application/problem+json";
/// The `type` of a problem that is explained by its status (RFC 9457, 4.2.1).
pub const BLANK: &str = "about:blank";

/// The kinds, each with its status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Invalid,
    Unauthorized,
    Forbidden,
    Missing,
    Verb,
    Conflict,
    Changed,
    TooLarge,
    Reused,
    TooMany,
    Broken,
    Unavailable,
    /// Explained by the status, without a section in `/v1/docs`.
    Other(StatusCode),
}

impl Kind {
    /// The kinds that `/v1/docs` explains.
    pub const EXPLAINED: [Self; 12] = [
        Self::Invalid,
        Self::Unauthorized,
        Self::Forbidden,
        Self::Missing,
        Self::Verb,
        Self::Conflict,
        Self::Changed,
        Self::TooLarge,
        Self::Reused,
        Self::TooMany,
        Self::Broken,
        Self::Unavailable,
    ];

    /// The kind for a status. 422 belongs to idempotency keys alone.
    pub fn of(status: StatusCode) -> Self {
        let mut kinds = Self::EXPLAINED.into_iter().filter(|kind| *kind != Self::Reused);
        kinds.find(|kind| kind.status() == status).unwrap_or(Self::Other(status))
    }

    pub fn status(self) -> StatusCode {
        match self {
            Self::Invalid => StatusCode::BAD_REQUEST,
            Self::Unauthorized => StatusCode::UNAUTHORIZED,
            Self::Forbidden => StatusCode::FORBIDDEN,
            Self::Missing => StatusCode::NOT_FOUND,
            Self::Verb => StatusCode::METHOD_NOT_ALLOWED,
            Self::Conflict => StatusCode::CONFLICT,
            Self::Changed => StatusCode::PRECONDITION_FAILED,
            Self::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            Self::Reused => StatusCode::UNPROCESSABLE_ENTITY,
            Self::TooMany => StatusCode::TOO_MANY_REQUESTS,
            Self::Broken => StatusCode::INTERNAL_SERVER_ERROR,
            Self::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
            Self::Other(status) => status,
        }
    }

    /// The member `type`; what follows `#` is an anchor on the page.
    pub fn uri(self) -> &'static str {
        match self {
            Self::Invalid => "/v1/docs#invalid-input",
            Self::Unauthorized => "/v1/docs#who-are-you",
            Self::Forbidden => "/v1/docs#not-yours",
            Self::Missing => "/v1/docs#not-there",
            Self::Verb => "/v1/docs#verb-not-allowed",
            Self::Conflict => "/v1/docs#conflict",
            Self::Changed => "/v1/docs#changed-meanwhile",
            Self::TooLarge => "/v1/docs#too-large",
            Self::Reused => "/v1/docs#key-reused",
            Self::TooMany => "/v1/docs#too-many-requests",
            Self::Broken => "/v1/docs#broken",
            Self::Unavailable => "/v1/docs#come-back-later",
            Self::Other(_) => BLANK,
        }
    }

    pub fn title(self) -> &'static str {
        match self {
            Self::Invalid => "The input is not valid",
            Self::Unauthorized => "Say who you are",
            Self::Forbidden => "This is not for you",
            Self::Missing => "There is no such thing",
            Self::Verb => "The verb is not allowed here",
            Self::Conflict => "This does not go with its present state",
            Self::Changed => "It has changed meanwhile",
            Self::TooLarge => "The request is too large",
            Self::Reused => "The idempotency key was used for something else",
            Self::TooMany => "Too many requests",
            Self::Broken => "The server has a fault",
            Self::Unavailable => "Come back later",
            Self::Other(status) => status.canonical_reason().unwrap_or_default(),
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Problem {
    pub kind: Kind,
    pub detail: String,
    /// Additional members.
    more: Box<Map<String, Value>>,
    headers: Vec<(HeaderName, String)>,
}

impl Problem {
    pub fn new(kind: Kind, detail: impl Into<String>) -> Self {
        Self { kind, detail: detail.into(), more: Box::default(), headers: Vec::new() }
    }

    /// A member of the input or a parameter, and its error.
    pub fn invalid(member: &str, reason: impl Into<String>) -> Self {
        let reason = reason.into();
        let detail = if member.is_empty() { reason.clone() } else { format!("{member}: {reason}") };
        Self::new(Kind::Invalid, detail).with("member", json!(member)).with("reason", json!(reason))
    }

    pub fn unauthorized(detail: impl Into<String>) -> Self {
        Self::new(Kind::Unauthorized, detail)
    }

    pub fn verb(allowed: &str) -> Self {
        let mut problem = Self::new(Kind::Verb, format!("this takes {allowed}"));
        problem.headers.push((ALLOW, allowed.to_owned()));
        problem
    }

    pub fn changed(current: Value, etag: String) -> Self {
        let detail =
            "the tag in If-Match is not its tag any more; `current` is what it is now, and ETag its tag";
        let mut problem = Self::new(Kind::Changed, detail).with("current", current);
        problem.headers.push((ETAG, etag));
        problem
    }

    pub fn after(mut self, after: Duration) -> Self {
        self.headers.push((RETRY_AFTER, after.as_millis().div_ceil(1000).max(1).to_string()));
        self
    }

    pub fn with(mut self, name: &str, value: Value) -> Self {
        self.more.insert(name.to_owned(), value);
        self
    }

    /// `instance` is the requested path.
    pub fn into_response<B: From<Body>>(self, instance: &str) -> Response<B> {
        let status = self.kind.status();
        let mut members = Map::new();
        members.insert("type".to_owned(), json!(self.kind.uri()));
        members.insert("title".to_owned(), json!(self.kind.title()));
        members.insert("status".to_owned(), json!(status.as_u16()));
        members.insert("detail".to_owned(), json!(self.detail));
        members.insert("instance".to_owned(), json!(instance));
        members.extend(*self.more);
        let mut response = Response::new(B::from(body(Value::Object(members).to_string())));
        *response.status_mut() = status;
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(CONTENT));
        if self.kind == Kind::Unauthorized {
            let challenge = HeaderValue::from_static("Bearer realm=\"orrery\"");
            response.headers_mut().insert(WWW_AUTHENTICATE, challenge);
        }
        for (name, value) in self.headers {
            if let Ok(value) = HeaderValue::from_str(&value) {
                response.headers_mut().insert(name, value);
            }
        }
        response
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_that_no_page_explains_says_all_itself() {
        assert_eq!(Kind::of(StatusCode::NOT_FOUND), Kind::Missing);
        for status in [StatusCode::UNSUPPORTED_MEDIA_TYPE, StatusCode::UNPROCESSABLE_ENTITY] {
            let kind = Kind::of(status);
            assert_eq!((kind.status(), kind.uri()), (status, BLANK));
            assert_eq!(Some(kind.title()), status.canonical_reason());
        }
    }

    #[test]
    fn an_unknown_caller_gets_a_challenge() {
        let response: Response<Body> = Problem::unauthorized("who?").into_response("/v1/keys");
        assert_eq!(response.status(), StatusCode::UNAUTHORIZED);
        assert_eq!(response.headers()[WWW_AUTHENTICATE], "Bearer realm=\"orrery\"");
        assert_eq!(response.headers()[CONTENT_TYPE], CONTENT);
    }
}
