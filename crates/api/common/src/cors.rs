//! CORS responses for browsers: preflights, and the headers that let a page of an allowed origin read a
//! response.

use crate::body::{Answer, body};
use crate::limits;
use http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_HEADERS,
    ACCESS_CONTROL_REQUEST_METHOD, HeaderName, VARY,
};
use http::{HeaderMap, HeaderValue, Method, Response, StatusCode};

const REQUEST_PRIVATE_NETWORK: HeaderName = HeaderName::from_static("access-control-request-private-network");
const ALLOW_PRIVATE_NETWORK: HeaderName = HeaderName::from_static("access-control-allow-private-network");

/// The response to a preflight request; `None` for any other request.
pub(crate) fn preflight<B: Answer>(
    method: &Method,
    headers: &HeaderMap,
    origin: &HeaderValue,
) -> Option<Response<B>> {
    let wanted = headers.get(ACCESS_CONTROL_REQUEST_METHOD).filter(|_| method == Method::OPTIONS)?;
    let mut response = Response::new(B::from(body("")));
    *response.status_mut() = StatusCode::NO_CONTENT;
    let told = response.headers_mut();
    told.insert(ACCESS_CONTROL_ALLOW_METHODS, wanted.clone());
    if let Some(names) = headers.get(ACCESS_CONTROL_REQUEST_HEADERS) {
        told.insert(ACCESS_CONTROL_ALLOW_HEADERS, names.clone());
    }
    if headers.contains_key(REQUEST_PRIVATE_NETWORK) {
        told.insert(ALLOW_PRIVATE_NETWORK, HeaderValue::from_static("true"));
    }
    told.insert(ACCESS_CONTROL_MAX_AGE, HeaderValue::from(limits::PREFLIGHT_SECONDS));
    allow(told, origin);
    Some(response)
}

/// Lets a page of this origin read the response and its headers.
pub(crate) fn allow(headers: &mut HeaderMap, origin: &HeaderValue) {
    headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone());
    headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static("*"));
    headers.append(VARY, HeaderValue::from_static("Origin"));
}
