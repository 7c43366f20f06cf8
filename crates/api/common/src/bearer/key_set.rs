//! The public keys of an issuer (a JWK set, RFC 7517), and what each can verify.

use super::text;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use orrery_core::limits;
use ring::signature::{self, RsaPublicKeyComponents, UnparsedPublicKey};
use serde_json::{Map, Value};
use std::sync::Arc;

/// All that are known. Anything else, `none` above all, is no algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Algorithm {
    Rs256,
    Es256,
    EdDsa,
}

impl Algorithm {
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "RS256" => Some(Self::Rs256),
            "ES256" => Some(Self::Es256),
            "EdDSA" => Some(Self::EdDsa),
            _ => None,
        }
    }
}

/// A cheap handle.
#[derive(Clone, Debug, Default)]
pub struct KeySet(Arc<Vec<(String, Key)>>);

/// A key verifies by the one algorithm that its kind has.
#[derive(Clone, Debug)]
pub(super) enum Key {
    Rsa {
        n: Vec<u8>,
        e: Vec<u8>,
    },
    /// A point, uncompressed.
    P256(Vec<u8>),
    Ed25519(Vec<u8>),
}

impl KeySet {
    pub(super) fn of(keys: Vec<(String, Key)>) -> Self {
        Self(Arc::new(keys))
    }

    /// Reads a set. Keys that are for something else, or of a kind that is not known, are passed over.
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

    pub(super) fn find(&self, kid: &str) -> Option<&Key> {
        self.0.iter().find(|(id, _)| id == kid).map(|(_, key)| key)
    }
}

impl Key {
    pub fn verifies(&self, algorithm: Algorithm, message: &[u8], signature: &[u8]) -> bool {
        let checked = match (self, algorithm) {
            (Self::Rsa { n, e }, Algorithm::Rs256) => RsaPublicKeyComponents { n, e }.verify(
                &signature::RSA_PKCS1_2048_8192_SHA256,
                message,
                signature,
            ),
            (Self::P256(point), Algorithm::Es256) => {
                UnparsedPublicKey::new(&signature::ECDSA_P256_SHA256_FIXED, point).verify(message, signature)
            }
            (Self::Ed25519(key), Algorithm::EdDsa) => {
                UnparsedPublicKey::new(&signature::ED25519, key).verify(message, signature)
            }
            (Self::Rsa { .. } | Self::P256(_) | Self::Ed25519(_), _) => return false,
        };
        checked.is_ok()
    }
}

fn key_of(jwk: &Map<String, Value>) -> Option<(String, Key)> {
    let bytes = |name| URL_SAFE_NO_PAD.decode(text(jwk, name)?).ok();
    if text(jwk, "use").is_some_and(|purpose| purpose != "sig") {
        return None;
    }
    let (key, algorithm) = match (text(jwk, "kty")?, text(jwk, "crv")) {
        ("RSA", _) => (Key::Rsa { n: bytes("n")?, e: bytes("e")? }, "RS256"),
        ("EC", Some("P-256")) => {
            let (x, y) = (bytes("x")?, bytes("y")?);
            let is_whole = x.len() == 32 && y.len() == 32;
            (Key::P256(is_whole.then(|| [&[4][..], &x, &y].concat())?), "ES256")
        }
        ("OKP", Some("Ed25519")) => (Key::Ed25519(bytes("x")?), "EdDSA"),
        _ => return None,
    };
    if text(jwk, "alg").is_some_and(|said| said != algorithm) {
        return None;
    }
    Some((text(jwk, "kid")?.to_owned(), key))
}
