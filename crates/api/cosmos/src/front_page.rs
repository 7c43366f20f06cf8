//! `GET /` in a browser: a sentence about this port, instead of an error for SDKs.

use crate::request::Request;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE};
use http::{HeaderValue, Method, Response};
use orrery_api_common::{Body, body};

/// Whether a person sent the request: no SDK asks for HTML, or for the account without a credential.
pub fn is_wanted(request: &Request) -> bool {
    *request.method() == Method::GET
        && request.head.uri.path() == "/"
        && !request.head.headers.contains_key(AUTHORIZATION)
        && request.header(&ACCEPT).is_some_and(|kinds| kinds.contains("text/html"))
}

pub fn answer(services_port: Option<u16>) -> Response<Body> {
    let services =
        services_port.map(|port| format!(" Its services and a page about them are on port {port}."));
    let page = format!(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Orrery</title>\
         <p>This is the Cosmos DB endpoint of an Orrery: give this address to a Cosmos DB SDK, with the key that the server \
         printed when it started.{}</p></html>\n",
        services.unwrap_or_default()
    );
    let mut response = Response::new(body(page));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
    response
}
