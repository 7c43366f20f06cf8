//! The processing of an event, step by step, under a lease.
//!
//! ```text
//! due       finds due events, by user and in order
//! decide    pure: how the event ends, its notification's text, the new aggregate
//! claim     the lease and the decision, in one batch (with the aggregate)
//! project   writes the notification, idempotently
//! push      each device that does not have it yet
//! finish    the end and the outbox events, in one batch
//! process   one event through these steps; dead-letters events that cannot be processed
//! end       pure: how it ends, from the providers' responses
//! pool      many users concurrently
//! ```
//!
//! A worker may stop between any two steps: its lease expires, and the next worker finds the decision and
//! continues from there. A worker that was overtaken holds an old etag, so its writes to the event fail. ADR
//! 0020 has the argument.

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

/// The concurrency of the dispatcher.
#[derive(Clone)]
pub struct Options {
    pub users_at_once: usize,
    pub claim_max: usize,
    /// Stops this dispatcher as if it had crashed; for tests.
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

/// Called at every step with its name; true stops the dispatcher there.
#[derive(Clone)]
pub struct Fault(pub Arc<dyn Fn(&str) -> bool + Send + Sync>);

/// Processes events. A cheap handle.
#[derive(Clone)]
pub struct Dispatcher {
    pub(crate) service: Notifications,
    options: Arc<Options>,
}

/// The result of one scan.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Round {
    pub claimed: usize,
    /// Events that made progress: ended, deferred, or failed and to be retried.
    pub processed: usize,
    /// Events held by another worker.
    pub lost: usize,
    /// Events that the store could not process now.
    pub troubled: usize,
    /// Events that can be neither processed nor dead-lettered.
    pub stuck: usize,
}

/// Why processing stopped before its end.
#[derive(Debug)]
pub(crate) enum StepError {
    /// Another worker has it, or it is gone.
    Lost,
    /// An injected fault.
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

    /// Marks a step as reached; a failpoint or an injected fault may stop here.
    pub(crate) fn reach(&self, step: &str) -> Result<(), StepError> {
        failpoint::hit(step);
        match &self.options.fault {
            Some(fault) if fault.0(step) => Err(StepError::Crashed),
            _ => Ok(()),
        }
    }
}

/// Runs until told to stop, then finishes the work it has begun.
pub async fn run(service: &Notifications, stop: impl Future<Output = ()>) {
    Dispatcher::new(service, Options::default()).run(stop).await;
}

/// Processes the events due now and returns their number; zero means that nothing is left.
pub async fn round(service: &Notifications) -> Result<usize, ServiceError> {
    Ok(Dispatcher::new(service, Options::default()).round().await?.processed)
}
