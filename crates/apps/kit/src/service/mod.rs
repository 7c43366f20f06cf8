//! A service as a value: everything that the REST API, the server and the operator's tools need to know.
//!
//! ```text
//! route      the table of endpoints: verb, path, permissions, schemas, and the handler of each
//! request    the inputs and outputs of a handler, without HTTP
//! error      why an operation failed, distinguished by what the caller can do about it
//! feed       a live feed of changes, resumable by cursor
//! stores     the containers that the service ensures, including its own
//! health     metrics for `/metrics`; checks for `/readyz` and `orrery doctor` are in `base/protocol`
//! ```
//!
//! The host of a list of services knows none of them by name. *Absent: HTTP, authentication, rate limits,
//! flags.*

mod error;
mod feed;
mod health;
mod request;
mod route;
mod stores;

pub use error::ServiceError;
pub use feed::{Feed, FeedPage, LiveFeed};
pub use health::{Measure, MeasureKind, MeasureUnit};
pub use orrery_protocol::{Check, Verdict};
pub use request::{Content, Request, Response};
pub use route::{Alias, Endpoint, Handler, Parameter, ParameterKind, Route, Shape, Who};
pub use stores::Stores;

use serde_json::Value;
use std::pin::Pin;
use std::time::Duration;

pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A service. Its routes are under `/v1/{name}` or, for a user, under `/v1/users/{user}`.
pub trait Service: Send + Sync {
    /// One word: the tag of its routes in the OpenAPI document, and the prefix of its role names
    /// (`{name}.admin`).
    fn name(&self) -> &'static str;

    fn routes(&self) -> Vec<Endpoint>;

    /// JSON Schemas of the bodies that its routes reference.
    fn schemas(&self) -> Vec<(&'static str, Value)> {
        Vec::new()
    }

    /// Aliases of its paths.
    fn aliases(&self) -> Vec<Alias> {
        Vec::new()
    }

    fn stores(&self) -> &Stores;

    /// Runs background work until `stop` resolves. Started once the containers exist; see [`run`].
    fn run<'a>(&'a self, stop: BoxFuture<'a, ()>) -> BoxFuture<'a, ()> {
        stop
    }

    /// Work may be due sooner than expected: the clock was moved.
    fn wake(&self) {}

    /// One check per thing that can be wrong. Anything but `Ok` makes `/readyz` report `degraded`.
    fn health(&self) -> Vec<Check> {
        Vec::new()
    }

    fn measures(&self) -> Vec<Measure> {
        Vec::new()
    }
}

/// Interval between checks that the service's containers exist, and the pause after a store error.
const CHECK_INTERVAL: Duration = Duration::from_secs(1);

/// Runs a service's background work until `stop` resolves.
///
/// An unused store stays empty: nothing is created or queried until the containers exist or the first request
/// has created them.
pub async fn run(service: &dyn Service, stop: impl Future<Output = ()> + Send) {
    let mut stop = Box::pin(stop);
    let stores = service.stores();
    while !stores.is_ensured() {
        if stores.may_exist() {
            match stores.ensure().await {
                Ok(()) => break,
                Err(error) => {
                    tracing::warn!(service = service.name(), %error, "the service waits for its store")
                }
            }
        }
        tokio::select! {
            () = tokio::time::sleep(CHECK_INTERVAL) => {}
            () = &mut stop => return,
        }
    }
    service.run(stop).await;
}
