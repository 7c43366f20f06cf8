//! The flags of `serve` about services, which are the table `[services]` of `orrery.toml` too.

use crate::config::Switch;
use clap::Args;
use orrery_api_services::limits;
use serde::Deserialize;
use std::path::PathBuf;

#[derive(Args, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ServiceSettings {
    /// Whether the notification service runs; it makes its containers when it is first used [default: on]
    #[arg(long, env = "ORRERY_NOTIFICATIONS")]
    notifications: Option<Switch>,
    /// The policy of notifications, as JSON: types, templates, windows, limits, back-off
    #[arg(long, value_name = "FILE", env = "ORRERY_NOTIFICATIONS_CONFIG")]
    notifications_config: Option<PathBuf>,
    /// The database of notifications [default: asora]
    #[arg(long, value_name = "NAME", env = "ORRERY_NOTIFICATIONS_DATABASE")]
    notifications_database: Option<String>,
    /// How pushes are sent, as JSON: FCM's service account, APNs' key
    #[arg(long, value_name = "FILE", env = "ORRERY_PUSH_CONFIG")]
    push_config: Option<PathBuf>,
    /// Keep what services store at this endpoint instead of here: another Orrery, or Azure Cosmos DB
    #[arg(long, value_name = "URL", env = "ORRERY_STORE")]
    store: Option<String>,
    /// The key of the account there
    #[arg(long, value_name = "KEY", env = "ORRERY_STORE_KEY", hide_env_values = true)]
    store_key: Option<String>,
    /// A bearer token for it, instead of a key; or @FILE, which is read again for each request
    #[arg(long, value_name = "TOKEN|@FILE", env = "ORRERY_STORE_TOKEN", hide_env_values = true)]
    store_token: Option<String>,
    /// Trust this certificate there, and no other
    #[arg(long, value_name = "FILE", env = "ORRERY_STORE_CA")]
    store_ca: Option<PathBuf>,
    /// Requests a second that one caller may make of the services [default: 10000]
    #[arg(long, value_name = "N", env = "ORRERY_SERVICES_RATE")]
    #[serde(rename = "rate")]
    services_rate: Option<u32>,
    /// End the process where this name is reached; for tests, on loopback only
    #[arg(long, value_name = "NAME", env = "ORRERY_FAILPOINT", hide = true)]
    #[serde(skip)]
    failpoint: Option<String>,
}

/// What they come to.
#[derive(Debug)]
pub struct ServiceConfig {
    pub is_on: bool,
    pub policy: Option<PathBuf>,
    pub database: String,
    pub push: Option<PathBuf>,
    pub store: Option<StoreAt>,
    pub rate: u32,
    pub failpoint: Option<String>,
}

/// A store over the wire.
#[derive(PartialEq, Eq)]
pub struct StoreAt {
    pub url: String,
    pub credential: Credential,
    pub ca: Option<PathBuf>,
}

#[derive(PartialEq, Eq)]
pub enum Credential {
    Key(String),
    Token(String),
    TokenFile(PathBuf),
}

/// Without what opens it.
impl std::fmt::Debug for StoreAt {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("StoreAt")
            .field("url", &self.url)
            .field("ca", &self.ca)
            .finish_non_exhaustive()
    }
}

impl ServiceConfig {
    pub fn merge(flags: ServiceSettings, file: ServiceSettings) -> Result<Self, String> {
        let rate = flags.services_rate.or(file.services_rate).unwrap_or(limits::SERVICE_REQUESTS_PER_SECOND);
        if rate == 0 {
            return Err("--services-rate 0 would let no request in; give at least 1".to_owned());
        }
        let ca = flags.store_ca.or(file.store_ca);
        let (key, token) = (flags.store_key.or(file.store_key), flags.store_token.or(file.store_token));
        let database = flags.notifications_database.or(file.notifications_database);
        Ok(Self {
            is_on: flags.notifications.or(file.notifications) != Some(Switch::Off),
            policy: flags.notifications_config.or(file.notifications_config),
            database: database
                .unwrap_or_else(|| orrery_notifications::service::containers::DATABASE.to_owned()),
            push: flags.push_config.or(file.push_config),
            store: store_at(flags.store.or(file.store), key, token, ca)?,
            rate,
            failpoint: flags.failpoint,
        })
    }
}

fn store_at(
    url: Option<String>,
    key: Option<String>,
    token: Option<String>,
    ca: Option<PathBuf>,
) -> Result<Option<StoreAt>, String> {
    let Some(url) = url else {
        return match (key, token, ca) {
            (None, None, None) => Ok(None),
            _ => Err("--store-key, --store-token and --store-ca are for a store; say which with --store"
                .to_owned()),
        };
    };
    let credential = match (key, token) {
        (Some(key), None) => Credential::Key(key),
        (None, Some(token)) => match token.strip_prefix('@') {
            Some(path) => Credential::TokenFile(PathBuf::from(path)),
            None => Credential::Token(token),
        },
        (None, None) => return Err(format!("--store {url} wants --store-key or --store-token")),
        (Some(_), Some(_)) => return Err("give --store-key or --store-token, not both".to_owned()),
    };
    Ok(Some(StoreAt { url, credential, ca }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_store_elsewhere_wants_one_credential() {
        let text = |text: &str| Some(text.to_owned());
        let at = |url, key, token| store_at(url, key, token, None);
        assert_eq!(at(None, None, None), Ok(None));
        let found = at(text("https://db"), None, text("@/t")).unwrap().unwrap();
        assert!(found.credential == Credential::TokenFile("/t".into()));
        for (url, key, token, fragment) in [
            (None, text("k"), None, "with --store"),
            (text("u"), None, None, "wants --store-key"),
            (text("u"), text("k"), text("t"), "not both"),
        ] {
            assert!(at(url, key, token).is_err_and(|sentence| sentence.contains(fragment)), "{fragment}");
        }
        let shown = format!("{:?}", at(text("u"), text("secret"), None));
        assert!(!shown.contains("secret"), "{shown}");
    }
}
