//! Bearer tokens of Entra or of the configured issuers, and the roles of their principals (wire guide §4.3).

use super::operation::Operation;
use super::place;
use crate::failure::Failure;
use crate::request::Request;
use crate::route::Route;
use crate::service::Cosmos;
use orrery_api_common::bearer::{BearerError, Principal};
use orrery_documents::roles::{Action, Roles, Scope};

const NOT_TAKEN: u32 = 5002;
const FORMAT: u32 = 5003;
const SIGNATURE: u32 = 5004;
const NOT_YET: u32 = 5005;
const EXPIRED: u32 = 5006;
const ISSUER: u32 = 5007;
const AUDIENCE: u32 = 5008;
const NO_KEYS: u32 = 5010;
const NOBODY: u32 = 5011;
/// No role can grant this.
const NOT_FOR_ROLES: u32 = 5300;
const METADATA_DENIED: u32 = 5301;
const DATA_DENIED_BY_NAME: u32 = 5302;
const DATA_DENIED_BY_RID: u32 = 5303;

pub async fn check(
    cosmos: &Cosmos,
    request: &Request,
    route: &Route<'_>,
    operation: Operation,
    token: &str,
) -> Result<(), Failure> {
    let Some(bearers) = cosmos.access().bearers() else {
        let message = "This server takes no bearer tokens; start it with --issuer, or use an account key.";
        return Err(Failure::unauthorized(message).with(NOT_TAKEN));
    };
    let principal = bearers.verify(token, cosmos.store().env().now()).await.map_err(unauthorized)?;
    if operation.actions().is_empty() {
        let asked = format!("{} {}", request.method(), request.head.uri.path());
        return Err(blocked(
            cosmos,
            NOT_FOR_ROLES,
            &format!(
                "The given request [{asked}] cannot be authorized by AAD token in data plane; use an account key"
            ),
        ));
    }
    let roles = cosmos.store().roles()?;
    let catalog = cosmos.store().catalog();
    let scope = place::scope(&catalog, route);
    for action in operation.actions() {
        if !allows(&roles, &principal, operation, *action, &scope) {
            let substatus = match *action {
                Action::ReadMetadata => METADATA_DENIED,
                _ if place::is_by_rid(&catalog, route) => DATA_DENIED_BY_RID,
                _ => DATA_DENIED_BY_NAME,
            };
            return Err(blocked(cosmos, substatus, &missing(&principal, *action, &scope)));
        }
    }
    Ok(())
}

fn allows(roles: &Roles, principal: &Principal, operation: Operation, action: Action, scope: &Scope) -> bool {
    let id = &principal.id;
    // Every client starts by reading the account, even one with access to only a part of it.
    let anywhere = operation == Operation::ReadAccount;
    let by_assignment =
        if anywhere { roles.allow_somewhere(id, action) } else { roles.allow(id, action, scope) };
    let by_token = principal.grants.iter().any(|grant| {
        let covers = anywhere || Scope::parse(&grant.scope).is_some_and(|granted| granted.covers(scope));
        covers && roles.definition(&grant.role).is_some_and(|role| role.allows(action))
    });
    by_assignment || by_token
}

fn missing(principal: &Principal, action: Action, scope: &Scope) -> String {
    format!(
        "Request is blocked because principal [{}] does not have required RBAC permissions to perform action [{}] on resource [{scope}]; \
         give it a role that has this with: orrery role assign",
        principal.id,
        action.name()
    )
}

fn blocked(cosmos: &Cosmos, substatus: u32, why: &str) -> Failure {
    Failure::forbidden(format!("Request blocked by Auth {} : {why}.", cosmos.account())).with(substatus)
}

fn unauthorized(error: BearerError) -> Failure {
    let substatus = match error {
        BearerError::Malformed | BearerError::Algorithm => FORMAT,
        BearerError::Signature | BearerError::UnknownKey => SIGNATURE,
        BearerError::NotYet => NOT_YET,
        BearerError::Expired => EXPIRED,
        BearerError::Issuer(_) => ISSUER,
        BearerError::Audience(_) => AUDIENCE,
        BearerError::KeysMissing(_) => NO_KEYS,
        BearerError::Nobody => NOBODY,
    };
    Failure::unauthorized(format!("The bearer token is not taken: {error}.")).with(substatus)
}
