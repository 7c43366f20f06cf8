//! What a caller may ask for, one operation a file.
//!
//! ```text
//! containers   where everything is
//! items        records in and items out
//! enqueue      events come in
//! events       look at one, cancel it, queue it again
//! list         the in-app centre, and how much of it is unread
//! mark         read, dismissed, all read
//! preferences  zone, quiet hours, categories
//! register     devices, three at most
//! devices      heartbeat, token, revoked
//! erase        a user is forgotten
//! erasures     those that are under way
//! purge        devices revoked long ago
//! sweep        events that would expire unnoticed, and what else is looked through every hour
//! dead_letter  an event is given up
//! jobs, cron   what runs by the calendar
//! stats        counts
//! stream       what changed, for those who watch
//! ```
//!
//! Every change is one batch in one partition of one container, guarded by tags: the same on this store as on Cosmos DB.

pub mod containers;
pub mod counters;
pub mod cron;
pub(crate) mod dead_letter;
mod devices;
mod enqueue;
mod erase;
mod erasures;
mod error;
mod events;
pub(crate) mod items;
mod jobs;
mod list;
mod mark;
pub(crate) mod outbox;
mod preferences;
mod purge;
mod register;
mod stats;
mod stream;
mod sweep;
pub(crate) mod tombstone;

pub use devices::Revoked;
pub(crate) use devices::active as active_devices;
pub use enqueue::Accepted;
pub use erase::Erased;
pub use error::ServiceError;
pub use items::Tagged;
pub use jobs::{Job, Task};
pub use list::{List, Listed};
pub use stream::Streamed;

use crate::policy::{Policy, Registry};
use crate::push::Providers;
use counters::Counters;
use orrery_core::{Env, Timestamp};
use orrery_kit::ports::documents::Documents;
use orrery_kit::time;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use stream::Watched;
use tokio::sync::{Mutex, Notify, OnceCell};

/// What a service is made of.
#[derive(Clone)]
pub struct Options {
    pub policy: Policy,
    pub providers: Providers,
    /// Who takes leases: a name of this process, unlike any other's.
    pub worker: String,
    pub jobs: Vec<Job>,
}

/// The service. A cheap handle.
#[derive(Clone)]
pub struct Notifications(Arc<Inner>);

struct Inner {
    documents: Documents,
    env: Env,
    policy: Policy,
    registry: Registry,
    providers: Providers,
    worker: String,
    jobs: Vec<Job>,
    counters: Counters,
    /// Something is there to be dispatched.
    wake: Notify,
    watched: Watched,
    /// Registrations of one user wait for each other here; other processes are kept out by the guard item.
    registering: Vec<Mutex<()>>,
    ensured: OnceCell<()>,
}

/// Registrations of different users rarely wait for each other.
const REGISTERING: usize = 256;

/// The same of so many places for the same user.
fn place_of(user: &str, places: usize) -> usize {
    let mut hash = DefaultHasher::new();
    user.hash(&mut hash);
    (hash.finish() % places.max(1) as u64) as usize
}

impl Notifications {
    /// The error is a sentence about the policy.
    pub fn new(documents: Documents, env: Env, options: Options) -> Result<Self, String> {
        options.policy.validate()?;
        let registry = Registry::of(&options.policy)?;
        Ok(Self(Arc::new(Inner {
            documents,
            env,
            policy: options.policy,
            registry,
            providers: options.providers,
            worker: options.worker,
            jobs: options.jobs,
            counters: Counters::default(),
            wake: Notify::new(),
            watched: Watched::default(),
            registering: (0..REGISTERING).map(|_| Mutex::new(())).collect(),
            ensured: OnceCell::new(),
        })))
    }

    /// Makes what is missing of the containers; after the first time nothing is asked.
    pub async fn ensure(&self) -> Result<(), ServiceError> {
        let make = || async {
            let layout = containers::layout().map_err(ServiceError::Broken)?;
            Ok(self.0.documents.ensure(&layout).await?)
        };
        self.0.ensured.get_or_try_init(make).await.copied()
    }

    /// Whether the containers are known to be there.
    pub fn is_ensured(&self) -> bool {
        self.0.ensured.initialized()
    }

    pub fn policy(&self) -> &Policy {
        &self.0.policy
    }

    pub fn registry(&self) -> &Registry {
        &self.0.registry
    }

    pub fn providers(&self) -> &Providers {
        &self.0.providers
    }

    pub fn counters(&self) -> &Counters {
        &self.0.counters
    }

    pub fn documents(&self) -> &Documents {
        &self.0.documents
    }

    pub fn env(&self) -> &Env {
        &self.0.env
    }

    /// Makes the dispatcher look for events now.
    pub fn wake(&self) {
        self.0.wake.notify_one();
    }

    pub(crate) async fn woken(&self) {
        self.0.wake.notified().await;
    }

    pub(crate) fn worker(&self) -> &str {
        &self.0.worker
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.0.env.now()
    }

    /// The present moment as records have it.
    pub(crate) fn stamp(&self) -> String {
        time::format(self.now())
    }
}
