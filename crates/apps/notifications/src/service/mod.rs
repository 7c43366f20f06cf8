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
    stores: Stores,
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

    /// Creates the containers that are missing; after the first success it asks nothing.
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

impl From<Invalid> for ServiceError {
    fn from(invalid: Invalid) -> Self {
        Self::Invalid { member: invalid.member, reason: invalid.reason }
    }
}
