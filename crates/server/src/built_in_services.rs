//! The services that are built in. A new service is one more line in [`BUILT_IN`], and in [`ServiceFiles`] if the doctor shall
//! read its files; nothing else in this crate knows one by name.

use crate::config::Config;
use crate::notify::{self, Credential, StoreAt};
use orrery_core::Env;
use orrery_document_store::Store;
use orrery_kit::http::{Trust, certificates};
use orrery_kit::ports::documents::{self as port, Documents, Embedded, Remote, RemoteOptions};
use orrery_kit::service::{Check, Service};
use std::path::Path;
use std::sync::Arc;

/// Starts one; none if it is switched off.
type Start = fn(&Config, &Store) -> Result<Option<Arc<dyn Service>>, String>;

const BUILT_IN: [Start; 1] = [notify::start];

/// The files of services that `orrery doctor` reads.
#[derive(clap::Args)]
pub struct ServiceFiles {
    #[command(flatten)]
    notifications: notify::NotificationFiles,
}

impl ServiceFiles {
    pub fn check(&self) -> Result<Vec<Check>, String> {
        let env = Env::system().map_err(|error| error.to_string())?;
        Ok(self.notifications.check(&env))
    }
}

/// Starts those that are switched on. A mistake in a file keeps the server from starting.
pub fn start(config: &Config, store: &Store) -> Result<Vec<Arc<dyn Service>>, String> {
    if let Some(name) = &config.services.failpoint {
        arm(config, name)?;
    }
    BUILT_IN.iter().filter_map(|start| start(config, store).transpose()).collect()
}

fn arm(config: &Config, name: &str) -> Result<(), String> {
    if !config.is_loopback() {
        return Err("ORRERY_FAILPOINT is for tests and works on loopback only".to_owned());
    }
    orrery_kit::failpoint::arm(name).map_err(|error| format!("ORRERY_FAILPOINT: {error}"))
}

/// A database for a service: of this process's store, or at the endpoint of `--store`.
pub fn documents(config: &Config, store: &Store, database: &str) -> Result<Documents, String> {
    if let Some(at) = &config.services.store {
        return remote(at, database, store.env()).map(Documents::Remote);
    }
    Ok(Documents::Embedded(Embedded::new(store.clone(), database)))
}

fn remote(at: &StoreAt, database: &str, env: &Env) -> Result<Remote, String> {
    let credential = match &at.credential {
        Credential::Key(key) => port::Credential::Key(key.clone()),
        Credential::Token(token) => fixed(token.clone()),
        Credential::TokenFile(path) => {
            let path = path.clone();
            read(&path, "--store-token")?;
            port::Credential::Token(Arc::new(move || {
                std::fs::read_to_string(&path).map(|text| text.trim().to_owned()).unwrap_or_default()
            }))
        }
    };
    let trust = match &at.ca {
        Some(path) => {
            let found = certificates(&read(path, "--store-ca")?);
            Trust::These(found.map_err(|error| format!("--store-ca {}: {error}", path.display()))?)
        }
        None => Trust::default(),
    };
    let options =
        RemoteOptions { endpoint: at.url.clone(), database: database.to_owned(), credential, trust };
    Remote::new(options, env.clone()).map_err(|error| format!("--store {}: {error}", at.url))
}

fn fixed(token: String) -> port::Credential {
    port::Credential::Token(Arc::new(move || token.clone()))
}

pub fn read(path: &Path, flag: &str) -> Result<Vec<u8>, String> {
    std::fs::read(path).map_err(|error| format!("{flag} {} cannot be read: {error}", path.display()))
}
