//! Bearer tokens: the caller named by a JSON Web Token, if one of our issuers signed it.
//!
//! ```text
//! header.payload.signature ─ key_set: which algorithm, which key, is it theirs ─ claims: whose, for whom, until when
//!                            discovery: the keys of an issuer, fetched          development: an issuer of our own
//!                                                                               emulator: tokens with a key in them
//! ```
//!
//! `orrery_protocol::jwt` has the format of tokens, their algorithms and signatures. No claim is used before the
//! signature is verified, except the issuer, which selects the keys. Times come from the caller.

mod claims;
mod development;
mod discovery;
mod emulator;
mod key_set;

pub use claims::Grant;
pub use development::{DEVELOPMENT_ISSUER, DevelopmentKey, Mint};
pub use discovery::{Discovery, DiscoveryError};
pub use key_set::KeySet;
pub use orrery_client::http::Trust;

use crate::limits;
use claims::Claims;
use emulator::Emulator;
use orrery_core::Timestamp;
use orrery_protocol::jwt::{Algorithm, Token, text};
use serde_json::{Map, Value};

/// The audience of Entra's tokens for Cosmos DB, unless they are for one account.
pub const COSMOS: &str = "https://cosmos.azure.com";

/// The caller, as identified by an issuer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Principal {
    /// The object id (`oid`), or the subject if the issuer has none.
    pub id: String,
    /// Roles in the token itself; only our own development issuer puts them there.
    pub grants: Vec<Grant>,
    /// The names in the claim `roles`: the service roles that the issuer's administrator gave the caller (Entra's app
    /// roles). They grant no access to documents; on the storage ports they name data roles.
    pub roles: Vec<String>,
}

/// The trusted issuers, and the audiences that their tokens must have.
pub struct Bearers {
    issuers: Vec<Issuer>,
    audiences: Vec<String>,
}

pub struct Issuer {
    name: String,
    keys: Keys,
    is_development: bool,
}

enum Keys {
    Fixed(KeySet),
    Discovered(Discovery),
    /// No keys: a token contains the account key itself.
    Emulator(Emulator),
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BearerError {
    #[error("it is not a signed JSON Web Token")]
    Malformed,
    #[error("its algorithm is not RS256, ES256 or EdDSA")]
    Algorithm,
    #[error("it is from the issuer '{0}', which this server does not know; start it with --issuer")]
    Issuer(String),
    #[error("it was signed with a key that its issuer does not have")]
    UnknownKey,
    #[error("the keys of its issuer cannot be had: {0}")]
    KeysMissing(String),
    #[error("its signature is wrong")]
    Signature,
    #[error(
        "it is for '{0}' and not for this account; ask for https://cosmos.azure.com or give the server --audience"
    )]
    Audience(String),
    #[error("it has expired; ask for a new one")]
    Expired,
    #[error("it is not valid yet; look at the clocks")]
    NotYet,
    #[error("it says neither oid nor sub, so nobody is asking")]
    Nobody,
}

impl Issuer {
    pub fn fixed(name: impl Into<String>, keys: KeySet) -> Self {
        Self { name: name.into(), keys: Keys::Fixed(keys), is_development: false }
    }

    pub fn discovered(discovery: Discovery) -> Self {
        Self { name: discovery.issuer().to_owned(), keys: Keys::Discovered(discovery), is_development: false }
    }

    /// The development issuer, whose tokens this machine mints, with their roles.
    pub fn development(key: &DevelopmentKey) -> Self {
        Self { name: DEVELOPMENT_ISSUER.to_owned(), keys: Keys::Fixed(key.key_set()), is_development: true }
    }
}

impl Issuer {
    /// The issuer of emulators' tokens, which prove knowledge of this account key.
    pub fn emulator(key: &str) -> Self {
        let name = emulator::ISSUER.to_owned();
        Self { name, keys: Keys::Emulator(Emulator::new(key)), is_development: false }
    }

    fn is(&self, name: &str) -> bool {
        match self.keys {
            Keys::Emulator(_) => emulator::is_issuer(name),
            Keys::Fixed(_) | Keys::Discovered(_) => self.name == name,
        }
    }
}

impl Bearers {
    /// `audiences` are compared without a trailing slash.
    pub fn new(issuers: Vec<Issuer>, audiences: Vec<String>) -> Self {
        let audiences = audiences.iter().map(|audience| audience.trim_end_matches('/').to_owned()).collect();
        Self { issuers, audiences }
    }

    pub async fn verify(&self, token: &str, now: Timestamp) -> Result<Principal, BearerError> {
        self.verify_for(token, &self.audiences, now).await
    }

    /// Variant with the audiences of another protocol, without trailing slashes.
    pub async fn verify_for(
        &self,
        token: &str,
        audiences: &[String],
        now: Timestamp,
    ) -> Result<Principal, BearerError> {
        let token = split(token)?;
        let algorithm = algorithm(&token)?;
        let issuer = self.issuer(&token.payload)?;
        let kid = token.kid().ok_or(BearerError::UnknownKey)?;
        let keys = match &issuer.keys {
            Keys::Fixed(keys) => keys.clone(),
            Keys::Discovered(discovery) => discovery.keys_with(kid).await?,
            Keys::Emulator(emulator) => return emulator.verify(kid, &token, now),
        };
        let key = keys.find(kid).ok_or(BearerError::UnknownKey)?;
        if !token.is_signed_by(key, algorithm) {
            return Err(BearerError::Signature);
        }
        let claims = Claims::read(&token.payload)?;
        claims.check(audiences, now)?;
        let grants = if issuer.is_development { claims.grants } else { Vec::new() };
        Ok(Principal { id: claims.principal, grants, roles: claims.roles })
    }

    fn issuer(&self, payload: &Map<String, Value>) -> Result<&Issuer, BearerError> {
        let name = text(payload, "iss").unwrap_or_default();
        let found = self.issuers.iter().find(|issuer| issuer.is(name));
        found.ok_or_else(|| BearerError::Issuer(name.to_owned()))
    }
}

fn split(token: &str) -> Result<Token<'_>, BearerError> {
    let is_short = token.len() <= limits::BEARER_BYTES_MAX;
    is_short.then(|| Token::split(token)).flatten().ok_or(BearerError::Malformed)
}

/// No critical header extension is supported, so such a token is refused.
fn algorithm(token: &Token<'_>) -> Result<Algorithm, BearerError> {
    if token.header.contains_key("crit") {
        return Err(BearerError::Malformed);
    }
    token.algorithm().ok_or(BearerError::Algorithm)
}

#[cfg(test)]
mod tests;
