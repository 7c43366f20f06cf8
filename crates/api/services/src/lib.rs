//! The REST interface of the services: one table of routes for dispatch and for the OpenAPI description.
//!
//! ```text
//! request ─ table: which route ─ caller: who asks, and may they ─ bucket: not too often ─ decode: body, tags, paging
//!         ─ idempotency ─ the service's handler ─ encode | problem (RFC 9457) | sse
//! openapi, page: the same table for machines and for people        readiness: what `/readyz` says of the services
//! ```
//!
//! It takes a list of services (`orrery_kit::service::Service`) and knows none by name. Every error response is a
//! problem that says what to do. A caller is identified by an account key or a bearer token, never by the body.
//! *Absent: flags, and what an operation means.*

mod alias;
mod api;
mod body;
mod caller;
mod decode;
mod encode;
mod errors;
mod idempotency;
pub mod limits;
mod openapi;
mod readiness;
mod sse;
mod table;

pub use api::{Api, Options};
pub use body::ServiceBody;
pub use caller::{Caller, Gate, shows_credential};
pub use readiness::Readiness;
