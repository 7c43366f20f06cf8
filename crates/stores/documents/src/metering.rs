//! What every operation on items passes: throttling before it, its charge after it, and the retry when the container
//! changed underneath.

use crate::error::Error;
use crate::store::Store;
use crate::throttle::Priority;
use orrery_documents::catalog::Container;
use orrery_documents::charge::Charge;
use orrery_documents::item::FeedScope;
use orrery_txn::limits;
use std::sync::Arc;

/// An outcome that says what it cost.
pub trait Charged {
    fn charge(&self) -> Charge;
}

/// The error of an operation, with or without more about it.
pub trait OperationError: Charged + From<Error> {
    fn error(&self) -> &Error;
}

impl Charged for Error {
    fn charge(&self) -> Charge {
        Error::charge(self)
    }
}

impl OperationError for Error {
    fn error(&self) -> &Error {
        self
    }
}

impl Store {
    /// Runs an operation on the items of `scope`: refuses it if the throughput is spent, and takes what it cost.
    pub(crate) async fn metered<T: Charged, E: OperationError>(
        &self,
        container: &Container,
        scope: Option<&FeedScope>,
        priority: Priority,
        operation: impl Future<Output = Result<T, E>>,
    ) -> Result<T, E> {
        orrery_core::tour_step!();
        let ticket = self.throttle().admit(self, container, scope, priority)?;
        let outcome = operation.await;
        self.throttle().settle(self, &ticket, outcome.as_ref().map_or_else(E::charge, T::charge));
        outcome
    }

    /// Refuses an operation on items whose throughput is spent, and takes nothing. A protocol may ask before it reads a
    /// request's body; the operation itself is refused all the same.
    pub fn check_throughput(
        &self,
        container: &Container,
        scope: Option<&FeedScope>,
        priority: Priority,
    ) -> Result<(), Error> {
        self.throttle().check(self, container, scope, priority)
    }

    /// Whether anything is refused for want of throughput.
    pub fn is_throttling(&self) -> bool {
        self.throttle().is_on()
    }

    /// The same for an operation on databases, containers, offers and what belongs to them. `charge` says what its
    /// outcome cost, as most of them are answered from the catalog in memory.
    pub async fn metered_metadata<T, E: From<Error>>(
        &self,
        operation: impl Future<Output = Result<T, E>>,
        charge: impl FnOnce(&Result<T, E>) -> Charge,
    ) -> Result<T, E> {
        let ticket = self.throttle().admit_metadata(self)?;
        let outcome = operation.await;
        self.throttle().settle(self, &ticket, charge(&outcome));
        outcome
    }

    /// Runs `attempt`, and retries it with the container as it is now if that was re-indexed or got another schema
    /// meanwhile.
    pub(crate) async fn with_container<T, E: OperationError, F: Future<Output = Result<T, E>>>(
        &self,
        container: &Arc<Container>,
        mut attempt: impl FnMut(Arc<Container>) -> F,
    ) -> Result<T, E> {
        let mut container = container.clone();
        for _ in 1..limits::TRANSACTION_RETRIES_MAX {
            match attempt(container.clone()).await {
                Err(error) if matches!(error.error(), Error::ContainerGone) => {
                    match self.current(&container)? {
                        Some(newer) => container = newer,
                        None => return Err(error),
                    }
                }
                done => return done,
            }
        }
        attempt(container).await
    }

    /// The container as it is now, if it is still there. It may look like `known`: a schema that was set and removed again
    /// has refused what was under way between.
    pub(crate) fn current(&self, known: &Container) -> Result<Option<Arc<Container>>, Error> {
        let catalog = self.refresh_catalog()?;
        Ok(catalog.container_by_number(known.number()).cloned())
    }
}
