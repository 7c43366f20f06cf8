//! The credentials that are taken, and the files that hold them.
//!
//! The service account's RSA key is in the source: there is nothing here that makes one, and a key that everybody knows is
//! no secret to keep. The APNs key is made, and kept in its file.

use crate::Ports;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _, RsaKeyPair};
use serde_json::json;
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
    pub(crate) service_public: Vec<u8>,
    pub(crate) apns_public: Vec<u8>,
    pub(crate) token_url: String,
    apns_key: String,
    certificate: String,
}

/// A file for the server that pushes.
#[derive(Clone)]
pub struct Written {
    pub name: &'static str,
    pub text: String,
    /// For its owner's eyes only.
    pub is_secret: bool,
}

impl Identity {
    pub(crate) fn new(
        ports: &Ports,
        apns_key: Option<&str>,
        certificate_folder: &Path,
    ) -> Result<Self, String> {
        let random = SystemRandom::new();
        let service =
            RsaKeyPair::from_pkcs8(&private_key(SERVICE_KEY)?).map_err(|error| error.to_string())?;
        let apns_key = match apns_key {
            Some(pem) => pem.to_owned(),
            None => {
                let made = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random);
                pem(made.map_err(|_| "no key could be made".to_owned())?.as_ref())
            }
        };
        let apns =
            EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &private_key(&apns_key)?, &random)
                .map_err(|error| {
                    format!("the APNs key is no P-256 key: {error}; remove its file for a new one")
                })?;
        let path = certificate_folder.join("cert.pem");
        let certificate = std::fs::read_to_string(&path)
            .map_err(|error| format!("{} cannot be read: {error}", path.display()))?;
        Ok(Self {
            service_public: service.public().as_ref().to_vec(),
            apns_public: apns.public_key().as_ref().to_vec(),
            token_url: format!("https://127.0.0.1:{}/token", ports.fcm),
            apns_key,
            certificate,
        })
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

const BEGIN: &str = "-----BEGIN PRIVATE KEY-----";
const END: &str = "-----END PRIVATE KEY-----";

fn pem(der: &[u8]) -> String {
    let digits = STANDARD.encode(der);
    // Base64 is ASCII, so every 64 bytes are 64 characters.
    let lines: Vec<&str> =
        (0..digits.len()).step_by(64).map(|at| &digits[at..(at + 64).min(digits.len())]).collect();
    format!("{BEGIN}\n{}\n{END}\n", lines.join("\n"))
}

fn private_key(pem: &str) -> Result<Vec<u8>, String> {
    let inside = pem.split_once(BEGIN).and_then(|(_, rest)| rest.split_once(END));
    let (inside, _) = inside.ok_or("the APNs key is no PEM file; remove it for a new one")?;
    let digits: String = inside.chars().filter(|c| !c.is_whitespace()).collect();
    STANDARD.decode(digits).map_err(|_| "the APNs key is damaged; remove its file for a new one".to_owned())
}
