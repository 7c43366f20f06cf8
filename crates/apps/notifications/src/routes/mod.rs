//! The notification service's HTTP interface: routes, schemas, handlers, live feed.
//!
//! ```text
//! table      verb, path, permissions, bodies, handler
//! schemas    the form of bodies
//! handlers   each turns a request into one call of the service
//! feed       the in-app centre, live
//! ```

mod feed;
mod handlers;
mod schemas;
mod table;

pub use schemas::all as schemas;
pub use table::{aliases, endpoints};

use crate::service::{ServiceError, Tagged};
use orrery_core::SYSTEM_MEMBERS;
use orrery_kit::service::Response;
use serde::Serialize;
use serde_json::Value;

/// A record with its etag, without its private members.
fn tagged(record: Tagged<impl Serialize>) -> Response {
    Response::tagged(shown(&record.value), record.etag)
}

fn shown(record: &impl Serialize) -> Value {
    visible(serde_json::to_value(record).unwrap_or_default())
}

/// Removes the service's own bookkeeping, and push tokens, which grant access to a user's screen.
fn visible(mut record: Value) -> Value {
    const PRIVATE: [&str; 6] = ["ttl", "decision", "leaseOwner", "unprojected", "pushToken", "version"];
    if let Some(members) = record.as_object_mut() {
        members
            .retain(|name, _| !PRIVATE.contains(&name.as_str()) && !SYSTEM_MEMBERS.contains(&name.as_str()));
    }
    record
}

fn public_error(error: ServiceError) -> ServiceError {
    match error {
        ServiceError::Changed { current, etag } => {
            ServiceError::Changed { current: Box::new(visible(*current)), etag }
        }
        error => error,
    }
}
