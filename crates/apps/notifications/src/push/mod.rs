//! Pushes to devices through FCM HTTP v1 and APNs.
//!
//! ```text
//! options      the operator's configuration: credentials, addresses, trust roots
//! message      the pushed message, fitted to the providers' limits
//! outcome      the result of a push, as far as the event depends on it
//! key          the keys that sign our tokens (RS256, ES256)
//! fcm          messages:send, its bearer token, its errors
//! apns         /3/device, its provider token, its errors
//! scripted     outcomes chosen by a test
//! ```
//!
//! No log, error or `Debug` output contains a push token or a key. Wrong credentials lose no event: the
//! outcome reports them, the event is retried, and [`Providers::troubles`] reports them in health checks.

mod apns;
mod fcm;
mod key;
mod message;
mod options;
mod outcome;
mod scripted;

pub use message::Message;
pub use outcome::Outcome;
pub use scripted::{Pushed, Script, Scripted};

use crate::records::{Device, Platform};
use apns::Apns;
use fcm::Fcm;
use options::Options;
use orrery_core::Env;
use std::sync::{Arc, Mutex, PoisonError};

/// The push providers. A cheap handle.
#[derive(Clone)]
pub struct Providers(Arc<Inner>);

enum Inner {
    /// The configured providers, and what is wrong with each.
    Real {
        fcm: Box<Slot<Fcm>>,
        apns: Box<Slot<Apns>>,
    },
    Scripted(Scripted),
    /// Accepts everything and sends nothing.
    Pretending,
}

struct Slot<T> {
    provider: Option<T>,
    trouble: Mutex<Option<String>>,
}

/// The health of a provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Health {
    Well,
    Off,
    /// Not configured, and a device needs it; a sentence that says what to do.
    Missing(String),
    /// Configured but not working; a sentence that says what to do.
    Troubled(String),
}

impl Providers {
    /// Parses the operator's configuration. `read` returns the bytes of the files that it names, or an
    /// error sentence.
    pub fn parse(
        json: &[u8],
        read: &dyn Fn(&str) -> Result<Vec<u8>, String>,
        env: Env,
    ) -> Result<Self, String> {
        let options = Options::parse(json, read)?;
        let fcm = options.fcm.map(|options| Fcm::new(options, env.clone())).transpose()?;
        let apns = options.apns.map(|options| Apns::new(options, env)).transpose()?;
        Ok(Self::real(fcm, apns))
    }

    /// No provider: pushes wait for one.
    pub fn none() -> Self {
        Self::real(None, None)
    }

    fn real(fcm: Option<Fcm>, apns: Option<Apns>) -> Self {
        Self(Arc::new(Inner::Real { fcm: Box::new(Slot::of(fcm)), apns: Box::new(Slot::of(apns)) }))
    }

    /// Accepts every push and sends nothing.
    pub fn pretending() -> Self {
        Self(Arc::new(Inner::Pretending))
    }

    /// For tests.
    pub fn of(scripted: Scripted) -> Self {
        Self(Arc::new(Inner::Scripted(scripted)))
    }

    /// Takes each outcome from the function.
    pub fn scripted(script: Script) -> Self {
        Self::of(Scripted::by(script))
    }

    /// One attempt. The outcome never shows the device's token.
    pub async fn push(&self, device: &Device, message: &Message) -> Outcome {
        orrery_core::tour_step!();
        let outcome = match &*self.0 {
            Inner::Real { fcm, apns } => match device.platform {
                Platform::Fcm => match &fcm.provider {
                    Some(provider) => fcm.noted("FCM", provider.push(device, message).await),
                    None => fcm.noted("FCM", not_configured("FCM", "fcm")),
                },
                Platform::Apns => match &apns.provider {
                    Some(provider) => apns.noted("APNs", provider.push(device, message).await),
                    None => apns.noted("APNs", not_configured("APNs", "apns")),
                },
            },
            Inner::Scripted(scripted) => scripted.push(device, message),
            Inner::Pretending => Outcome::Delivered,
        };
        outcome.without(&device.push_token)
    }

    pub fn health(&self) -> Vec<(String, Health)> {
        match &*self.0 {
            Inner::Real { fcm, apns } => {
                vec![("fcm".to_owned(), fcm.health()), ("apns".to_owned(), apns.health())]
            }
            Inner::Scripted(_) | Inner::Pretending => Vec::new(),
        }
    }

    /// The current problems, one sentence per provider.
    pub fn troubles(&self) -> Vec<String> {
        let sentence = |(_, health)| match health {
            Health::Missing(sentence) | Health::Troubled(sentence) => Some(sentence),
            Health::Well | Health::Off => None,
        };
        self.health().into_iter().filter_map(sentence).collect()
    }

    /// The problems that concern unconfigured providers.
    pub fn missing(&self) -> Vec<String> {
        let sentence = |(_, health)| match health {
            Health::Missing(sentence) => Some(sentence),
            Health::Well | Health::Off | Health::Troubled(_) => None,
        };
        self.health().into_iter().filter_map(sentence).collect()
    }
}

fn not_configured(name: &str, member: &str) -> Outcome {
    let reason =
        format!("a device waits for {name}, which is not configured; give '{member}' in --push-config");
    Outcome::Misconfigured { reason, status: None }
}

impl<T> Slot<T> {
    fn of(provider: Option<T>) -> Self {
        Self { provider, trouble: Mutex::default() }
    }

    /// Remembers the problem until a push succeeds.
    fn noted(&self, name: &str, outcome: Outcome) -> Outcome {
        let mut trouble = self.trouble.lock().unwrap_or_else(PoisonError::into_inner);
        match &outcome {
            Outcome::Misconfigured { reason, .. } => {
                if trouble.is_none() {
                    tracing::warn!(provider = name, %reason, "pushes wait for the configuration of their provider");
                }
                *trouble = Some(format!("{name}: {reason}"));
            }
            Outcome::Delivered | Outcome::Unregistered { .. } => *trouble = None,
            Outcome::Later { .. } | Outcome::Refused { .. } => {}
        }
        outcome
    }

    fn health(&self) -> Health {
        let trouble = self.trouble.lock().unwrap_or_else(PoisonError::into_inner).clone();
        match (trouble, &self.provider) {
            (Some(sentence), None) => Health::Missing(sentence),
            (Some(sentence), Some(_)) => Health::Troubled(sentence),
            (None, None) => Health::Off,
            (None, Some(_)) => Health::Well,
        }
    }
}

impl std::fmt::Debug for Providers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Providers").field(&self.health()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use orrery_core::Timestamp;

    #[tokio::test]
    async fn a_device_of_an_unconfigured_provider_waits() {
        let providers = Providers::none();
        assert_eq!(providers.troubles(), [""; 0]);
        let outcome = providers.push(&scripted::device("d", Platform::Apns), &message::example()).await;
        assert!(
            matches!(&outcome, Outcome::Misconfigured { reason, .. } if reason.contains("'apns'")),
            "{outcome:?}"
        );
        assert_eq!(providers.troubles().len(), 1);
        assert_eq!(providers.health()[0], ("fcm".to_owned(), Health::Off));
    }

    #[tokio::test]
    async fn pretending_accepts_everything() {
        let providers = Providers::pretending();
        assert_eq!(
            providers.push(&scripted::device("d", Platform::Fcm), &message::example()).await,
            Outcome::Delivered
        );
        assert_eq!(providers.troubles(), [""; 0]);
    }

    #[tokio::test]
    async fn an_outcome_never_shows_the_devices_token() {
        let device = scripted::device("d", Platform::Fcm);
        let says = format!("the token {} is no good", device.push_token);
        let providers = Providers::scripted(Arc::new(move |_, _| Outcome::Refused {
            reason: says.clone(),
            status: Some(400),
        }));
        let shown = format!("{:?}", providers.push(&device, &message::example()).await);
        assert!(!shown.contains(&device.push_token) && shown.contains("no good"), "{shown}");
    }

    #[test]
    fn a_configuration_that_is_empty_is_no_provider() {
        let env = Env::seeded(Timestamp::from_seconds(1), 1);
        let read = |_: &str| Err("no file".to_owned());
        let providers = Providers::parse(b"{}", &read, env).expect("nothing to be wrong");
        assert_eq!(providers.health(), [("fcm".to_owned(), Health::Off), ("apns".to_owned(), Health::Off)]);
    }
}
