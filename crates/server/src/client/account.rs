//! An account of a server: its endpoint and the credential that requests to it carry.

use super::address::Address;
use super::answer::not_understood;
use super::call::Call;
use super::connection::{Connection, Host};
use crate::caller::signed_kind;
use clap::Args;
use http::header::AUTHORIZATION;
use http::{HeaderValue, Method, Request, request::Builder};
use orrery_core::{Env, Timestamp};
use orrery_protocol::{EMULATOR_KEY, Key, Scheme, authorization, string_to_sign};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC};
use serde::Deserialize;
use std::path::PathBuf;

/// The flags that say which account.
#[derive(Args)]
pub struct AccountFlags {
    /// The server's Cosmos DB endpoint, http or https; everything else of the server is found from it
    #[arg(
        long,
        alias = "endpoint",
        env = "ORRERY_URL",
        default_value = "http://127.0.0.1:8081",
        global = true,
        help_heading = "Server"
    )]
    pub url: String,
    /// The account's key [default: the published one, which works on loopback]
    #[arg(long, env = "ORRERY_KEY", hide_env_values = true, global = true, help_heading = "Server")]
    pub key: Option<String>,
    /// A bearer token; it wins over a key
    #[arg(long, env = "ORRERY_TOKEN", hide_env_values = true, global = true, help_heading = "Server")]
    pub token: Option<String>,
    /// With https: trust the certificates of this PEM file [default: the machine's; on loopback any]
    #[arg(long, value_name = "FILE", env = "ORRERY_CA", global = true, help_heading = "Server")]
    pub ca: Option<PathBuf>,
}

impl AccountFlags {
    /// An account by its key.
    pub fn with_key(url: String, key: Option<String>) -> Self {
        Self { url, key, token: None, ca: None }
    }
}

#[derive(Clone)]
pub struct Account {
    pub host: Host,
    credential: Credential,
    ca: Option<PathBuf>,
}

#[derive(Clone)]
enum Credential {
    Key { key: Key, text: String },
    Token(String),
}

/// What a server says of itself beyond the protocol, in the answer to `GET /`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct About {
    pub account_id: String,
    pub services_port: u16,
}

const PROTOCOL_VERSION: &str = "2020-07-15";
/// What stays readable inside one segment of a path.
pub const SEGMENT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

impl Account {
    pub fn parse(flags: &AccountFlags) -> Result<Self, String> {
        let host = Host::new(Address::parse("--url", &flags.url)?, flags.ca.as_deref())?;
        let credential = match (&flags.token, &flags.key) {
            (Some(token), _) => Credential::Token(token.clone()),
            (None, key) => {
                let text = key.as_deref().unwrap_or(EMULATOR_KEY).to_owned();
                let key = Key::parse(&text).map_err(|error| format!("--key is not one: {error}"))?;
                Credential::Key { key, text }
            }
        };
        Ok(Self { host, credential, ca: flags.ca.clone() })
    }

    pub async fn connect(&self) -> Result<Connection, String> {
        self.host.connect("; start one with orrery serve, or give --url").await
    }

    /// Another port, with the same trust.
    pub fn host_at(&self, address: Address) -> Result<Host, String> {
        Host::new(address, self.ca.as_deref())
    }

    /// What the server says of itself; `None` if it is no Orrery, or one that does not say it.
    pub async fn about(&self) -> Result<Option<About>, String> {
        #[derive(Deserialize)]
        struct Root {
            orrery: Option<About>,
        }
        let now = Env::system().map_err(|error| error.to_string())?.now();
        let answer = self.connect().await?.exchange(Call::get(&[]).request(self, now)?).await?;
        if !answer.status.is_success() {
            return Err(answer.refusal());
        }
        let root: Root = serde_json::from_slice(&answer.body).map_err(|_| not_understood())?;
        Ok(root.orrery)
    }

    /// The header `authorization` for routes that take the key or a token as it is.
    pub fn bearer(&self) -> String {
        match &self.credential {
            Credential::Key { text, .. } => format!("Bearer {text}"),
            Credential::Token(token) => format!("Bearer {token}"),
        }
    }

    /// A request for a resource, signed for its names as they are; `path` is how they travel.
    pub(super) fn request(&self, verb: Method, resource: &str, path: &str, now: Timestamp) -> Builder {
        let date = now.to_http();
        let authorization = match &self.credential {
            Credential::Key { key, .. } => key.authorization(verb.as_str(), resource, &date),
            Credential::Token(token) => authorization(Scheme::Aad, token),
        };
        built(verb, path, authorization, date).header("host", self.host.address.authority())
    }

    /// Adds the credential to a request of the services port. Signatures there cover the path as it travels.
    pub(super) fn sign<B>(&self, request: &mut Request<B>, now: Timestamp) -> Result<(), String> {
        let (date, path) = (now.to_http(), request.uri().path());
        let authorization = match &self.credential {
            Credential::Key { key, .. } => {
                let (kind, link) = (signed_kind(path), path.trim_matches('/'));
                let signed = string_to_sign(request.method().as_str(), kind, link, &date, "");
                authorization(Scheme::Master, &key.sign(&signed))
            }
            Credential::Token(token) => format!("Bearer {token}"),
        };
        let value = |text: &str| HeaderValue::from_str(text).map_err(|error| error.to_string());
        request.headers_mut().insert(AUTHORIZATION, value(&authorization)?);
        request.headers_mut().insert("x-ms-date", value(&date)?);
        Ok(())
    }
}

fn built(verb: Method, path: &str, authorization: String, date: String) -> Builder {
    Request::builder()
        .method(verb)
        .uri(path)
        .header("authorization", authorization)
        .header("x-ms-date", date)
        .header("x-ms-version", PROTOCOL_VERSION)
}
