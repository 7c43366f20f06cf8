//! The service as it is wired: its store, its providers, its REST.

use super::dispatching;
use super::measures;
use super::settings::{Credential, Settings, StoreAt};
use crate::config::Config;
use orrery_api_common::Stop;
use orrery_api_common::bearer::Bearers;
use orrery_api_cosmos::Cosmos;
use orrery_api_services::{Api, Gate, Options};
use orrery_core::Env;
use orrery_document_store::Store;
use orrery_kit::http::{Trust, certificates};
use orrery_kit::port::{self, Documents, Embedded, Remote, RemoteOptions};
use orrery_notifications::policy::Policy;
use orrery_notifications::push::Providers;
use orrery_notifications::service::{self, Notifications};
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;

/// A cheap handle.
#[derive(Clone)]
pub struct Notify {
    pub api: Api,
    pub notifications: Notifications,
    store: Store,
    database: String,
    is_remote: bool,
}

/// What it is wired to.
pub struct Beside<'a> {
    pub store: &'a Store,
    pub cosmos: &'a Cosmos,
    pub secret: [u8; 32],
    pub bearers: Option<Arc<Bearers>>,
    pub stop: &'a Stop,
}

/// None if it is switched off. A mistake in a file keeps the server from starting; a credential that a provider does not
/// take does not, because events must still be accepted.
pub fn start(config: &Config, beside: Beside<'_>) -> Result<Option<Notify>, String> {
    let settings = &config.services;
    if let Some(name) = &settings.failpoint {
        arm(config, name)?;
    }
    if !settings.is_on {
        return Ok(None);
    }
    let env = beside.store.env().clone();
    let documents = documents(config, &beside, &env)?;
    let options = service::Options {
        policy: policy(settings.policy.as_deref())?,
        providers: providers(settings.push.as_deref(), &env)?,
        worker: format!("{}-{}", std::process::id(), env.guid()),
        jobs: service::Job::defaults()?,
    };
    let notifications = Notifications::new(documents.clone(), env.clone(), options)
        .map_err(|error| format!("the policy of notifications: {error}"))?;
    for trouble in notifications.providers().troubles() {
        tracing::warn!(trouble, "pushes wait until this is put right; events are accepted and kept");
    }
    let cosmos = beside.cosmos.clone();
    let gate = Gate { keys: Box::new(move || cosmos.access().keys()), bearers: beside.bearers };
    let options = Options { rate: settings.rate };
    let api = Api::new(gate, env, documents, notifications.clone(), beside.stop.clone(), &options);
    Ok(Some(Notify {
        api,
        notifications,
        store: beside.store.clone(),
        database: settings.database.clone(),
        is_remote: settings.store.is_some(),
    }))
}

fn arm(config: &Config, name: &str) -> Result<(), String> {
    if !config.is_loopback() {
        return Err("ORRERY_FAILPOINT is for tests and works on loopback only".to_owned());
    }
    orrery_kit::failpoint::arm(name).map_err(|error| format!("ORRERY_FAILPOINT: {error}"))
}

fn documents(config: &Config, beside: &Beside<'_>, env: &Env) -> Result<Documents, String> {
    let settings = &config.services;
    if let Some(at) = &settings.store {
        return remote(settings, at, env).map(Documents::Remote);
    }
    let (store, partition_bytes_max) = (beside.store.clone(), config.partition_bytes_max);
    let embedded = Embedded::new(store, &settings.database, beside.secret, partition_bytes_max);
    let embedded = if config.throttling.is_serverless { embedded.serverless() } else { embedded };
    Ok(Documents::Embedded(embedded))
}

fn remote(settings: &Settings, at: &StoreAt, env: &Env) -> Result<Remote, String> {
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
        RemoteOptions { endpoint: at.url.clone(), database: settings.database.clone(), credential, trust };
    Remote::new(options, env.clone()).map_err(|error| format!("--store {}: {error}", at.url))
}

fn fixed(token: String) -> port::Credential {
    port::Credential::Token(Arc::new(move || token.clone()))
}

/// The policy of a file, or the default one.
pub fn policy(path: Option<&Path>) -> Result<Policy, String> {
    let Some(path) = path else { return Ok(Policy::default()) };
    let text = read(path, "--notifications-config")?;
    Policy::parse(&text).map_err(|error| format!("--notifications-config {}: {error}", path.display()))
}

/// The providers of a file, or none.
pub fn providers(path: Option<&Path>, env: &Env) -> Result<Providers, String> {
    let Some(path) = path else { return Ok(Providers::none()) };
    let text = read(path, "--push-config")?;
    let folder = path.parent().unwrap_or(Path::new("")).to_owned();
    let beside = |name: &str| read(&folder.join(name), "a file of --push-config");
    Providers::parse(&text, &beside, env.clone())
        .map_err(|error| format!("--push-config {}: {error}", path.display()))
}

fn read(path: &Path, flag: &str) -> Result<Vec<u8>, String> {
    std::fs::read(path).map_err(|error| format!("{flag} {} cannot be read: {error}", path.display()))
}

impl Notify {
    /// Dispatches until stopped.
    pub async fn run(&self, stop: &Stop) {
        dispatching::run(self, stop).await;
    }

    /// What `/readyz` says of it: what keeps pushes from going out.
    pub fn readiness(&self) -> Value {
        let providers = self.notifications.providers();
        json!({ "notifications": { "troubles": providers.troubles(), "missing": providers.missing() } })
    }

    pub fn has_troubles(&self) -> bool {
        !self.notifications.providers().troubles().is_empty()
    }

    pub fn measures(&self) -> Vec<orrery_api_admin::monitor::family::Family> {
        measures::families(&self.notifications)
    }

    /// Whether events may be waiting: the containers were there before anybody asked.
    pub(super) fn has_containers(&self) -> bool {
        let catalog = self.store.catalog();
        let database = catalog.database(&self.database);
        let events = service::containers::EVENTS;
        self.is_remote || database.is_some_and(|database| catalog.container(database.rid, events).is_some())
    }
}
