//! Bearer tokens of the configured issuers, and the roles of whom they name (wire guide §3.7).
//!
//! Roles come from three places: the grants in a token of our development issuer, each with its scope; the claim `roles`, by
//! which an issuer's administrator names data roles for the whole account; and assignments that the server keeps.

use super::challenge::{RESOURCE, challenged};
use crate::error::StorageError;
use crate::request::StorageRequest;
use crate::storage::Storage;
use http::StatusCode;
use orrery_api_common::bearer::{BearerError, Grant, Principal};

/// Where Azure has the services of an account.
const SUFFIX: &str = "core.windows.net";

pub async fn check(
    storage: &Storage,
    request: &StorageRequest,
    token: &str,
) -> Result<(Principal, Vec<Grant>), StorageError> {
    let options = storage.options();
    let Some(bearers) = &options.bearers else {
        let detail = "This server takes no bearer tokens; start it with --issuer, or use an account key.";
        return Err(refused(storage, detail.to_owned()));
    };
    let mut audiences = vec![RESOURCE.to_owned()];
    let (account, word) = (request.account.as_str(), request.protocol_service().word());
    audiences.push(format!("https://{account}.{word}.{SUFFIX}"));
    audiences.extend(options.audiences.iter().map(|audience| audience.trim_end_matches('/').to_owned()));
    let principal = bearers.verify_for(token, &audiences, request.now()).await;
    let principal = principal.map_err(|error| of_bearer(storage, error))?;
    let mut roles = granted(&principal);
    if let Some(assigned) = &options.assigned {
        roles.extend(assigned(&principal.id));
    }
    Ok((principal, roles))
}

/// A token with grants has their names in `roles` too, without their scopes, so these say nothing more.
fn granted(principal: &Principal) -> Vec<Grant> {
    if !principal.grants.is_empty() {
        return principal.grants.clone();
    }
    let everywhere = |role: &String| Grant { role: role.clone(), scope: "/".to_owned() };
    principal.roles.iter().map(everywhere).collect()
}

fn of_bearer(storage: &Storage, error: BearerError) -> StorageError {
    match error {
        BearerError::KeysMissing(_) => {
            StorageError::server_busy().with("AuthenticationErrorDetail", error.to_string())
        }
        BearerError::Audience(audience) => {
            let detail =
                format!("The bearer token is not taken: it is for '{audience}' and not for {RESOURCE}.");
            refused(storage, detail)
        }
        BearerError::Malformed
        | BearerError::Algorithm
        | BearerError::Issuer(_)
        | BearerError::UnknownKey
        | BearerError::Signature
        | BearerError::Expired
        | BearerError::NotYet
        | BearerError::Nobody => refused(storage, format!("The bearer token is not taken: {error}.")),
    }
}

fn refused(storage: &Storage, detail: String) -> StorageError {
    let mut error = StorageError::invalid_authentication(detail);
    error.status = StatusCode::UNAUTHORIZED;
    challenged(storage, error)
}
