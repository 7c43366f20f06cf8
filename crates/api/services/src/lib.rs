//! REST of the services: one table of routes, from which requests find their way and the description is made.
//!
//! ```text
//! request ─ route: which operation ─ caller: who asks, and may they ─ bucket: not too often ─ asked: body, tags, paging
//!         ─ notifications: the operation ─ reply | problem (RFC 9457) | stream (SSE)
//! openapi, page: the same table for machines and for people
//! ```
//!
//! Every answer that is no success is a problem that says what to do. A caller is known by a key of the account or by a
//! bearer token, never by the body. Nothing here knows flags, stores or what a notification is; the services do.

mod alias;
mod api;
mod asked;
mod body;
mod caller;
mod errors;
mod idempotent;
mod notifications;
mod openapi;
mod problem;
mod reply;
mod route;
mod stream;

pub use api::{Api, Options};
pub use body::ServiceBody;
pub use caller::{Caller, Gate, shows_credential};
pub use problem::Problem;
