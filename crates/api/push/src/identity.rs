//! The accepted credentials, and their files.
//!
//! The service account's RSA key is in the source: nothing here generates one, and a published key is not a secret. The
//! APNs key is generated and kept in its file.

use crate::Ports;
use orrery_protocol::jwt::{Algorithm, PublicKey, SigningKey, Token, pem_of_pkcs8, pkcs8_of_pem};
use serde_json::{Value, json};
use std::path::Path;

pub const PROJECT: &str = "orrery-local";
pub const CLIENT_EMAIL: &str = "orrery@orrery-local.iam.gserviceaccount.com";
pub const SERVICE_KEY_ID: &str = "orrery-known-to-everybody";
pub const KEY_ID: &str = "ORRERYKEY1";
pub const TEAM_ID: &str = "ORRERYTEAM";
pub const TOPIC: &str = "app.asora";

const SERVICE_KEY: &str = include_str!("../data/service-account-key.pem");

/// Who may push.
pub struct Identity {
    service_public: PublicKey,
    apns_public: PublicKey,
    pub(crate) token_url: String,
    apns_key: String,
    certificate: String,
}

/// A file for the pushing server.
#[derive(Clone)]
pub struct Written {
    pub name: &'static str,
    pub text: String,
    /// Readable by its owner only.
    pub is_secret: bool,
}

impl Identity {
    pub(crate) fn new(
        ports: &Ports,
        apns_key: Option<&str>,
        certificate_folder: &Path,
    ) -> Result<Self, String> {
        let service = SigningKey::rs256(&pkcs8_of_pem(SERVICE_KEY)?)?;
        let apns_key = match apns_key {
            Some(pem) => pem.to_owned(),
            None => pem_of_pkcs8(&SigningKey::generate_es256()?),
        };
        let apns = pkcs8_of_pem(&apns_key).and_then(|pkcs8| SigningKey::es256(&pkcs8));
        let apns = apns.map_err(|error| format!("the APNs key {error}; remove its file for a new one"))?;
        let path = certificate_folder.join("cert.pem");
        let certificate = std::fs::read_to_string(&path)
            .map_err(|error| format!("{} cannot be read: {error}", path.display()))?;
        Ok(Self {
            service_public: service.public(),
            apns_public: apns.public(),
            token_url: format!("https://127.0.0.1:{}/token", ports.fcm),
            apns_key,
            certificate,
        })
    }

    /// The claims of a token signed by the service account, verified as by FCM.
    pub(crate) fn service_claims(&self, token: &str) -> Option<Value> {
        claims(token, &self.service_public, Algorithm::Rs256, SERVICE_KEY_ID)
    }

    /// The claims of a provider token, verified as by APNs.
    pub(crate) fn apns_claims(&self, token: &str) -> Option<Value> {
        claims(token, &self.apns_public, Algorithm::Es256, KEY_ID)
    }

    pub(crate) fn files(&self, ports: &Ports) -> Vec<Written> {
        let account = json!({
            "type": "service_account",
            "project_id": PROJECT,
            "private_key_id": SERVICE_KEY_ID,
            "private_key": SERVICE_KEY,
            "client_email": CLIENT_EMAIL,
            "client_id": "100000000000000000000",
            "token_uri": self.token_url,
        });
        let providers = json!({
            "fcm": {
                "serviceAccountFile": "service-account.json",
                "baseUrl": format!("https://127.0.0.1:{}", ports.fcm),
                "trustFile": "ca.pem",
            },
            "apns": {
                "keyFile": "apns.p8",
                "keyId": KEY_ID,
                "teamId": TEAM_ID,
                "topic": TOPIC,
                "baseUrl": format!("https://127.0.0.1:{}", ports.apns),
                "trustFile": "ca.pem",
            },
        });
        let file = |name, text: String, is_secret| Written { name, text, is_secret };
        vec![
            file("service-account.json", format!("{account:#}\n"), true),
            file("apns.p8", self.apns_key.clone(), true),
            file("ca.pem", self.certificate.clone(), false),
            file("providers.json", format!("{providers:#}\n"), false),
        ]
    }
}

/// Algorithm, key id and signature must all be valid.
fn claims(token: &str, key: &PublicKey, algorithm: Algorithm, kid: &str) -> Option<Value> {
    let token = Token::split(token)?;
    let is_right = token.algorithm() == Some(algorithm)
        && token.kid() == Some(kid)
        && token.is_signed_by(key, algorithm);
    is_right.then_some(Value::Object(token.payload))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key() -> SigningKey {
        SigningKey::es256(&SigningKey::generate_es256().expect("a key")).expect("a key")
    }

    #[test]
    fn only_the_right_key_under_its_id_is_believed() {
        let (mine, other) = (key(), key());
        let payload = json!({ "iss": "me" });
        let check = |text: &str| claims(text, &mine.public(), Algorithm::Es256, "k");
        let good = mine.sign("k", &payload).expect("signed");
        assert_eq!(check(&good), Some(payload.clone()));
        assert_eq!(check(&other.sign("k", &payload).expect("signed")), None);
        assert_eq!(check(&mine.sign("x", &payload).expect("signed")), None);
        let unsigned = mine.sign_with(&json!({ "alg": "none", "kid": "k" }), &payload).expect("signed");
        assert_eq!(check(&unsigned), None);
        let forged = mine.sign("k", &json!({ "iss": "you" })).expect("signed");
        let (said, _) = forged.rsplit_once('.').expect("parts");
        let (_, signature) = good.rsplit_once('.').expect("parts");
        for bad in [&*format!("{said}.{signature}"), "", "a.b", "a.b.c", "..", &good[..good.len() - 2]] {
            assert_eq!(check(bad), None, "{bad}");
        }
    }
}
