//! An account of a server: requests to it are signed as every client signs.

use super::address::Address;
use super::connection::Connection;
use clap::Args;
use http::{Method, Request, request::Builder};
use orrery_core::Timestamp;
use orrery_protocol::{EMULATOR_KEY, Key, Scheme, authorization, string_to_sign};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC};

/// The flags that say which account.
#[derive(Args)]
pub struct AccountFlags {
    /// The server; http only, as every port that has https has http too
    #[arg(long, alias = "endpoint", env = "ORRERY_URL", default_value = "http://127.0.0.1:8081")]
    pub url: String,
    /// The account's key [default: the published one, which works on loopback]
    #[arg(long, env = "ORRERY_KEY", hide_env_values = true)]
    pub key: Option<String>,
}

#[derive(Clone)]
pub struct Account {
    pub address: Address,
    key: Key,
}

const PROTOCOL_VERSION: &str = "2020-07-15";
/// What stays readable inside one segment of a path.
pub const SEGMENT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

impl Account {
    pub fn parse(flags: &AccountFlags) -> Result<Self, String> {
        let address = Address::parse("--url", &flags.url)?;
        let key = flags.key.as_deref().unwrap_or(EMULATOR_KEY);
        let key = Key::parse(key).map_err(|error| format!("--key is not one: {error}"))?;
        Ok(Self { address, key })
    }

    pub async fn connect(&self) -> Result<Connection, String> {
        Connection::open(&self.address, "; start one with orrery serve, or give --url").await
    }

    /// A request for a resource, signed for its names as they are; `path` is how they travel.
    pub(super) fn request(&self, verb: Method, resource: &str, path: &str, now: Timestamp) -> Builder {
        let date = now.to_http();
        let authorization = self.key.authorization(verb.as_str(), resource, &date);
        built(verb, path, authorization, date).header("host", self.address.authority())
    }

    /// For another port of the server, whose requests are signed for their `kind` and their path.
    pub fn signed(&self, verb: Method, kind: &str, link: &str, path: &str, now: Timestamp) -> Builder {
        let date = now.to_http();
        let signature = self.key.sign(&string_to_sign(verb.as_str(), kind, link, &date, ""));
        built(verb, path, authorization(Scheme::Master, &signature), date)
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
