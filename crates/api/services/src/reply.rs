//! What an operation answers with.

use crate::body::ServiceBody;
use http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG};
use http::{HeaderValue, Response, StatusCode};
use serde::Serialize;
use serde_json::Value;

pub struct Reply {
    pub status: StatusCode,
    pub etag: Option<String>,
    pub content: Content,
    /// Whether all was done that was asked for; what was not is to be asked for again, and is not remembered.
    pub is_whole: bool,
}

pub enum Content {
    Json(Value),
    Page(&'static str),
    Events(ServiceBody),
}

impl Reply {
    pub fn ok(value: impl Serialize) -> Self {
        Self::with_status(StatusCode::OK, value)
    }

    pub fn with_status(status: StatusCode, value: impl Serialize) -> Self {
        // Only a map whose keys are no texts cannot be written, and there is none.
        let value = serde_json::to_value(value).unwrap_or_default();
        Self { status, etag: None, content: Content::Json(value), is_whole: true }
    }

    pub fn tagged(value: impl Serialize, etag: String) -> Self {
        Self { etag: Some(etag), ..Self::ok(value) }
    }

    pub fn into_response(self) -> Response<ServiceBody> {
        let (kind, body) = match self.content {
            Content::Json(value) => ("application/json", ServiceBody::whole(value.to_string())),
            Content::Page(text) => ("text/html; charset=utf-8", ServiceBody::whole(text)),
            Content::Events(body) => ("text/event-stream", body),
        };
        let mut response = Response::new(body);
        *response.status_mut() = self.status;
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        if kind.starts_with("text/html") {
            let only_itself = "default-src 'self' 'unsafe-inline'; frame-ancestors 'none'";
            headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(only_itself));
        }
        if let Some(etag) = self.etag.and_then(|etag| HeaderValue::from_str(&etag).ok()) {
            headers.insert(ETAG, etag);
        }
        response
    }
}
