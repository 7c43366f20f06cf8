//! Answers in JSON.

use http::{HeaderValue, Response, StatusCode, header};
use orrery_api_common::Body;
use serde_json::Value;

pub fn json(status: u16, body: &Value) -> Response<Body> {
    let mut response = Response::new(orrery_api_common::body(body.to_string()));
    *response.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    response
        .headers_mut()
        .insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json; charset=UTF-8"));
    response
}

pub fn retry_after(mut response: Response<Body>, seconds: Option<u64>) -> Response<Body> {
    if let Some(seconds) = seconds {
        response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    }
    response
}
