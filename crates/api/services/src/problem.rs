//! The body of every error: `application/problem+json` (RFC 9457).
//!
//! `type` links to the section of `/v1/docs` that explains the kind. Invalid input names the member and the reason; a stale
//! tag brings the document as it is now.

use crate::body::ServiceBody;
use http::header::{ALLOW, CONTENT_TYPE, ETAG, HeaderName, RETRY_AFTER, WWW_AUTHENTICATE};
use http::{HeaderValue, Response, StatusCode};
use orrery_kit::service::ServiceError;
use serde_json::{Map, Value, json};
use std::time::Duration;

pub const CONTENT: &str = "application/problem+json";

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
}

impl Kind {
    pub const ALL: [Self; 12] = [
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
        }
    }

    /// The anchor on the page, and the last part of `type`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Invalid => "invalid-input",
            Self::Unauthorized => "who-are-you",
            Self::Forbidden => "not-yours",
            Self::Missing => "not-there",
            Self::Verb => "verb-not-allowed",
            Self::Conflict => "conflict",
            Self::Changed => "changed-meanwhile",
            Self::TooLarge => "too-large",
            Self::Reused => "key-reused",
            Self::TooMany => "too-many-requests",
            Self::Broken => "broken",
            Self::Unavailable => "come-back-later",
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
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Problem {
    pub kind: Kind,
    pub detail: String,
    /// Members beside the usual ones.
    more: Box<Map<String, Value>>,
    headers: Vec<(HeaderName, String)>,
}

impl Problem {
    /// A key is for one request.
    pub fn reused() -> Self {
        let detail = "this Idempotency-Key came with another request before; give each request its own";
        Self::new(Kind::Reused, detail).with("member", json!(ServiceError::IDEMPOTENCY_KEY))
    }

    pub fn new(kind: Kind, detail: impl Into<String>) -> Self {
        Self { kind, detail: detail.into(), more: Box::default(), headers: Vec::new() }
    }

    /// Which member of the input, or parameter, and what is wrong with it.
    pub fn invalid(member: &str, reason: impl Into<String>) -> Self {
        let reason = reason.into();
        let detail = if member.is_empty() { reason.clone() } else { format!("{member}: {reason}") };
        Self::new(Kind::Invalid, detail).with("member", json!(member)).with("reason", json!(reason))
    }

    pub fn unauthorized(detail: impl Into<String>) -> Self {
        let challenge = "Bearer realm=\"orrery\"".to_owned();
        let mut problem = Self::new(Kind::Unauthorized, detail);
        problem.headers.push((WWW_AUTHENTICATE, challenge));
        problem
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

    /// `instance` is the path that was asked for.
    pub fn into_response(self, instance: &str) -> Response<ServiceBody> {
        let status = self.kind.status();
        let mut body = Map::new();
        body.insert("type".to_owned(), json!(format!("/v1/docs#{}", self.kind.name())));
        body.insert("title".to_owned(), json!(self.kind.title()));
        body.insert("status".to_owned(), json!(status.as_u16()));
        body.insert("detail".to_owned(), json!(self.detail));
        body.insert("instance".to_owned(), json!(instance));
        body.extend(*self.more);
        let mut response = Response::new(ServiceBody::whole(Value::Object(body).to_string()));
        *response.status_mut() = status;
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(CONTENT));
        for (name, value) in self.headers {
            if let Ok(value) = HeaderValue::from_str(&value) {
                response.headers_mut().insert(name, value);
            }
        }
        response
    }
}
