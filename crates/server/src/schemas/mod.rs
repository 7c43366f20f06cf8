//! Schemas of containers: set and shown while the server runs, and held against what a stopped one has stored.
//!
//! ```text
//! services  endpoints   GET, PUT and DELETE of /v1/schemas/{database}/{container}
//! verbs     command     orrery schema set, show, rm: asks a running server
//!           check       orrery check --schemas: goes through a data folder
//! ```

mod check;
mod command;
mod endpoints;

pub use check::check_items;
pub use command::{SchemaFlags, schema};
pub use endpoints::{handle, has};
