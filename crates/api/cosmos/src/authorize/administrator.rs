//! Whoever changes keys or roles proves to have a read-write key, signed as every request is.

use super::master;
use crate::failure::Failure;
use crate::route::{Located, Route};
use crate::service::Cosmos;
use http::header::AUTHORIZATION;
use http::request::Parts;
use orrery_api_common::{Access, TokenKind, parse_authorization};

/// Whether a request of the services port, about this type of thing, comes with a key that may write. Its path is what is
/// signed.
pub fn check_administrator(cosmos: &Cosmos, head: &Parts, kind: &str) -> Result<(), Failure> {
    let given = head.headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let token = parse_authorization(given)
        .map_err(|error| Failure::unauthorized(format!("The authorization header is not valid: {error}.")))?;
    if token.kind != TokenKind::Master {
        return Err(Failure::unauthorized("This wants a signature made with an account key."));
    }
    let link = head.uri.path().trim_matches('/').to_owned();
    let located = Located { route: Route::Account, resource_type: kind.into(), link };
    let (keys, env) = (cosmos.access().keys(), cosmos.store().env());
    match master::signed_by(&head.method, &located, &head.headers, &token.signature, &keys, env)? {
        Access::ReadWrite => Ok(()),
        Access::ReadOnly => Err(Failure::forbidden("The key is read-only; this wants a read-write key.")),
    }
}
