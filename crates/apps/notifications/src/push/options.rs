//! The operator's configuration of the providers, parsed into usable credentials.
//!
//! ```json
//! { "fcm":  { "serviceAccountFile": "service-account.json" },
//!   "apns": { "keyFile": "AuthKey_ABC1234567.p8", "keyId": "ABC1234567", "teamId": "DEF7654321", "topic": "app.asora" } }
//! ```
//!
//! `baseUrl` and the service account's own `token_uri` override the addresses; `trustFile` overrides the
//! trust roots.

use super::key::NamedKey;
use http::Uri;
use orrery_kit::http::{Tls, Trust, Versions, certificates};
use serde::Deserialize;

pub struct Options {
    pub fcm: Option<FcmOptions>,
    pub apns: Option<ApnsOptions>,
}

pub struct FcmOptions {
    pub client_email: String,
    pub key: NamedKey,
    pub token_url: Uri,
    /// Including the path of `messages:send`.
    pub send_url: Uri,
    pub tls: Tls,
}

pub struct ApnsOptions {
    pub key: NamedKey,
    pub team: String,
    pub topic: String,
    /// Without a path.
    pub base_url: String,
    pub tls: Tls,
}

const FCM_URL: &str = "https://fcm.googleapis.com";
const APNS_URL: &str = "https://api.push.apple.com";
const APNS_SANDBOX_URL: &str = "https://api.sandbox.push.apple.com";

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Written {
    fcm: Option<WrittenFcm>,
    apns: Option<WrittenApns>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct WrittenFcm {
    service_account_file: String,
    project_id: Option<String>,
    base_url: Option<String>,
    trust_file: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct WrittenApns {
    key_file: String,
    key_id: String,
    team_id: String,
    topic: String,
    #[serde(default)]
    environment: Environment,
    base_url: Option<String>,
    trust_file: Option<String>,
}

#[derive(Deserialize, Default, Clone, Copy)]
#[serde(rename_all = "lowercase")]
enum Environment {
    #[default]
    Production,
    Sandbox,
}

/// In the format of Google's console; other members are ignored.
#[derive(Deserialize)]
struct ServiceAccount {
    #[serde(default)]
    r#type: String,
    #[serde(default)]
    project_id: String,
    #[serde(default)]
    private_key_id: String,
    #[serde(default)]
    private_key: String,
    #[serde(default)]
    client_email: String,
    #[serde(default = "google_token_url")]
    token_uri: String,
}

fn google_token_url() -> String {
    "https://oauth2.googleapis.com/token".to_owned()
}

type Read<'a> = &'a dyn Fn(&str) -> Result<Vec<u8>, String>;

impl Options {
    pub fn parse(json: &[u8], read: Read<'_>) -> Result<Self, String> {
        // Serde's message could show the configuration, so only the position is reported.
        let written: Written = serde_json::from_slice(json).map_err(|error| {
            let what = if error.is_data() { error.to_string() } else { "it is not JSON".to_owned() };
            format!("the push configuration is not understood (line {}): {what}", error.line())
        })?;
        Ok(Self {
            fcm: written.fcm.map(|fcm| fcm.checked(read).map_err(|why| format!("fcm.{why}"))).transpose()?,
            apns: written
                .apns
                .map(|apns| apns.checked(read).map_err(|why| format!("apns.{why}")))
                .transpose()?,
        })
    }
}

impl WrittenFcm {
    fn checked(self, read: Read<'_>) -> Result<FcmOptions, String> {
        let file = read(&self.service_account_file).map_err(|why| format!("serviceAccountFile: {why}"))?;
        let account = ServiceAccount::parse(&file).map_err(|why| format!("serviceAccountFile: {why}"))?;
        let project = self.project_id.unwrap_or(account.project_id);
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b':' | b'_');
        if project.is_empty() || !project.bytes().all(is_plain) {
            return Err("projectId is no project's; it is there as project_id in the service account's file"
                .to_owned());
        }
        let base =
            base_url(self.base_url.as_deref().unwrap_or(FCM_URL)).map_err(|why| format!("baseUrl {why}"))?;
        let send_url = format!("{base}/v1/projects/{project}/messages:send");
        let key = NamedKey::rs256(&account.private_key, &account.private_key_id);
        Ok(FcmOptions {
            send_url: send_url.parse().map_err(|error| format!("baseUrl makes no address: {error}"))?,
            token_url: token_url(&account.token_uri)
                .map_err(|why| format!("serviceAccountFile: token_uri {why}"))?,
            key: key.map_err(|why| format!("serviceAccountFile: private_key {why}"))?,
            client_email: account.client_email,
            tls: Tls { trust: trust(self.trust_file.as_deref(), read)?, versions: Versions::Any },
        })
    }
}

impl ServiceAccount {
    /// The error names the member, and never shows its value.
    fn parse(json: &[u8]) -> Result<Self, String> {
        let account: Self = serde_json::from_slice(json).map_err(|_| {
            "it is not the JSON of a service account, as Google's console gives it".to_owned()
        })?;
        if !account.r#type.is_empty() && account.r#type != "service_account" {
            return Err(
                "its type is not service_account; make a key for a service account in Google's console"
                    .to_owned(),
            );
        }
        for (member, value) in
            [("client_email", &account.client_email), ("private_key", &account.private_key)]
        {
            if value.is_empty() {
                return Err(format!("{member} is missing"));
            }
        }
        Ok(account)
    }
}

impl WrittenApns {
    fn checked(self, read: Read<'_>) -> Result<ApnsOptions, String> {
        for (member, id) in [("keyId", &self.key_id), ("teamId", &self.team_id)] {
            if id.len() != 10 || !id.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
                return Err(format!("{member} has to be the ten letters and digits that Apple's page shows"));
            }
        }
        let is_topic = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.');
        if self.topic.is_empty() || !self.topic.bytes().all(is_topic) {
            return Err("topic has to be the app's bundle id, such as com.example.app".to_owned());
        }
        let file = read(&self.key_file).map_err(|why| format!("keyFile: {why}"))?;
        let key = NamedKey::es256(&String::from_utf8_lossy(&file), &self.key_id);
        let usual = match self.environment {
            Environment::Production => APNS_URL,
            Environment::Sandbox => APNS_SANDBOX_URL,
        };
        Ok(ApnsOptions {
            key: key.map_err(|why| format!("keyFile {why}"))?,
            team: self.team_id,
            topic: self.topic,
            base_url: base_url(self.base_url.as_deref().unwrap_or(usual))
                .map_err(|why| format!("baseUrl {why}"))?,
            tls: Tls { trust: trust(self.trust_file.as_deref(), read)?, versions: Versions::Http2 },
        })
    }
}

fn trust(file: Option<&str>, read: Read<'_>) -> Result<Trust, String> {
    let Some(file) = file else { return Ok(Trust::System) };
    let pem = read(file).map_err(|why| format!("trustFile: {why}"))?;
    certificates(&pem).map(Trust::These).map_err(|why| format!("trustFile: {why}"))
}

/// Without a path; errors continue a sentence.
fn base_url(url: &str) -> Result<String, String> {
    let uri = token_url(url)?;
    let is_bare = uri.path() == "/" && uri.query().is_none();
    if is_bare {
        Ok(url.trim_end_matches('/').to_owned())
    } else {
        Err(format!("'{url}' has a path; leave it out"))
    }
}

/// https, or http on this machine, because tokens are secrets.
fn token_url(url: &str) -> Result<Uri, String> {
    let uri: Uri = url.parse().map_err(|_| format!("'{url}' is not an address such as {FCM_URL}"))?;
    let host = uri.host().unwrap_or_default().trim_start_matches('[').trim_end_matches(']');
    let is_here = host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback());
    match uri.scheme_str() {
        Some("https") if !host.is_empty() => Ok(uri),
        Some("http") if is_here => Ok(uri),
        Some("http") => Err(format!("'{url}' is not https; tokens are not sent in the clear")),
        _ => Err(format!("'{url}' is not an address such as {FCM_URL}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::push::key::{RSA_PEM, p256_pem};
    use serde_json::{Value, json};

    fn account() -> Value {
        json!({ "type": "service_account", "project_id": "asora-1", "private_key_id": "k", "private_key": RSA_PEM,
            "client_email": "push@asora-1.iam.gserviceaccount.com" })
    }

    fn whole() -> Value {
        json!({ "fcm": { "serviceAccountFile": "account" },
            "apns": { "keyFile": "key", "keyId": "ABC1234567", "teamId": "DEF7654321", "topic": "app.asora" } })
    }

    fn parse(written: &Value, account: &Value) -> Result<Options, String> {
        let read = |name: &str| match name {
            "account" => Ok(account.to_string().into_bytes()),
            "key" => Ok(p256_pem().into_bytes()),
            _ => Err(format!("there is no file {name}")),
        };
        Options::parse(written.to_string().as_bytes(), &read)
    }

    #[test]
    fn the_providers_own_addresses_are_the_default() {
        let options = parse(&whole(), &account()).expect("options");
        let (fcm, apns) = (options.fcm.expect("fcm"), options.apns.expect("apns"));
        assert_eq!(fcm.send_url.to_string(), "https://fcm.googleapis.com/v1/projects/asora-1/messages:send");
        assert_eq!(fcm.token_url.to_string(), "https://oauth2.googleapis.com/token");
        assert_eq!(apns.base_url, APNS_URL);
        assert_eq!((&*apns.team, &*apns.topic), ("DEF7654321", "app.asora"));
        let mut sandbox = whole();
        sandbox["apns"]["environment"] = json!("sandbox");
        let options = parse(&sandbox, &account()).expect("options");
        assert_eq!(options.apns.map(|apns| apns.base_url), Some(APNS_SANDBOX_URL.to_owned()));
    }

    #[test]
    fn errors_name_the_member_and_show_no_secret() {
        let secret = &RSA_PEM[100..140];
        let refused = |written: &Value, account: &Value, fragments: &[&str]| {
            let sentence = parse(written, account).err().expect("wrong");
            assert!(
                fragments.iter().all(|fragment| sentence.contains(fragment)),
                "{fragments:?}: {sentence}"
            );
            assert!(!sentence.contains(secret), "{sentence}");
        };
        let written = |section: &str, member: &str, value: Value| {
            let mut written = whole();
            written[section][member] = value;
            written
        };
        let account_with = |member: &str, value: Value| {
            let mut account = account();
            account[member] = value;
            account
        };
        let check = |section: &str, member: &str, value: Value, fragment: &str| {
            refused(
                &written(section, member, value),
                &account(),
                &[&format!("{section}.{member}"), fragment],
            );
        };
        check("fcm", "serviceAccountFile", json!("nowhere"), "no file");
        check("fcm", "projectId", json!("a/b"), "project");
        check("fcm", "baseUrl", json!("http://example.com"), "in the clear");
        check("fcm", "baseUrl", json!("https://example.com/path"), "path");
        check("fcm", "baseUrl", json!("example"), "not an address");
        check("fcm", "trustFile", json!("key"), "no certificate");
        check("apns", "keyFile", json!("account"), "damaged");
        check("apns", "keyId", json!("short"), "ten");
        check("apns", "teamId", json!(""), "ten");
        check("apns", "topic", json!("a b"), "bundle id");
        check("apns", "baseUrl", json!("ftp://x"), "not an address");
        refused(&json!({ "fmc": {} }), &account(), &["fmc"]);
        refused(&json!([]), &account(), &["not understood"]);
        let of_account = |member: &str, value: Value, fragment: &str| {
            refused(&whole(), &account_with(member, value), &["fcm.serviceAccountFile", fragment]);
        };
        of_account("type", json!("authorized_user"), "service_account");
        of_account("client_email", json!(""), "client_email is missing");
        of_account("private_key", json!(""), "private_key is missing");
        of_account("private_key", json!(p256_pem()), "private_key is no RSA key");
        of_account("private_key", json!(7), "not the JSON of a service account");
        of_account("token_uri", json!("http://example.com/token"), "token_uri");
    }

    #[test]
    fn local_providers_may_use_plain_http() {
        let mut written = whole();
        written["fcm"]["baseUrl"] = json!("http://127.0.0.1:9/");
        let options = parse(&written, &account()).expect("options");
        let url = options.fcm.expect("fcm").send_url.to_string();
        assert_eq!(url, "http://127.0.0.1:9/v1/projects/asora-1/messages:send");
    }
}
