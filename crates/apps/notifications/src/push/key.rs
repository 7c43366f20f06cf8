//! The private keys that sign our tokens for the providers (RS256 for Google, ES256 for Apple).

use orrery_protocol::jwt::{SigningKey, pkcs8_of_pem};

/// A private key and the provider's name for its public half.
pub struct NamedKey {
    key: SigningKey,
    kid: String,
}

impl NamedKey {
    /// Errors continue a sentence that begins with the member's name.
    pub fn rs256(pem: &str, kid: &str) -> Result<Self, String> {
        Ok(Self { key: SigningKey::rs256(&pkcs8_of_pem(pem)?)?, kid: kid.to_owned() })
    }

    pub fn es256(pem: &str, kid: &str) -> Result<Self, String> {
        Ok(Self { key: SigningKey::es256(&pkcs8_of_pem(pem)?)?, kid: kid.to_owned() })
    }

    pub fn sign(&self, claims: &serde_json::Value) -> Result<String, String> {
        self.key.sign(&self.kid, claims)
    }
}

#[cfg(test)]
pub const RSA_PEM: &str = include_str!("../../../../api/push/data/service-account-key.pem");

#[cfg(test)]
pub fn p256_pem() -> String {
    orrery_protocol::jwt::pem_of_pkcs8(&SigningKey::generate_es256().expect("a key"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use orrery_protocol::jwt::{Algorithm, Token};
    use serde_json::{Value, json};

    #[test]
    fn tokens_verify_by_the_public_half() {
        let check = |key: &NamedKey, algorithm: Algorithm| {
            let text = key.sign(&json!({ "iss": "T" })).expect("signed");
            let token = Token::split(&text).expect("a token");
            let header = json!({ "alg": algorithm.name(), "typ": "JWT", "kid": "K" });
            assert_eq!(Value::Object(token.header.clone()), header);
            assert!(token.is_signed_by(&key.key.public(), algorithm));
        };
        check(&NamedKey::es256(&p256_pem(), "K").expect("a key"), Algorithm::Es256);
        check(&NamedKey::rs256(RSA_PEM, "K").expect("a key"), Algorithm::Rs256);
    }

    #[test]
    fn a_malformed_key_is_refused_without_showing_it() {
        let check = |pem: &str, fragment: &str| {
            for sentence in [NamedKey::rs256(pem, "").err(), NamedKey::es256(pem, "").err()] {
                let sentence = sentence.expect("no key");
                assert!(sentence.contains(fragment) && !sentence.contains("c2VjcmV0"), "{sentence}");
            }
        };
        check("c2VjcmV0", "BEGIN PRIVATE KEY");
        check("-----BEGIN PRIVATE KEY-----c2VjcmV0!-----END PRIVATE KEY-----", "damaged");
        check("-----BEGIN PRIVATE KEY-----c2VjcmV0-----END PRIVATE KEY-----", "is no ");
        assert!(NamedKey::rs256(&p256_pem(), "").is_err() && NamedKey::es256(RSA_PEM, "").is_err());
    }
}
