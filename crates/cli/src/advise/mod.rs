//! `orrery advise`: what could be done better with the containers, tables and queues of a running server.
//!
//! ```text
//! definitions (Cosmos DB) ─┐
//! reports (services port) ─┴─ rules ─> findings ─ print ─> text or JSON
//! ```
//!
//! Tables and queues are told by other reports and judged by other rules ([`storage`]).
//!
//! The server tells what it stores and how it was asked since it started; what to make of that is decided here, by
//! pure functions over plain values. Nothing is changed: a finding ends in JSON to paste.

mod ask;
mod finding;
mod print;
mod rules;
mod storage;

use crate::client::ServerFlags;
use ask::Container;
use clap::Args;
use rules::Advice;
use serde_json::json;
use storage::Advised;

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
    /// Only the tables and queues of this storage account
    #[arg(long, conflicts_with = "database")]
    account: Option<String>,
    /// Only this table
    #[arg(long, conflicts_with = "database")]
    table: Option<String>,
    /// Only this queue
    #[arg(long, conflicts_with = "database")]
    queue: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Runs the verb; the error is a sentence for a person.
pub fn advise(flags: &AdviseFlags) -> Result<(), String> {
    if flags.container.is_some() && flags.database.is_none() {
        return Err("say which database the container is in: --database D --container C".to_owned());
    }
    let wanted = storage::Wanted {
        account: flags.account.as_deref(),
        table: flags.table.as_deref(),
        queue: flags.queue.as_deref(),
    };
    let (containers, reports) = crate::client::block_on(ask(flags, wanted))??;
    let advised: Vec<(&Container, Advice)> = containers
        .iter()
        .map(|container| {
            let report = &container.report;
            (container, rules::advise(&container.definition, &report.statistics, &report.usage))
        })
        .collect();
    crate::terminal::print(&if flags.json { json(&advised, &reports) } else { text(&advised, &reports) })
}

/// Containers, and tables and queues; with names of the one, the others are left out.
async fn ask(
    flags: &AdviseFlags,
    wanted: storage::Wanted<'_>,
) -> Result<(Vec<Container>, Vec<Advised>), String> {
    let mut containers = Vec::new();
    if wanted.is_everything() {
        let wanted =
            ask::Wanted { database: flags.database.as_deref(), container: flags.container.as_deref() };
        containers = ask::containers(&flags.server, wanted).await?;
    }
    let mut reports = Vec::new();
    if flags.database.is_none() {
        reports = storage::reports(&flags.server, wanted).await?;
    }
    Ok((containers, reports.into_iter().map(Advised::of).collect()))
}

fn json(containers: &[(&Container, Advice)], reports: &[Advised]) -> String {
    let (tables, queues) = storage::json(reports);
    format!("{:#}\n", json!({ "containers": print::json(containers), "tables": tables, "queues": queues }))
}

fn text(containers: &[(&Container, Advice)], reports: &[Advised]) -> String {
    let paragraphs = [print::text(containers), storage::text(reports)].concat();
    if paragraphs.is_empty() {
        "There are no such containers, tables or queues.\n".to_owned()
    } else {
        paragraphs.join("\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_without_anything_is_told_in_a_sentence() {
        assert_eq!(text(&[], &[]), "There are no such containers, tables or queues.\n");
        let empty = json(&[], &[]);
        let shown: serde_json::Value = serde_json::from_str(&empty).unwrap_or_default();
        assert_eq!(shown, json!({"containers": [], "tables": [], "queues": []}));
    }
}
