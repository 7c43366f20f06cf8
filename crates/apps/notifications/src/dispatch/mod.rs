//! What happens to an event, step by step, under a lease.
//!
//! ```text
//! due       which events are due, by user and in their order
//! decide    pure: how the event ends, what its notification says, what its aggregate becomes
//! claim     the lease and the decision, in one batch (with the aggregate)
//! project   the notification is written, the same however often
//! push      each device that does not have it yet
//! finish    the end and what the world is told of it, in one batch
//! process   one event through these steps; what cannot be worked on is dead-lettered
//! end       how it ends: what providers' answers mean, and the event afterwards
//! pool      many users at once
//! ```
//!
//! A worker may stop between any two: its lease runs out, and the next one finds the decision made and goes on from there.
//! One that was overtaken holds an old tag, so nothing that it writes to the event counts. ADR 0020 has the argument.

mod claim;
mod decide;
mod due;
mod end;
mod finish;
mod pool;
mod process;
mod project;
mod push;

pub use decide::{Decided, Known, decide};

use crate::limits;
use crate::service::{Notifications, ServiceError};
use orrery_kit::failpoint;
use orrery_kit::ports::documents::StoreError;
use std::future::Future;
use std::sync::Arc;

/// How much is done at once.
#[derive(Clone)]
pub struct Options {
    pub users_at_once: usize,
    pub claim_max: usize,
    /// Where this dispatcher stops as if it had crashed: a test's.
    pub fault: Option<Fault>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            users_at_once: limits::NOTIFICATION_USERS_AT_ONCE,
            claim_max: limits::NOTIFICATION_CLAIM_MAX,
            fault: None,
        }
    }
}

/// Called at every step with its name; true stops there.
#[derive(Clone)]
pub struct Fault(pub Arc<dyn Fn(&str) -> bool + Send + Sync>);

/// Works on events. A cheap handle.
#[derive(Clone)]
pub struct Dispatcher {
    pub(crate) service: Notifications,
    options: Arc<Options>,
}

/// What one scan came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Round {
    pub claimed: usize,
    /// Events that got somewhere: ended, put off, or failed and will be tried again.
    pub processed: usize,
    /// Events that another worker had.
    pub lost: usize,
    /// Events that the store did not let be worked on now.
    pub troubled: usize,
    /// Events that can be neither worked on nor given up.
    pub stuck: usize,
}

/// Why work on an event stopped before its end: a step did not succeed.
#[derive(Debug)]
pub(crate) enum StepError {
    /// Somebody else has it, or it is gone.
    Lost,
    /// A fault said so.
    Crashed,
    Store(StoreError),
}

impl From<StoreError> for StepError {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl Dispatcher {
    pub fn new(service: &Notifications, options: Options) -> Self {
        Self { service: service.clone(), options: Arc::new(options) }
    }

    /// A step has been reached: the process may be made to end here, and a test's dispatcher too.
    pub(crate) fn reach(&self, step: &str) -> Result<(), StepError> {
        failpoint::hit(step);
        match &self.options.fault {
            Some(fault) if fault.0(step) => Err(StepError::Crashed),
            _ => Ok(()),
        }
    }
}

/// Works until it is told to stop; what it has begun by then it ends.
pub async fn run(service: &Notifications, stop: impl Future<Output = ()>) {
    Dispatcher::new(service, Options::default()).run(stop).await;
}

/// Works on what is due now and gives how many events that were; none means that nothing is left.
pub async fn round(service: &Notifications) -> Result<usize, ServiceError> {
    Ok(Dispatcher::new(service, Options::default()).round().await?.processed)
}
