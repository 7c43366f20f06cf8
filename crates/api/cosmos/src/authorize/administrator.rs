//! Requests to the services port that are signed with an account key, like requests to this port.

use super::master;
use crate::failure::Failure;
use crate::route::{Located, Route};
use crate::service::Cosmos;
use http::header::AUTHORIZATION;
use http::request::Parts;
use orrery_api_common::{Access, TokenKind, parse_authorization};

/// The access of the key that signed this request to the services port. The signature covers `kind` and the
/// path.
pub fn signed_access(cosmos: &Cosmos, head: &Parts, kind: &str) -> Result<Access, Failure> {
    let given = head.headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let token = parse_authorization(given)
        .map_err(|error| Failure::unauthorized(format!("The authorization header is not valid: {error}.")))?;
    if token.kind != TokenKind::Master {
        return Err(Failure::unauthorized("This wants a signature made with an account key."));
    }
    let link = head.uri.path().trim_matches('/').to_owned();
    let located = Located { route: Route::Account, resource_type: kind.into(), link };
    let (keys, env) = (cosmos.access().keys(), cosmos.store().env());
    master::signed_by(&head.method, &located, &head.headers, &token.signature, &keys, env)
}
