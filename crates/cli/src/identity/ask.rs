//! Requests to the services port of a running server, signed with an account key.

use crate::client::{ServerFlags, block_on};
use bytes::Bytes;
use http::{Method, Request};
use serde_json::Value;

/// The answer to one request.
pub fn ask(flags: &ServerFlags, method: Method, path: &str, body: Option<&Value>) -> Result<Value, String> {
    let body = body.map_or_else(Bytes::new, |body| Bytes::from(body.to_string()));
    let request = Request::builder().method(method).uri(path);
    block_on(async { flags.services().await?.ask(request, body).await })?
}
