//! Blueprints in use: `orrery apply`, `orrery init`, and their named queries.
//!
//! ```text
//! files, names ─ files ─▶ blueprints ─┐
//! server ─ server::observe ───────────┴─ plan ─▶ steps ─ carry_out ─▶ server
//!            storage::observe ────────┘                    storage ─▶ tables, queues of accounts
//! ```
//!
//! What a blueprint is and what lies between it and a server is decided in `models/blueprint`. Here files are read, the
//! server is asked as every client asks it, and steps are taken one by one. `serve --blueprint` takes them the same way: the
//! server is then a client of itself.

mod accounts;
mod carry_out;
mod command;
mod files;
mod init;
mod named;
mod print;
mod server;
mod storage;

pub use accounts::{OpenAccount, Opening, StorageAccounts};
pub use carry_out::apply as carry_out;
pub use command::{ApplyFlags, apply, built_in_blueprint, environment, stand_up};
pub use files::blueprints as read;
pub use init::{InitFlags, init};
pub use named::{Named, Page, ask as ask_named, find_query, index_use};
pub use server::Server;
