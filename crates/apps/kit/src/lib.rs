//! Shared building blocks of services, so that a service consists mostly of its own records and decisions.
//!
//! ```text
//! ports        the stores, as a service sees them: embedded in this process, or remote over the wire
//! service      the interface of a service to its host: routes, stores, health
//! http         the HTTP client for external endpoints (crates/client)
//! service_container   the container for a service's leases, idempotency records and cursors
//! time         timestamps in the services' format
//! failpoint    named places where a test ends the process
//! lease        exclusive work, with fencing
//! idempotency  a repeated key returns the first response
//! outbox       events in the batch of the change that they report, and their relay
//! bucket       rate limits: a token bucket for each key
//! ```

pub mod bucket;
pub mod failpoint;
pub mod idempotency;
pub mod lease;
pub mod limits;
pub mod outbox;
pub mod ports;
pub mod service;
mod service_container;
pub mod time;

pub use orrery_client::http;
pub use service_container::{PARTITION, service_container};
