//! The operations for callers, one per file.
//!
//! ```text
//! containers   the containers and their definitions
//! items        conversion between records and items
//! enqueue      accepts events
//! events       read one, cancel it, queue it again
//! list         the in-app centre, and its unread count
//! mark         read, dismissed, all read
//! preferences  zone, quiet hours, categories
//! register     registers devices, at most three
//! devices      heartbeat, token, revocation
//! erase        erases a user
//! erasures     erasures under way
//! purge        deletes devices revoked long ago
//! sweep        hourly: events about to expire, and old outbox items
//! dead_letter  dead-letters an event
//! jobs, cron   scheduled jobs
//! stats        statistics
//! stream       live changes of the in-app centre
//! ```
//!
//! Every change is one batch in one partition of one container, guarded by etags, so that it works the same
//! on this store and on Cosmos DB.

pub mod containers;
pub mod counters;
pub mod cron;
pub(crate) mod dead_letter;
mod devices;
mod enqueue;
mod erase;
mod erasures;
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
pub use items::Tagged;
pub use jobs::{Job, Task};
pub use list::{List, Listed};
pub use orrery_kit::service::ServiceError;
pub use stream::Streamed;

use crate::policy::{Invalid, Policy, Registry};
use crate::push::Providers;
use counters::Counters;
use orrery_core::{Env, Timestamp};
use orrery_kit::ports::documents::Documents;
use orrery_kit::service::Stores;
use orrery_kit::time;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use stream::Watched;
use tokio::sync::{Mutex, Notify};

/// The parts of a service.
#[derive(Clone)]
pub struct Options {
    pub policy: Policy,
    pub providers: Providers,
    /// The owner of leases: a name unique to this process.
    pub worker: String,
    pub jobs: Vec<Job>,
}

/// The service. A cheap handle.
#[derive(Clone)]
pub struct Notifications(Arc<Inner>);

struct Inner {
    stores: Stores,
    env: Env,
    policy: Policy,
    registry: Registry,
    providers: Providers,
    worker: String,
    jobs: Vec<Job>,
    counters: Counters,
    /// Signals that there is work to dispatch.
    wake: Notify,
    watched: Watched,
    /// Serializes registrations of one user in this process; the guard item excludes other processes.
    registering: Vec<Mutex<()>>,
}

/// Registrations of different users rarely share a lock.
const REGISTERING: usize = 256;

/// The index of a user's lock.
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
            stores: Stores::new(documents, containers::layout()?, containers::SERVICE),
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
        })))
    }

    /// Creates the missing containers; after the first success it sends no request.
    pub async fn ensure(&self) -> Result<(), ServiceError> {
        self.0.stores.ensure().await
    }

    /// Whether the containers are known to exist.
    pub fn is_ensured(&self) -> bool {
        self.0.stores.is_ensured()
    }

    pub fn stores(&self) -> &Stores {
        &self.0.stores
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
        self.0.stores.documents()
    }

    pub fn env(&self) -> &Env {
        &self.0.env
    }

    /// Makes the dispatcher scan now.
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

    /// The current time as records store it.
    pub(crate) fn stamp(&self) -> String {
        time::format(self.now())
    }
}

impl From<Invalid> for ServiceError {
    fn from(invalid: Invalid) -> Self {
        Self::Invalid { member: invalid.member, reason: invalid.reason }
    }
}
