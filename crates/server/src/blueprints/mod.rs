//! Blueprints in use: `orrery apply`, `orrery init`, `serve --blueprint`, and their named queries.
//!
//! ```text
//! files, names ─ files ─▶ blueprints ─┐
//! server ─ server::observe ───────────┴─ plan ─▶ steps ─ carry_out ─▶ server
//! ```
//!
//! What a blueprint is and what lies between it and a server is decided in `models/blueprint`. Here files are read, the
//! server is asked as every client asks it, and steps are taken one by one. A server that applies at its start is a client
//! of itself, on a port that nobody else knows.

mod at_start;
mod carry_out;
mod command;
mod endpoints;
mod files;
mod init;
mod named;
mod print;
mod server;

pub use at_start::{Blueprints, apply_at_start};
pub use command::{ApplyFlags, apply, built_in_blueprint, stand_up};
pub use endpoints::{handle, has};
pub use init::{InitFlags, init};
pub use named::{Named, find_query, index_use};
