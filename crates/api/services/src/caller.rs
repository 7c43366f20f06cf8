//! Authentication and authorization of callers.
//!
//! ```text
//! Authorization: Bearer <JWT>     a user (`oid`, else `sub`) with the names in `roles`
//! Authorization: Bearer <key>     a key of the account: everything, or with a read-only one whatever only reads
//! x-api-key: <key>                the same
//! ```

use crate::table::{InPath, Row};
use http::header::{AUTHORIZATION, HeaderName};
use http::{HeaderMap, Method};
use orrery_api_common::bearer::Bearers;
use orrery_api_common::problem::{Kind, Problem};
use orrery_api_common::{Access, Key, Keys};
use orrery_core::Timestamp;
use orrery_kit::service::Who;
use std::sync::Arc;

const API_KEY: HeaderName = HeaderName::from_static("x-api-key");
/// Any text: two keys are equal if their signatures of it are, and signatures are compared in constant time.
const SIGNED: &str = "services";

/// The accepted credentials.
pub struct Gate {
    /// The current account keys.
    pub keys: Box<dyn Fn() -> Arc<Keys> + Send + Sync>,
    /// The trusted token issuers.
    pub bearers: Option<Arc<Bearers>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Caller {
    Nobody,
    Key(Access),
    User { id: String, roles: Vec<String> },
}

impl Gate {
    pub async fn admit(&self, headers: &HeaderMap, now: Timestamp) -> Result<Caller, Problem> {
        orrery_core::tour_step!();
        if let Some(given) = headers.get(AUTHORIZATION) {
            let given = given.to_str().unwrap_or_default();
            let Some(token) = bearer(given) else {
                return Err(Problem::unauthorized(say_who("Bearer is missing")));
            };
            return self.bearer(token, now).await;
        }
        match headers.get(API_KEY) {
            Some(given) => self.key(given.to_str().unwrap_or_default()),
            None => Ok(Caller::Nobody),
        }
    }

    async fn bearer(&self, token: &str, now: Timestamp) -> Result<Caller, Problem> {
        // A key is Base64, which has no dots.
        if !token.contains('.') {
            return self.key(token);
        }
        let Some(bearers) = &self.bearers else {
            let sentence =
                "this server takes no bearer tokens: start it with --issuer, or send a key of the account";
            return Err(Problem::unauthorized(sentence));
        };
        let refused = |error| Problem::unauthorized(format!("the bearer token is not taken: {error}"));
        let principal = bearers.verify(token, now).await.map_err(refused)?;
        Ok(Caller::User { id: principal.id, roles: principal.roles })
    }

    fn key(&self, given: &str) -> Result<Caller, Problem> {
        let signature = Key::parse(given).ok().map(|key| key.sign(SIGNED));
        let access = signature.and_then(|signature| (self.keys)().verify(&[SIGNED], &signature));
        access.map(Caller::Key).ok_or_else(|| Problem::unauthorized("the key is none of this account's"))
    }
}

/// Whether a request has a credential, valid or not.
pub fn shows_credential(headers: &HeaderMap) -> bool {
    headers.contains_key(AUTHORIZATION) || headers.contains_key(API_KEY)
}

fn bearer(header: &str) -> Option<&str> {
    let (scheme, token) = header.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then_some(token.trim())
}

fn say_who(why: &str) -> String {
    format!(
        "{why}: send Authorization: Bearer with a token (orrery token mints one for development) or with a key of the \
         account, or the key as x-api-key; on loopback the key is printed when the server starts"
    )
}

impl Caller {
    /// The subject of rate limits and of idempotency keys.
    pub fn name(&self) -> String {
        match self {
            Self::Nobody => "nobody".to_owned(),
            Self::Key(_) => "key".to_owned(),
            Self::User { id, .. } => format!("user:{id}"),
        }
    }

    pub fn check(&self, row: &Row, in_path: &InPath) -> Result<(), Problem> {
        orrery_core::tour_step!();
        let (route, service) = (&row.route, row.tag);
        let (id, roles) = match (self, route.who) {
            (_, Who::Everybody) => return Ok(()),
            (Self::Nobody, _) => return Err(Problem::unauthorized(say_who("nobody is asking"))),
            (Self::Key(access), _) => return check_key(*access, &route.method),
            (Self::User { id, roles }, _) => (id, roles),
        };
        let has = |role: &str| roles.iter().any(|had| had.strip_prefix(service) == Some(&format!(".{role}")));
        let (is_allowed, wanted) = match route.who {
            Who::Everybody => (true, String::new()),
            Who::Owner => {
                let is_own = in_path.iter().any(|(name, user)| *name == "user" && user == id);
                (is_own, format!("the token is of '{id}' and opens what is theirs; another user's"))
            }
            Who::Role(role) => (has(role), format!("the token has no role {service}.{role}; this")),
        };
        if is_allowed || has("admin") {
            return Ok(());
        }
        Err(Problem::new(Kind::Forbidden, format!("{wanted} wants {service}.admin")))
    }
}

fn check_key(access: Access, method: &Method) -> Result<(), Problem> {
    match access {
        Access::ReadWrite | Access::Published => Ok(()),
        Access::ReadOnly if method == Method::GET => Ok(()),
        Access::ReadOnly => {
            Err(Problem::new(Kind::Forbidden, "the key is read-only; this wants a read-write key"))
        }
    }
}
