//! An issuer of our own, for development: a key pair, and tokens signed with it.

use super::claims::{GRANTS, Grant};
use super::key_set::KeySet;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use orrery_core::Timestamp;
use orrery_protocol::jwt::{PublicKey, SigningKey};
use serde_json::{Value, json};
use std::time::Duration;

pub const DEVELOPMENT_ISSUER: &str = "https://orrery.local/development";

/// The pair. Never printed.
#[derive(Debug)]
pub struct DevelopmentKey {
    key: SigningKey,
    /// The public key: an uncompressed point.
    point: Vec<u8>,
}

/// The claims of a minted token.
#[derive(Clone, Debug)]
pub struct Mint {
    pub principal: String,
    pub audience: String,
    /// Their names are also the claim `roles`, which services read.
    pub grants: Vec<Grant>,
    pub lifetime: Duration,
}

impl DevelopmentKey {
    /// A new pair as PKCS #8, for storage.
    pub fn make() -> Result<Vec<u8>, String> {
        SigningKey::generate_es256()
    }

    pub fn read(pkcs8: &[u8]) -> Result<Self, String> {
        let key = SigningKey::es256(pkcs8).map_err(|error| format!("it {error}"))?;
        let PublicKey::P256(point) = key.public() else { return Err("it is no P-256 key".to_owned()) };
        Ok(Self { key, point })
    }

    pub fn key_set(&self) -> KeySet {
        KeySet::of(vec![(self.kid(), self.key.public())])
    }

    pub fn mint(&self, what: &Mint, now: Timestamp) -> Result<String, String> {
        let grants = what.grants.iter().map(|grant| json!({ "role": grant.role, "scope": grant.scope }));
        let roles = what.grants.iter().map(|grant| grant.role.as_str());
        let payload = json!({
            "iss": DEVELOPMENT_ISSUER,
            "aud": what.audience,
            "oid": what.principal,
            "sub": what.principal,
            "iat": now.seconds(),
            "nbf": now.seconds(),
            "exp": now.plus(what.lifetime).seconds(),
            "roles": roles.collect::<Vec<_>>(),
            GRANTS: grants.collect::<Vec<Value>>(),
        });
        self.key.sign(&self.kid(), &payload)
    }

    /// Any header over any payload.
    pub fn sign(&self, header: &Value, payload: &Value) -> Result<String, String> {
        self.key.sign_with(header, payload)
    }

    /// The key id is a prefix of the public key.
    pub fn kid(&self) -> String {
        URL_SAFE_NO_PAD.encode(&self.point[1..13])
    }

    /// As a JWK set for other servers.
    pub fn to_jwks(&self) -> Value {
        let part = |from: usize| URL_SAFE_NO_PAD.encode(&self.point[from..from + 32]);
        json!({ "keys": [{ "kty": "EC", "crv": "P-256", "use": "sig", "alg": "ES256", "kid": self.kid(),
            "x": part(1), "y": part(33) }] })
    }
}
