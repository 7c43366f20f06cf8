//! The administrative routes of the services port, each a function from a request to JSON or text.
//!
//! ```text
//! routes       which path is whose; Admin, what they work on
//! clock        /v1/clock
//! advice       /v1/advice: what containers, tables and queues hold and how they are used
//! schemas      /v1/schemas
//! blueprints   /v1/blueprints, and their named queries
//! keys         /v1/keys and /v1/roles
//! accounts     /v1/accounts: storage accounts and their keys
//! monitor      /metrics, /v1/alerts, /v1/top, /v1/cost; alerts, metering, OTLP
//! ```
//!
//! Who calls was decided before, by `server`, and what it needs from there comes as small traits: the account's keys
//! ([`AccountKeys`]), and named queries ([`NamedQueries`]), which run as any client's do. Absent: callers, listeners, routes of
//! services (`api/services`).

mod accounts;
mod advice;
mod blueprints;
mod clock;
mod keys;
pub mod limits;
pub mod monitor;
mod routes;
mod schemas;

pub use blueprints::{NamedQueries, NamedQueryAnswer, NamedQueryRequest, Page};
pub use keys::{AccountKeys, are_about_credentials, are_about_keys};
pub use routes::{Admin, Said, has};
