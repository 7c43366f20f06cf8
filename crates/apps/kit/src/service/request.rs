//! A handler's input and output: a routed, authorized and decoded request, and a response before
//! serialization.

use super::{LiveFeed, ServiceError};
use bytes::Bytes;
use http::StatusCode;
use serde::Serialize;
use serde_json::Value;

#[derive(Clone, Debug, Default)]
pub struct Request {
    /// The values of the path parameters.
    pub path: Vec<(&'static str, String)>,
    pub query: Vec<(String, String)>,
    pub body: Bytes,
    /// The etag that the record must still have.
    pub if_match: Option<String>,
    /// Prefixed with the caller's name, since two callers may choose the same key.
    pub idempotency_key: Option<String>,
    /// The cursor at which a stream resumes.
    pub last_event_id: Option<String>,
}

impl Request {
    /// The value of the path parameter `{name}`. The route declares it, so it is present.
    pub fn path(&self, name: &str) -> &str {
        self.path.iter().find(|(known, _)| *known == name).map_or("", |(_, text)| text)
    }

    pub fn query(&self, name: &str) -> Option<&str> {
        let found = self.query.iter().find(|(known, _)| known == name);
        found.map(|(_, text)| text.as_str()).filter(|text| !text.is_empty())
    }

    /// A boolean query parameter.
    pub fn flag(&self, name: &str) -> Result<bool, ServiceError> {
        match self.query(name) {
            None | Some("false" | "0") => Ok(false),
            Some("true" | "1") => Ok(true),
            Some(_) => Err(ServiceError::invalid(name, "it is true or false")),
        }
    }

    pub fn number(&self, name: &str, from: usize, to: usize) -> Result<Option<usize>, ServiceError> {
        let Some(text) = self.query(name) else { return Ok(None) };
        let number = text.parse().ok().filter(|number| (from..=to).contains(number));
        let invalid = || ServiceError::invalid(name, format!("it is a number from {from} to {to}"));
        number.map(Some).ok_or_else(invalid)
    }

    /// The body, which must be JSON.
    pub fn json(&self) -> Result<Value, ServiceError> {
        if self.body.is_empty() {
            return Err(ServiceError::invalid("", "the request has no body; send a JSON object"));
        }
        serde_json::from_slice(&self.body)
            .map_err(|error| ServiceError::invalid("", format!("the body is not JSON: {error}")))
    }

    /// The body, or an empty object if it is optional and missing.
    pub fn json_if_any(&self) -> Result<Value, ServiceError> {
        if self.body.is_empty() { Ok(Value::Object(Default::default())) } else { self.json() }
    }
}

pub struct Response {
    pub status: StatusCode,
    pub etag: Option<String>,
    pub content: Content,
    /// Whether everything requested was done. If not, the caller must ask again, so no idempotency
    /// record stores the response.
    pub is_whole: bool,
}

pub enum Content {
    Json(Value),
    Html(&'static str),
    Live(LiveFeed),
}

impl Response {
    pub fn ok(value: impl Serialize) -> Self {
        Self::with_status(StatusCode::OK, value)
    }

    pub fn with_status(status: StatusCode, value: impl Serialize) -> Self {
        // Serialization fails only for maps whose keys are not strings, and there are none.
        let value = serde_json::to_value(value).unwrap_or_default();
        Self { status, etag: None, content: Content::Json(value), is_whole: true }
    }

    pub fn tagged(value: impl Serialize, etag: String) -> Self {
        Self { etag: Some(etag), ..Self::ok(value) }
    }

    pub fn html(text: &'static str) -> Self {
        Self { content: Content::Html(text), ..Self::ok(()) }
    }

    pub fn live(feed: LiveFeed) -> Self {
        Self { content: Content::Live(feed), ..Self::ok(()) }
    }
}
