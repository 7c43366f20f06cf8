//! The flags that say which server, and as whom.

use bytes::Bytes;
use clap::Args;
use http::{Method, Request};
use orrery_client::{Account, Address, Credential, Services};
use orrery_protocol::EMULATOR_KEY;
use serde::de::DeserializeOwned;
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

    pub fn account(&self) -> Result<Account, String> {
        let address = Address::parse("--url", &self.url)?;
        let credential = match (&self.token, &self.key) {
            (Some(token), _) => Credential::token(token.clone()),
            (None, key) => Credential::key(key.as_deref().unwrap_or(EMULATOR_KEY))
                .map_err(|error| format!("--key is not one: {error}"))?,
        };
        Account::new(address, credential, self.ca.clone())
    }
}

/// The flags that say which server.
#[derive(Args)]
pub struct ServerFlags {
    #[command(flatten)]
    pub account: AccountFlags,
    /// The services port, where it is not where the server says (behind a port mapping)
    #[arg(long, value_name = "URL", global = true, hide = true)]
    services_url: Option<String>,
}

impl ServerFlags {
    pub fn account(&self) -> Result<Account, String> {
        self.account.account()
    }

    /// One request to the services port, and its answer.
    pub async fn ask<T: DeserializeOwned>(
        &self,
        verb: Method,
        path: &str,
        body: impl Into<Bytes>,
    ) -> Result<T, String> {
        let mut services = self.services_of(&self.account()?).await?;
        services.ask(Request::builder().method(verb).uri(path), body.into()).await
    }

    /// The services port of the account's server.
    pub async fn services_of(&self, account: &Account) -> Result<Services, String> {
        Services::find(account, self.services_url.as_deref()).await
    }
}
