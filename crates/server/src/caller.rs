//! Who calls an administrative route of the services port: one decision for all of them.
//!
//! ```text
//! Authorization: type=master…     signed over verb, kind and path with an account key   Key
//! Authorization: Bearer <key>     an account key itself; x-api-key is the same          Key
//! Authorization: Bearer <JWT>     a token whose claim `roles` has orrery.admin          Administrator
//! none                            all listeners are on loopback, no proxy between       Operator
//! ```
//!
//! The operator is whoever can open a socket of this machine; the listener has kept web pages out before. A credential
//! that does not open is refused, also where none would be needed. Being on the same machine is no identity where the
//! server can be reached from others: a proxy's requests come from there too.
//!
//! Absent: routes of tenants and users, which `api/services` answers for and which always want a credential.

use http::Method;
use http::header::AUTHORIZATION;
use http::request::Parts;
use orrery_api_common::problem::{Kind, Problem};
use orrery_api_common::{Access, is_forwarded, parse_authorization};
use orrery_api_cosmos::{Cosmos, signed_access};
use orrery_api_services::{Caller as ServiceCaller, Gate};
use orrery_protocol::services_kind;
use std::sync::Arc;

/// The role that opens administrative routes to a bearer token.
const ADMINISTRATOR: &str = "orrery.admin";

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Caller {
    Key(Access),
    Administrator { id: String },
    Operator,
}

/// What a route wants of its caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needs {
    /// It shows something; a read-only key will do.
    Reading,
    Writing,
    /// It is about credentials: the operator, too, must show one that may write.
    Credential,
    /// It is about keys that others use: one of the account's own, and not the one that everybody knows.
    OwnKey,
}

/// A cheap handle.
#[derive(Clone)]
pub struct Callers {
    cosmos: Cosmos,
    gate: Arc<Gate>,
    /// Whether only this machine can reach the server.
    is_on_loopback: bool,
}

impl Callers {
    pub fn new(cosmos: Cosmos, gate: Gate, is_on_loopback: bool) -> Self {
        Self { cosmos, gate: Arc::new(gate), is_on_loopback }
    }

    /// The caller, if the route is open to them.
    pub async fn admit(&self, head: &Parts, needs: Needs) -> Result<Caller, Problem> {
        let caller = self.identify(head).await?;
        check(&caller, needs)?;
        Ok(caller)
    }

    async fn identify(&self, head: &Parts) -> Result<Caller, Problem> {
        let given = head.headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok());
        if given.is_some_and(|given| parse_authorization(given).is_ok()) {
            let signed = signed_access(&self.cosmos, head, services_kind(head.uri.path()));
            return Ok(Caller::Key(signed?));
        }
        match self.gate.admit(&head.headers, self.cosmos.store().env().now()).await? {
            ServiceCaller::Key(access) => Ok(Caller::Key(access)),
            ServiceCaller::User { id, roles } if roles.iter().any(|role| role == ADMINISTRATOR) => {
                Ok(Caller::Administrator { id })
            }
            ServiceCaller::User { id, .. } => {
                let sentence = format!("the token of '{id}' has no role {ADMINISTRATOR}, which this wants");
                Err(Problem::new(Kind::Forbidden, sentence))
            }
            ServiceCaller::Nobody if self.is_on_loopback && !is_forwarded(&head.headers) => {
                Ok(Caller::Operator)
            }
            ServiceCaller::Nobody => Err(unknown()),
        }
    }
}

fn unknown() -> Problem {
    let sentence = format!(
        "this wants a key of the account or a bearer token with the role {ADMINISTRATOR}; without either it is \
         answered only by a server that listens on loopback alone, and not through a proxy"
    );
    Problem::unauthorized(sentence)
}

fn check(caller: &Caller, needs: Needs) -> Result<(), Problem> {
    match (caller, needs) {
        (Caller::Operator, Needs::Credential | Needs::OwnKey) => {
            let sentence = "this wants a read-write key of the account, also on loopback";
            Err(Problem::unauthorized(sentence))
        }
        (Caller::Key(Access::Published), Needs::OwnKey) => {
            let sentence = "the published key does not open keys; use one of the account's own (keys.json in the data \
                            folder has them)";
            Err(Problem::new(Kind::Forbidden, sentence))
        }
        (Caller::Key(Access::ReadOnly), Needs::Writing | Needs::Credential | Needs::OwnKey) => {
            let sentence = "the key is read-only; this wants a read-write key";
            Err(Problem::new(Kind::Forbidden, sentence))
        }
        _ => Ok(()),
    }
}

/// What a route wants; None if it is open to everybody.
pub fn needs(method: &Method, path: &str) -> Option<Needs> {
    match path {
        "/" | "/healthz" | "/readyz" => None,
        _ if orrery_api_admin::are_about_keys(method, path) => Some(Needs::OwnKey),
        _ if orrery_api_admin::are_about_credentials(path) => Some(Needs::Credential),
        _ if method == Method::GET || method == Method::HEAD => Some(Needs::Reading),
        _ => Some(Needs::Writing),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_caller_may_do_follows_from_who_they_are() {
        let administrator = Caller::Administrator { id: "ann".to_owned() };
        let allowed = |caller: &Caller| {
            let all = [Needs::Reading, Needs::Writing, Needs::Credential, Needs::OwnKey];
            all.map(|needs| check(caller, needs).is_ok())
        };
        assert_eq!(allowed(&Caller::Key(Access::ReadWrite)), [true, true, true, true]);
        assert_eq!(allowed(&Caller::Key(Access::Published)), [true, true, true, false]);
        assert_eq!(allowed(&Caller::Key(Access::ReadOnly)), [true, false, false, false]);
        assert_eq!(allowed(&administrator), [true, true, true, true]);
        assert_eq!(allowed(&Caller::Operator), [true, true, false, false]);
    }

    #[test]
    fn only_health_and_the_front_page_are_open() {
        for path in ["/", "/healthz", "/readyz"] {
            assert_eq!(needs(&Method::GET, path), None, "{path}");
        }
        for path in ["/metrics", "/v1/clock", "/v1/advice", "/v1/schemas/d/c", "/v1/blueprints", "/elsewhere"]
        {
            assert_eq!(needs(&Method::GET, path), Some(Needs::Reading), "{path}");
            assert_eq!(needs(&Method::POST, path), Some(Needs::Writing), "{path}");
        }
        assert_eq!(needs(&Method::GET, "/v1/keys"), Some(Needs::OwnKey));
        assert_eq!(needs(&Method::POST, "/v1/keys/primary/regenerate"), Some(Needs::OwnKey));
        assert_eq!(needs(&Method::GET, "/v1/roles/x"), Some(Needs::Credential));
        assert_eq!(needs(&Method::GET, "/v1/accounts"), Some(Needs::Credential));
        assert_eq!(needs(&Method::POST, "/v1/accounts"), Some(Needs::Credential));
        assert_eq!(needs(&Method::GET, "/v1/accounts/orders/keys"), Some(Needs::OwnKey));
        assert_eq!(needs(&Method::DELETE, "/v1/accounts/orders"), Some(Needs::OwnKey));
    }
}
