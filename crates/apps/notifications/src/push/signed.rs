//! Tokens that we sign (JWT, RFC 7519): RS256 for Google, ES256 for Apple.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, RSA_PKCS1_SHA256, RsaKeyPair};
use serde_json::{Value, json};

/// A private key and the name that its public half has at the provider. Never printed.
pub struct SigningKey {
    pair: Pair,
    kid: String,
    random: SystemRandom,
}

enum Pair {
    Rsa(RsaKeyPair),
    P256(EcdsaKeyPair),
}

impl SigningKey {
    /// Errors continue a sentence that begins with the member's name.
    pub fn rs256(pem: &str, kid: &str) -> Result<Self, String> {
        let der = private_key(pem)?;
        let pair = RsaKeyPair::from_pkcs8(&der).map_err(|error| format!("is no RSA key: {error}"))?;
        Ok(Self { pair: Pair::Rsa(pair), kid: kid.to_owned(), random: SystemRandom::new() })
    }

    pub fn es256(pem: &str, kid: &str) -> Result<Self, String> {
        let random = SystemRandom::new();
        let pair = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &private_key(pem)?, &random);
        let pair = pair.map_err(|error| format!("is no P-256 key: {error}"))?;
        Ok(Self { pair: Pair::P256(pair), kid: kid.to_owned(), random })
    }

    pub fn sign(&self, claims: &Value) -> Result<String, String> {
        let algorithm = match &self.pair {
            Pair::Rsa(_) => "RS256",
            Pair::P256(_) => "ES256",
        };
        let header = json!({ "alg": algorithm, "typ": "JWT", "kid": self.kid });
        let piece = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
        let signed = format!("{}.{}", piece(&header), piece(claims));
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

/// The PKCS #8 key of a PEM text.
fn private_key(pem: &str) -> Result<Vec<u8>, String> {
    const BEGIN: &str = "-----BEGIN PRIVATE KEY-----";
    const END: &str = "-----END PRIVATE KEY-----";
    let inside = pem.split_once(BEGIN).and_then(|(_, rest)| rest.split_once(END));
    let (inside, _) =
        inside.ok_or_else(|| format!("has no '{BEGIN}'; give the key as the provider's page gave it"))?;
    let digits: String = inside.chars().filter(|c| !c.is_whitespace()).collect();
    STANDARD.decode(digits).map_err(|_| "is damaged: its lines are not base64".to_owned())
}

#[cfg(test)]
pub const RSA_PEM: &str = include_str!("../../../../api/push/data/service-account-key.pem");

#[cfg(test)]
pub fn p256_pem() -> String {
    let made =
        EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &SystemRandom::new()).expect("a key");
    format!("-----BEGIN PRIVATE KEY-----\n{}\n-----END PRIVATE KEY-----\n", STANDARD.encode(made.as_ref()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ring::signature::{
        ECDSA_P256_SHA256_FIXED, KeyPair as _, RSA_PKCS1_2048_8192_SHA256, UnparsedPublicKey,
    };

    fn parts(token: &str) -> (String, Vec<u8>, Value) {
        let (signed, signature) = token.rsplit_once('.').expect("three parts");
        let (header, _) = signed.split_once('.').expect("three parts");
        let header = URL_SAFE_NO_PAD.decode(header).expect("base64");
        let signature = URL_SAFE_NO_PAD.decode(signature).expect("base64");
        (signed.to_owned(), signature, serde_json::from_slice(&header).expect("JSON"))
    }

    #[test]
    fn tokens_verify_by_the_public_half() {
        let key = SigningKey::es256(&p256_pem(), "K1").expect("a key");
        let (signed, signature, header) = parts(&key.sign(&json!({ "iss": "T" })).expect("signed"));
        assert_eq!(header, json!({ "alg": "ES256", "typ": "JWT", "kid": "K1" }));
        let Pair::P256(pair) = &key.pair else { panic!("P-256") };
        let public = UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, pair.public_key().as_ref().to_vec());
        public.verify(signed.as_bytes(), &signature).expect("it verifies");
        let key = SigningKey::rs256(RSA_PEM, "K2").expect("a key");
        let (signed, signature, header) = parts(&key.sign(&json!({})).expect("signed"));
        assert_eq!(header["alg"], "RS256");
        let Pair::Rsa(pair) = &key.pair else { panic!("RSA") };
        let public = UnparsedPublicKey::new(&RSA_PKCS1_2048_8192_SHA256, pair.public_key().as_ref().to_vec());
        public.verify(signed.as_bytes(), &signature).expect("it verifies");
    }

    #[test]
    fn what_is_no_key_is_told_without_showing_it() {
        let check = |pem: &str, fragment: &str| {
            for sentence in [SigningKey::rs256(pem, "").err(), SigningKey::es256(pem, "").err()] {
                let sentence = sentence.expect("no key");
                assert!(sentence.contains(fragment) && !sentence.contains("c2VjcmV0"), "{sentence}");
            }
        };
        check("c2VjcmV0", "BEGIN PRIVATE KEY");
        check("-----BEGIN PRIVATE KEY-----c2VjcmV0!-----END PRIVATE KEY-----", "damaged");
        check("-----BEGIN PRIVATE KEY-----c2VjcmV0-----END PRIVATE KEY-----", "is no ");
        assert!(SigningKey::rs256(&p256_pem(), "").is_err() && SigningKey::es256(RSA_PEM, "").is_err());
    }
}
