//! Answers of this service, without the standard headers, which are put on them at the end.

use bytes::Bytes;
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use http::{HeaderName, HeaderValue, Response, StatusCode};
use orrery_api_common::{Body, body};

pub fn empty(status: StatusCode) -> Response<Body> {
    let mut response = Response::new(body(Bytes::new()));
    *response.status_mut() = status;
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    response
}

pub fn xml(status: StatusCode, document: Bytes) -> Response<Body> {
    let mut response = empty(status);
    *response.body_mut() = body(document);
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/xml"));
    response
}

/// The value is ASCII.
pub fn insert(response: &mut Response<Body>, name: HeaderName, value: &str) {
    let value = HeaderValue::from_str(value).expect("what this service says in headers is ASCII");
    response.headers_mut().insert(name, value);
}
