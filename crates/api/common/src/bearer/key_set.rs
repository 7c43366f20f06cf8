//! The public keys of an issuer (a JWK set, RFC 7517), and the algorithm that each verifies.

use crate::limits;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use orrery_protocol::jwt::{Algorithm, PublicKey, text};
use serde_json::{Map, Value};
use std::sync::Arc;

/// A cheap handle.
#[derive(Clone, Debug, Default)]
pub struct KeySet(Arc<Vec<(String, PublicKey)>>);

impl KeySet {
    pub(super) fn of(keys: Vec<(String, PublicKey)>) -> Self {
        Self(Arc::new(keys))
    }

    /// Parses a set. Keys for other uses or of unknown types are skipped.
    pub fn parse(json: &[u8]) -> Result<Self, String> {
        let set: Value = serde_json::from_slice(json).map_err(|error| format!("not JSON: {error}"))?;
        let keys = set.get("keys").and_then(Value::as_array).ok_or("no list 'keys'")?;
        if keys.len() > limits::ISSUER_KEYS_MAX {
            return Err(format!("{} keys; at most {} are read", keys.len(), limits::ISSUER_KEYS_MAX));
        }
        let known: Vec<_> = keys.iter().filter_map(|key| key_of(key.as_object()?)).collect();
        if known.is_empty() {
            return Err("no key for RS256, ES256 or EdDSA that has a 'kid'".to_owned());
        }
        Ok(Self::of(known))
    }

    pub(super) fn find(&self, kid: &str) -> Option<&PublicKey> {
        self.0.iter().find(|(id, _)| id == kid).map(|(_, key)| key)
    }
}

fn key_of(jwk: &Map<String, Value>) -> Option<(String, PublicKey)> {
    let bytes = |name| URL_SAFE_NO_PAD.decode(text(jwk, name)?).ok();
    if text(jwk, "use").is_some_and(|purpose| purpose != "sig") {
        return None;
    }
    let (key, algorithm) = match (text(jwk, "kty")?, text(jwk, "crv")) {
        ("RSA", _) => (PublicKey::Rsa { n: bytes("n")?, e: bytes("e")? }, Algorithm::Rs256),
        ("EC", Some("P-256")) => {
            let (x, y) = (bytes("x")?, bytes("y")?);
            let is_whole = x.len() == 32 && y.len() == 32;
            (PublicKey::P256(is_whole.then(|| [&[4][..], &x, &y].concat())?), Algorithm::Es256)
        }
        ("OKP", Some("Ed25519")) => (PublicKey::Ed25519(bytes("x")?), Algorithm::EdDsa),
        _ => return None,
    };
    if text(jwk, "alg").is_some_and(|said| said != algorithm.name()) {
        return None;
    }
    Some((text(jwk, "kid")?.to_owned(), key))
}
