//! The notification service as callers see it: routes, schemas, handlers, live feed.
//!
//! ```text
//! table      verb, path, who may call, bodies, handler
//! schemas    the form of bodies
//! handlers   a request becomes one call of the service
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

/// A record with its tag, without its private members.
fn tagged(record: Tagged<impl Serialize>) -> Response {
    Response::tagged(shown(&record.value), record.etag)
}

fn shown(record: &impl Serialize) -> Value {
    visible(serde_json::to_value(record).unwrap_or_default())
}

/// Leaves out the service's own bookkeeping, and push tokens, which open a way to somebody's screen.
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
