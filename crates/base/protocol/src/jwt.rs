//! JSON Web Tokens (RFC 7519) in compact form: parsing, verification, signing.
//!
//! Three algorithms are supported and any other name in a header is unknown. A key has one algorithm,
//! whatever the token's header says. *Absent: the meaning of claims, the choice of trusted keys, times.*

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use ring::rand::SystemRandom;
use ring::signature::{
    self, ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _, RSA_PKCS1_SHA256, RsaKeyPair,
    RsaPublicKeyComponents, UnparsedPublicKey,
};
use serde_json::{Map, Value, json};

/// The supported algorithms. Any other name, above all `none`, is not an algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Algorithm {
    Rs256,
    Es256,
    EdDsa,
}

impl Algorithm {
    const ALL: [Self; 3] = [Self::Rs256, Self::Es256, Self::EdDsa];

    pub fn name(self) -> &'static str {
        match self {
            Self::Rs256 => "RS256",
            Self::Es256 => "ES256",
            Self::EdDsa => "EdDSA",
        }
    }

    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|algorithm| algorithm.name() == name)
    }
}

/// A decoded but unverified token.
pub struct Token<'a> {
    pub header: Map<String, Value>,
    pub payload: Map<String, Value>,
    pub signature: Vec<u8>,
    /// Header and payload in encoded form.
    pub signed: &'a [u8],
}

impl<'a> Token<'a> {
    /// `None` unless the text is three parts of base64url, the first two of them JSON objects.
    pub fn split(text: &'a str) -> Option<Self> {
        let mut pieces = text.split('.');
        let (header, payload, signature) = (pieces.next()?, pieces.next()?, pieces.next()?);
        if pieces.next().is_some() {
            return None;
        }
        let object = |piece: &str| serde_json::from_slice(&URL_SAFE_NO_PAD.decode(piece).ok()?).ok();
        Some(Self {
            header: object(header)?,
            payload: object(payload)?,
            signature: URL_SAFE_NO_PAD.decode(signature).ok()?,
            signed: &text.as_bytes()[..header.len() + 1 + payload.len()],
        })
    }

    /// The header's algorithm.
    pub fn algorithm(&self) -> Option<Algorithm> {
        text(&self.header, "alg").and_then(Algorithm::named)
    }

    pub fn kid(&self) -> Option<&str> {
        text(&self.header, "kid")
    }

    /// Whether this key signed it, with this algorithm.
    pub fn is_signed_by(&self, key: &PublicKey, algorithm: Algorithm) -> bool {
        key.verifies(algorithm, self.signed, &self.signature)
    }
}

/// A non-empty string member.
pub fn text<'a>(object: &'a Map<String, Value>, name: &str) -> Option<&'a str> {
    object.get(name).and_then(Value::as_str).filter(|text| !text.is_empty())
}

/// A public key, tied to one algorithm.
#[derive(Clone, Debug)]
pub enum PublicKey {
    Rsa {
        n: Vec<u8>,
        e: Vec<u8>,
    },
    /// An uncompressed point.
    P256(Vec<u8>),
    Ed25519(Vec<u8>),
}

impl PublicKey {
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

/// A private key that signs tokens. Never printed.
pub struct SigningKey {
    pair: Pair,
    random: SystemRandom,
}

enum Pair {
    Rsa(RsaKeyPair),
    P256(EcdsaKeyPair),
}

impl SigningKey {
    /// From PKCS #8. Errors continue a sentence whose subject is the key.
    pub fn rs256(pkcs8: &[u8]) -> Result<Self, String> {
        let pair = RsaKeyPair::from_pkcs8(pkcs8).map_err(|error| format!("is no RSA key: {error}"))?;
        Ok(Self { pair: Pair::Rsa(pair), random: SystemRandom::new() })
    }

    pub fn es256(pkcs8: &[u8]) -> Result<Self, String> {
        let random = SystemRandom::new();
        let pair = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, pkcs8, &random);
        let pair = pair.map_err(|error| format!("is no P-256 key: {error}"))?;
        Ok(Self { pair: Pair::P256(pair), random })
    }

    /// A new P-256 key as PKCS #8, for storage.
    pub fn generate_es256() -> Result<Vec<u8>, String> {
        let made = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &SystemRandom::new());
        made.map(|pair| pair.as_ref().to_vec()).map_err(|_| "no key could be made".to_owned())
    }

    pub fn algorithm(&self) -> Algorithm {
        match &self.pair {
            Pair::Rsa(_) => Algorithm::Rs256,
            Pair::P256(_) => Algorithm::Es256,
        }
    }

    pub fn public(&self) -> PublicKey {
        match &self.pair {
            Pair::Rsa(pair) => {
                let RsaPublicKeyComponents { n, e } = pair.public().into();
                PublicKey::Rsa { n, e }
            }
            Pair::P256(pair) => PublicKey::P256(pair.public_key().as_ref().to_vec()),
        }
    }

    /// A token with these claims, under the verifier's name for the key.
    pub fn sign(&self, kid: &str, claims: &Value) -> Result<String, String> {
        self.sign_with(&json!({ "alg": self.algorithm().name(), "typ": "JWT", "kid": kid }), claims)
    }

    /// A token with any header and payload.
    pub fn sign_with(&self, header: &Value, payload: &Value) -> Result<String, String> {
        let piece = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
        let signed = format!("{}.{}", piece(header), piece(payload));
        let signature =
            self.signature(signed.as_bytes()).ok_or("a token could not be signed with the key")?;
        Ok(format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature)))
    }

    fn signature(&self, message: &[u8]) -> Option<Vec<u8>> {
        match &self.pair {
            Pair::Rsa(pair) => {
                let mut signature = vec![0; pair.public().modulus_len()];
                pair.sign(&RSA_PKCS1_SHA256, &self.random, message, &mut signature).ok()?;
                Some(signature)
            }
            Pair::P256(pair) => Some(pair.sign(&self.random, message).ok()?.as_ref().to_vec()),
        }
    }
}

impl std::fmt::Debug for SigningKey {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("SigningKey(..)")
    }
}

const PEM_BEGIN: &str = "-----BEGIN PRIVATE KEY-----";
const PEM_END: &str = "-----END PRIVATE KEY-----";

/// The PKCS #8 key in a PEM text. Errors continue a sentence whose subject is the text, and show nothing of
/// it.
pub fn pkcs8_of_pem(pem: &str) -> Result<Vec<u8>, String> {
    let inside = pem.split_once(PEM_BEGIN).and_then(|(_, rest)| rest.split_once(PEM_END));
    let (inside, _) =
        inside.ok_or_else(|| format!("has no '{PEM_BEGIN}'; give the key as the provider's page gave it"))?;
    let digits: String = inside.chars().filter(|c| !c.is_whitespace()).collect();
    STANDARD.decode(digits).map_err(|_| "is damaged: its lines are not base64".to_owned())
}

pub fn pem_of_pkcs8(pkcs8: &[u8]) -> String {
    let digits = STANDARD.encode(pkcs8);
    // Base64 is ASCII, so every 64 bytes are 64 characters.
    let lines: Vec<&str> =
        (0..digits.len()).step_by(64).map(|at| &digits[at..(at + 64).min(digits.len())]).collect();
    format!("{PEM_BEGIN}\n{}\n{PEM_END}\n", lines.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key() -> SigningKey {
        SigningKey::es256(&SigningKey::generate_es256().expect("a key")).expect("a key")
    }

    #[test]
    fn a_token_verifies_by_the_public_half_and_its_own_algorithm() {
        let (mine, other) = (key(), key());
        let text = mine.sign("k", &json!({ "iss": "me" })).expect("signed");
        let token = Token::split(&text).expect("a token");
        assert_eq!((token.kid(), token.algorithm()), (Some("k"), Some(Algorithm::Es256)));
        assert_eq!(token.payload["iss"], "me");
        assert!(token.is_signed_by(&mine.public(), Algorithm::Es256));
        assert!(!token.is_signed_by(&other.public(), Algorithm::Es256));
        assert!(!token.is_signed_by(&mine.public(), Algorithm::Rs256));
    }

    #[test]
    fn malformed_tokens_are_refused() {
        let good = key().sign("k", &json!({})).expect("signed");
        for bad in ["", "a.b", "a.b.c", "..", &format!("{good}.x"), &good[..good.len() - 1]] {
            assert!(Token::split(bad).is_none(), "{bad}");
        }
    }
}
