//! Requests to the services port of a running server, signed with an account key.

use crate::client::{ServerFlags, block_on};
use bytes::Bytes;
use http::Method;
use orrery_core::Env;
use serde_json::Value;

/// The answer to one request about `kind`.
pub fn ask(
    flags: &ServerFlags,
    method: Method,
    kind: &str,
    path: &str,
    body: Option<&Value>,
) -> Result<Value, String> {
    let account = flags.account()?;
    let now = Env::system().map_err(|error| error.to_string())?.now();
    let body = body.map_or_else(Bytes::new, |body| Bytes::from(body.to_string()));
    let request = account.signed(method, kind, path.trim_matches('/'), path, now);
    block_on(async { flags.services_of(&account).await?.ask(request, body).await })?
}
