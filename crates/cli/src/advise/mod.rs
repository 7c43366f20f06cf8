//! `orrery advise`: what could be done better with the containers of a running server.
//!
//! ```text
//! definitions (Cosmos DB) ─┐
//! reports (services port) ─┴─ rules ─> findings ─ print ─> text or JSON
//! ```
//!
//! The server tells what it stores and how it was asked since it started; what to make of that is decided here, by
//! pure functions over plain values. Nothing is changed: a finding ends in JSON to paste.

mod ask;
mod finding;
mod print;
mod rules;

use crate::client::ServerFlags;
use clap::Args;

#[derive(Args)]
pub struct AdviseFlags {
    #[command(flatten)]
    server: ServerFlags,
    /// Only the containers of this database
    #[arg(long)]
    database: Option<String>,
    /// Only this container of the database
    #[arg(long)]
    container: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Runs the verb; the error is a sentence for a person.
pub fn advise(flags: &AdviseFlags) -> Result<(), String> {
    if flags.container.is_some() && flags.database.is_none() {
        return Err("say which database the container is in: --database D --container C".to_owned());
    }
    let wanted = ask::Wanted { database: flags.database.as_deref(), container: flags.container.as_deref() };
    let containers = crate::client::block_on(ask::containers(&flags.server, wanted))??;
    let advised = containers.iter().map(|container| {
        let report = &container.report;
        (container, rules::advise(&container.definition, &report.statistics, &report.usage))
    });
    let advised: Vec<_> = advised.collect();
    let text = if flags.json { print::json(&advised) } else { print::text(&advised) };
    crate::terminal::print(&text)
}
