//! The token that SDK tests make for emulators: unsigned, with the account key in place of a signature.
//!
//! ```text
//! {"alg":"RS256","kid":"CosmosEmulatorPrimaryMaster",…} . {"iss":"https://sts.fake-issuer.net/…",…} . <key>
//! ```
//!
//! The key is its Base64 text, encoded once more for URLs. The maker of such a token knows the key, so it grants no
//! more than the key does; it is accepted only where the published key is. Like a managed identity with the role
//! contributor, its holder reads and writes items and manages nothing.

use super::claims::{Claims, Grant};
use super::{BearerError, Principal};
use orrery_core::Timestamp;
use orrery_protocol::jwt::Token;

/// The prefix of the issuers of such tokens; a directory's id follows.
pub const ISSUER: &str = "https://sts.fake-issuer.net";
const KID: &str = "CosmosEmulatorPrimaryMaster";
const AUDIENCE: &str = "https://localhost.localhost";

pub struct Emulator {
    key: String,
}

pub fn is_issuer(name: &str) -> bool {
    name.strip_prefix(ISSUER).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

impl Emulator {
    pub fn new(key: &str) -> Self {
        Self { key: key.to_owned() }
    }

    pub(super) fn verify(
        &self,
        kid: &str,
        token: &Token<'_>,
        now: Timestamp,
    ) -> Result<Principal, BearerError> {
        if kid != KID {
            return Err(BearerError::UnknownKey);
        }
        // The key is published, so the comparison need not take constant time.
        if token.signature != self.key.as_bytes() {
            return Err(BearerError::Signature);
        }
        let claims = Claims::read(&token.payload)?;
        claims.check(&[AUDIENCE.to_owned()], now)?;
        let everything = Grant { role: "contributor".to_owned(), scope: "/".to_owned() };
        Ok(Principal { id: claims.principal, grants: vec![everything], roles: Vec::new() })
    }
}
