//! An issuer of our own, for development: a key pair, and tokens signed with it.

use super::claims::{GRANTS, Grant};
use super::key_set::{Key, KeySet};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use orrery_core::Timestamp;
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _};
use serde_json::{Value, json};
use std::time::Duration;

pub const DEVELOPMENT_ISSUER: &str = "https://orrery.local/development";

/// The pair. Never printed.
pub struct DevelopmentKey {
    pair: EcdsaKeyPair,
    random: SystemRandom,
}

/// What a minted token says.
#[derive(Clone, Debug)]
pub struct Mint {
    pub principal: String,
    pub audience: String,
    /// Their names are the claim `roles` too, which is where services look.
    pub grants: Vec<Grant>,
    pub lifetime: Duration,
}

impl DevelopmentKey {
    /// A new pair as PKCS #8, to be kept.
    pub fn make() -> Result<Vec<u8>, String> {
        let made = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &SystemRandom::new());
        made.map(|pair| pair.as_ref().to_vec()).map_err(|_| "no key could be made".to_owned())
    }

    pub fn read(pkcs8: &[u8]) -> Result<Self, String> {
        let random = SystemRandom::new();
        let pair = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, pkcs8, &random);
        Ok(Self { pair: pair.map_err(|error| format!("it is no P-256 key: {error}"))?, random })
    }

    pub fn key_set(&self) -> KeySet {
        KeySet::of(vec![(self.kid(), Key::P256(self.point().to_vec()))])
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
        self.sign(&json!({ "typ": "JWT", "alg": "ES256", "kid": self.kid() }), &payload)
    }

    /// Any header over any payload.
    pub fn sign(&self, header: &Value, payload: &Value) -> Result<String, String> {
        let piece = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
        let signed = format!("{}.{}", piece(header), piece(payload));
        let signature = self.pair.sign(&self.random, signed.as_bytes());
        let signature = signature.map_err(|_| "the token could not be signed".to_owned())?;
        Ok(format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature)))
    }

    /// The beginning of the public key names it.
    pub fn kid(&self) -> String {
        URL_SAFE_NO_PAD.encode(&self.point()[1..13])
    }

    /// As a set for other servers.
    pub fn to_jwks(&self) -> Value {
        let part = |from: usize| URL_SAFE_NO_PAD.encode(&self.point()[from..from + 32]);
        json!({ "keys": [{ "kty": "EC", "crv": "P-256", "use": "sig", "alg": "ES256", "kid": self.kid(),
            "x": part(1), "y": part(33) }] })
    }

    fn point(&self) -> &[u8] {
        self.pair.public_key().as_ref()
    }
}

impl std::fmt::Debug for DevelopmentKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("DevelopmentKey(..)")
    }
}
