//! Starts the configured notification service: its policy, its providers, its store.

use crate::built_in_services::{documents, read};
use crate::config::Config;
use clap::Args;
use orrery_core::Env;
use orrery_document_store::Store;
use orrery_kit::service::{Check, Service, Verdict};
use orrery_notifications::policy::Policy;
use orrery_notifications::push::Providers;
use orrery_notifications::service::{self, Notifications};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// `None` if it is switched off. An error in a file prevents the start; a credential that a provider refuses does not,
/// because events must still be accepted.
pub fn start(config: &Config, store: &Store) -> Result<Option<Arc<dyn Service>>, String> {
    let settings = &config.services;
    if !settings.is_on {
        return Ok(None);
    }
    let env = store.env().clone();
    let options = service::Options {
        policy: policy(settings.policy.as_deref())?,
        providers: providers(settings.push.as_deref(), &env)?,
        worker: format!("{}-{}", std::process::id(), env.guid()),
        jobs: service::Job::defaults()?,
    };
    let documents = documents(config, store, &settings.database)?;
    let notifications = Notifications::new(documents, env, options)
        .map_err(|error| format!("the policy of notifications: {error}"))?;
    for trouble in notifications.providers().troubles() {
        tracing::warn!(trouble, "pushes wait until this is put right; events are accepted and kept");
    }
    Ok(Some(Arc::new(notifications)))
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

/// The files that a server would be started with, for `orrery doctor`.
#[derive(Args)]
pub struct NotificationFiles {
    /// Also read this policy of notifications
    #[arg(long, value_name = "FILE", env = "ORRERY_NOTIFICATIONS_CONFIG")]
    notifications_config: Option<PathBuf>,
    /// Also read this configuration of push providers
    #[arg(long, value_name = "FILE", env = "ORRERY_PUSH_CONFIG")]
    push_config: Option<PathBuf>,
}

impl NotificationFiles {
    pub fn check(&self, env: &Env) -> Vec<Check> {
        let mut checks = Vec::new();
        if self.notifications_config.is_some() {
            checks.push(match policy(self.notifications_config.as_deref()) {
                Ok(_) => Check::ok("policy", "the policy of notifications is understood"),
                Err(sentence) => Check::new("policy", Verdict::Bad, sentence),
            });
        }
        if self.push_config.is_some() {
            let bad = |sentence: String| Check::new("providers", Verdict::Bad, sentence);
            match providers(self.push_config.as_deref(), env).map(|providers| providers.troubles()) {
                Ok(troubles) if troubles.is_empty() => {
                    checks.push(Check::ok("providers", "the push configuration is understood"));
                }
                Ok(troubles) => checks.extend(troubles.into_iter().map(bad)),
                Err(sentence) => checks.push(bad(sentence)),
            }
        }
        checks
    }
}
