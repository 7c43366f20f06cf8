//! The claims of a payload, parsed strictly: a malformed time is an error, not a missing time.

use super::BearerError;
use orrery_core::Timestamp;
use orrery_protocol::jwt::text;
use orrery_protocol::limits;
use serde_json::{Map, Value};
use std::time::Duration;

/// A role over a scope, as granted by a development token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grant {
    pub role: String,
    pub scope: String,
}

pub(super) struct Claims {
    pub principal: String,
    pub grants: Vec<Grant>,
    pub roles: Vec<String>,
    audiences: Vec<String>,
    expires: Timestamp,
    not_before: Option<Timestamp>,
}

/// The claim of a development token with its grants.
pub(super) const GRANTS: &str = "orrery_grants";

impl Claims {
    pub fn read(payload: &Map<String, Value>) -> Result<Self, BearerError> {
        let principal = text(payload, "oid").or_else(|| text(payload, "sub")).ok_or(BearerError::Nobody)?;
        Ok(Self {
            principal: principal.to_owned(),
            grants: grants(payload.get(GRANTS))?,
            // Other issuers may use this claim differently, which is no reason to refuse their tokens.
            roles: names(payload.get("roles")).unwrap_or_default(),
            audiences: names(payload.get("aud"))?,
            expires: payload.get("exp").map(seconds).ok_or(BearerError::Expired)??,
            not_before: payload.get("nbf").map(seconds).transpose()?,
        })
    }

    pub fn check(&self, audiences: &[String], now: Timestamp) -> Result<(), BearerError> {
        let skew = Duration::from_secs(limits::BEARER_SKEW_SECONDS_MAX);
        let is_ours = |named: &String| audiences.iter().any(|ours| ours == named.trim_end_matches('/'));
        if !self.audiences.iter().any(is_ours) {
            return Err(BearerError::Audience(self.audiences.join(", ")));
        }
        if now >= self.expires.plus(skew) {
            return Err(BearerError::Expired);
        }
        if self.not_before.is_some_and(|from| now.plus(skew) < from) {
            return Err(BearerError::NotYet);
        }
        Ok(())
    }
}

fn seconds(value: &Value) -> Result<Timestamp, BearerError> {
    let number = value.as_f64().filter(|seconds| (0.0..1e12).contains(seconds));
    number.map(|seconds| Timestamp::from_seconds(seconds as u64)).ok_or(BearerError::Malformed)
}

/// One name, several, or none.
fn names(value: Option<&Value>) -> Result<Vec<String>, BearerError> {
    let one = |value: &Value| value.as_str().map(str::to_owned).ok_or(BearerError::Malformed);
    match value {
        None => Ok(Vec::new()),
        Some(Value::Array(several)) => several.iter().map(one).collect(),
        Some(single) => Ok(vec![one(single)?]),
    }
}

fn grants(value: Option<&Value>) -> Result<Vec<Grant>, BearerError> {
    let grant = |value: &Value| {
        let member = |name| value.get(name)?.as_str().map(str::to_owned);
        Some(Grant { role: member("role")?, scope: member("scope")? })
    };
    match value {
        None => Ok(Vec::new()),
        Some(Value::Array(several)) => {
            several.iter().map(grant).collect::<Option<_>>().ok_or(BearerError::Malformed)
        }
        Some(_) => Err(BearerError::Malformed),
    }
}
