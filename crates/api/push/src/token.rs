//! Tokens that callers sign (JWT), checked as the providers check them: algorithm, key id and signature.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::signature::{ECDSA_P256_SHA256_FIXED, RSA_PKCS1_2048_8192_SHA256, UnparsedPublicKey};
use serde_json::Value;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Algorithm {
    Rs256,
    Es256,
}

/// The claims of a token that is signed by this key, under this id.
pub fn claims(token: &str, algorithm: Algorithm, kid: &str, public: &[u8]) -> Option<Value> {
    let (signed, signature) = token.rsplit_once('.')?;
    let (header, payload) = signed.split_once('.')?;
    let header = piece(header)?;
    let name = match algorithm {
        Algorithm::Rs256 => "RS256",
        Algorithm::Es256 => "ES256",
    };
    if header["alg"] != name || header["kid"] != kid {
        return None;
    }
    let signature = URL_SAFE_NO_PAD.decode(signature).ok()?;
    let checked = match algorithm {
        Algorithm::Rs256 => {
            UnparsedPublicKey::new(&RSA_PKCS1_2048_8192_SHA256, public).verify(signed.as_bytes(), &signature)
        }
        Algorithm::Es256 => {
            UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, public).verify(signed.as_bytes(), &signature)
        }
    };
    checked.ok()?;
    piece(payload)
}

fn piece(text: &str) -> Option<Value> {
    serde_json::from_slice(&URL_SAFE_NO_PAD.decode(text).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ring::rand::SystemRandom;
    use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _};
    use serde_json::json;

    fn pair() -> EcdsaKeyPair {
        let random = SystemRandom::new();
        let made = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random).expect("a key");
        EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, made.as_ref(), &random).expect("a key")
    }

    fn signed(pair: &EcdsaKeyPair, header: &Value, payload: &Value) -> String {
        let piece = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
        let text = format!("{}.{}", piece(header), piece(payload));
        let signature = pair.sign(&SystemRandom::new(), text.as_bytes()).expect("signed");
        format!("{text}.{}", URL_SAFE_NO_PAD.encode(signature))
    }

    #[test]
    fn only_the_right_key_under_its_id_is_believed() {
        let (mine, other) = (pair(), pair());
        let payload = json!({ "iss": "me" });
        let good = signed(&mine, &json!({ "alg": "ES256", "kid": "k" }), &payload);
        let check = |token: &str| claims(token, Algorithm::Es256, "k", mine.public_key().as_ref());
        assert_eq!(check(&good), Some(payload.clone()));
        assert_eq!(check(&signed(&other, &json!({ "alg": "ES256", "kid": "k" }), &payload)), None);
        assert_eq!(check(&signed(&mine, &json!({ "alg": "ES256", "kid": "x" }), &payload)), None);
        assert_eq!(check(&signed(&mine, &json!({ "alg": "none", "kid": "k" }), &payload)), None);
        let (head, signature) = good.rsplit_once('.').expect("parts");
        let (header, _) = head.split_once('.').expect("parts");
        let forged = format!("{header}.{}.{signature}", URL_SAFE_NO_PAD.encode(r#"{"iss":"you"}"#));
        for bad in [&*forged, "", "a.b", "a.b.c", "..", &good[..good.len() - 2]] {
            assert_eq!(check(bad), None, "{bad}");
        }
    }
}
