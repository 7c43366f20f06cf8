//! Who asks, and whether they may: keys, shared access signatures, tokens, nobody (wire guide §2, §3).
//!
//! ```text
//! Authorization: SharedKey…   shared_key   the account's keys over the request, and its date by our clock
//! ?sig=…                      sas          the signature over its own fields, then what they demand: conditions,
//!                                          and the stored access policy that it names
//! Authorization: Bearer …     bearer       an issuer's word, and roles
//! nothing                     challenge    unless the resource is public, by the protocol's rules
//!                             grant        what any of them may do: services, levels, letters, actions, ranges
//! ```
//!
//! The order of the checks is the service's: whose signature it is, the protocol, the address, the times, the policy, and then
//! what is asked for. Signatures are compared in constant time, and no refusal has a key or a signature in it.

mod bearer;
mod challenge;
mod conditions;
mod grant;
mod need;
mod permissions;
mod roles;
mod rules;
mod sas;
mod shared_key;
mod table_range;

pub(crate) use grant::service_letter;
pub use grant::{Caller, Grant};
pub use need::{Action, Letters, Level, Moment, Need, Resource};
pub(crate) use permissions::permissions_of_policies;
pub(crate) use roles::{Role, delegator};
pub use rules::Rules;
pub use table_range::{Bound, TableRange};

use crate::error::StorageError;
use crate::request::StorageRequest;
use crate::storage::Storage;
use http::header::AUTHORIZATION;
use orrery_protocol::storage::sas::{Kind, Sas};
use orrery_protocol::storage::shared_key::Form;

const BEARER: &str = "Bearer";

impl Storage {
    /// Whether the request may do what it needs.
    pub async fn authorize(
        &self,
        request: &StorageRequest,
        need: &Need<'_>,
        rules: &dyn Rules,
    ) -> Result<Grant, StorageError> {
        let grant = self.authenticate(request, need, rules).await?;
        if !matches!(grant.caller, Caller::Anonymous) {
            request.peer.confirm();
        }
        if request.is_secondary && need.is_write {
            return Err(StorageError::secondary_is_read_only());
        }
        grant.permit(need)?;
        Ok(grant)
    }

    async fn authenticate(
        &self,
        request: &StorageRequest,
        need: &Need<'_>,
        rules: &dyn Rules,
    ) -> Result<Grant, StorageError> {
        let sas = Sas::read(&request.query).transpose();
        let sas = sas.map_err(|error| StorageError::authentication_failed(error.to_string()))?;
        let given = request.head.headers.get(AUTHORIZATION);
        let Some(given) = given else {
            return match sas {
                Some(sas) if needs_token(&sas) => Err(challenge::no_information(self, request)),
                Some(sas) => sas::check(self, request, need, rules, sas),
                None if rules.is_public()? => Ok(Grant::new(request, Caller::Anonymous)),
                None => Err(challenge::no_information(self, request)),
            };
        };
        let (scheme, credential) = split(given.to_str().unwrap_or_default());
        let form =
            [Form::Full, Form::Lite].into_iter().find(|form| scheme.eq_ignore_ascii_case(form.scheme()));
        match (form, sas) {
            (Some(form), None) => {
                shared_key::check(self, request, form, credential)?;
                Ok(Grant::new(request, Caller::Key))
            }
            (None, None) if scheme.eq_ignore_ascii_case(BEARER) => {
                let (principal, roles) = bearer::check(self, request, credential).await?;
                Ok(Grant::new(request, Caller::Token { principal, roles }))
            }
            (None, Some(sas)) if scheme.eq_ignore_ascii_case(BEARER) && needs_token(&sas) => {
                let (principal, _) = bearer::check(self, request, credential).await?;
                if sas.fields.sduoid.as_deref() != Some(principal.id.as_str()) {
                    let detail = "The signature is for another user than the token's.";
                    return Err(StorageError::authentication_failed(detail));
                }
                sas::check(self, request, need, rules, sas)
            }
            (_, Some(_)) => {
                let detail =
                    "A request has a shared access signature or the header Authorization, and not both.";
                Err(StorageError::invalid_authentication(detail))
            }
            (None, None) => {
                let detail = "The scheme of the header Authorization is SharedKey, SharedKeyLite or Bearer.";
                Err(StorageError::invalid_authentication(detail))
            }
        }
    }
}

/// A signature that one user alone may use, who shows a token beside it.
fn needs_token(sas: &Sas) -> bool {
    sas.kind == Kind::Delegation && sas.fields.sduoid.as_deref().is_some_and(|user| !user.is_empty())
}

fn split(authorization: &str) -> (&str, &str) {
    let authorization = authorization.trim();
    let (scheme, credential) = authorization.split_once(' ').unwrap_or((authorization, ""));
    (scheme, credential.trim())
}

#[cfg(test)]
mod tests;
