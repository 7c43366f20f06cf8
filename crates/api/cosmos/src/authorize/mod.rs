//! Authentication and authorization: account keys, resource tokens, bearer tokens with roles (wire guide §4).
//!
//! ```text
//! authorization header ─┬─ type=master    master           a key: everything, or reading
//!                       ├─ type=resource  resource_token ─ grant    what one permission covers
//!                       └─ type=aad       bearer ───────── roles    what somebody's roles allow
//! route and verb ─────── operation ──────── what of all that is asked for, for every route
//! ```
//!
//! A new route does not compile until `operation` says what it needs.

mod access;
mod administrator;
mod bearer;
mod grant;
mod master;
mod mint;
mod operation;
mod place;
mod resource_token;

pub use access::Access;
pub use administrator::signed_access;
pub use mint::{Minting, check_resource};
pub(crate) use operation::Operation;
pub(crate) use place::named;

use crate::failure::Failure;
use crate::header;
use crate::request::Request;
use crate::route::Located;
use crate::service::Cosmos;
use http::header::AUTHORIZATION;
use orrery_api_common::{TokenKind, parse_authorization};

/// The request's operation, if it is permitted.
pub async fn authorize(
    cosmos: &Cosmos,
    request: &Request,
    located: &Located<'_>,
) -> Result<Operation, Failure> {
    orrery_core::tour_step!();
    let Some(given) = request.header(&AUTHORIZATION) else {
        return Err(Failure::unauthorized(
            "Required Header authorization is missing. Ensure a valid Authorization token is passed.",
        ));
    };
    let token = parse_authorization(given)
        .map_err(|error| Failure::unauthorized(format!("The authorization header is not valid: {error}.")))?;
    let is_change_feed = request.header(&header::A_IM).is_some();
    let operation = Operation::of(&located.route, request.method(), request.post(), is_change_feed);
    let signature = &token.signature;
    match token.kind {
        TokenKind::Master => {
            let (keys, env) = (cosmos.access().keys(), cosmos.store().env());
            master::check(request, located, operation, signature, &keys, env)?;
        }
        TokenKind::Resource => grant::check(cosmos, request, &located.route, operation, signature)?,
        TokenKind::Aad => bearer::check(cosmos, request, &located.route, operation, signature).await?,
        TokenKind::Sas => {
            return Err(Failure::unauthorized(
                "Shared access signatures are not taken; use a key, a resource token or a bearer token.",
            ));
        }
    }
    Ok(operation)
}
