//! Encodes a handler's response into bytes and headers.

use crate::body::ServiceBody;
use crate::sse::Streams;
use http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG};
use http::{HeaderValue, Response};
use orrery_api_common::problem::Problem;
use orrery_kit::service::{self, Content};

pub async fn response(
    response: service::Response,
    streams: &Streams,
) -> Result<Response<ServiceBody>, Problem> {
    let (kind, body) = match response.content {
        Content::Json(value) => ("application/json", ServiceBody::whole(value.to_string())),
        Content::Html(text) => ("text/html; charset=utf-8", ServiceBody::whole(text)),
        Content::Live(feed) => ("text/event-stream", streams.open(feed).await?),
    };
    let mut encoded = Response::new(body);
    *encoded.status_mut() = response.status;
    let headers = encoded.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    if kind.starts_with("text/html") {
        let only_itself = "default-src 'self' 'unsafe-inline'; frame-ancestors 'none'";
        headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(only_itself));
    }
    if let Some(etag) = response.etag.and_then(|etag| HeaderValue::from_str(&etag).ok()) {
        headers.insert(ETAG, etag);
    }
    Ok(encoded)
}
