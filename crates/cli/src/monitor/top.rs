//! `orrery top`: the busiest containers, partitions, queries, tables and queues, drawn anew every few seconds.

use super::top_storage::{queues, tables};
use super::{TellFlags, fetch};
use crate::client::block_on;
use crate::terminal::{Screen, Table, bytes, print, print_json};
use clap::Args;
use orrery_protocol::top::{Asked, Busy, Top};
use std::collections::HashMap;
use std::io::IsTerminal as _;
use std::time::Duration;

#[derive(Args)]
pub struct TopFlags {
    #[command(flatten)]
    services: TellFlags,
    /// Show once what came since the server started; so it is into a pipe and with --json
    #[arg(long)]
    once: bool,
    /// Seconds between two looks
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u64).range(1..=3600))]
    seconds: u64,
}

/// Back to the first place and empty from there: what was there is overwritten, so nothing flickers.
const HOME: &str = "\u{1b}[H\u{1b}[J";
pub const ROWS: usize = 10;

/// Runs until it is interrupted; the error is a sentence for a person.
pub fn top(flags: &TopFlags) -> Result<(), String> {
    block_on(async {
        let mut before: Option<Top> = None;
        let is_live = !flags.once && !flags.services.json && std::io::stdout().is_terminal();
        loop {
            let now: Top = fetch(&flags.services, "/v1/top").await?;
            let screen = Screen::of_stdout();
            match (flags.services.json, is_live) {
                (true, _) => print_json(&now)?,
                (false, false) => print(&drawn(&now, None, &screen))?,
                (false, true) => print(&format!("{HOME}{}", drawn(&now, before.as_ref(), &screen)))?,
            }
            if !is_live {
                return Ok(());
            }
            before = Some(now);
            tokio::select! {
                () = tokio::time::sleep(Duration::from_secs(flags.seconds)) => {}
                _ = tokio::signal::ctrl_c() => return Ok(()),
            }
        }
    })?
}

/// What came since `before`, or since the start.
fn drawn(now: &Top, before: Option<&Top>, screen: &Screen) -> String {
    let from = before.map_or(now.since_ms, |before| before.now_ms);
    let seconds = now.now_ms.saturating_sub(from).max(1) as f64 / 1000.0;
    let containers = busy(&now.containers, before.map(|it| &it.containers[..]), seconds).draw(screen);
    let partitions = busy(&now.partitions, before.map(|it| &it.partitions[..]), seconds).draw(screen);
    let queries = asked(&now.queries, before.map(|it| &it.queries[..]), seconds).draw(screen);
    let about = match before {
        None => format!("since the start, {seconds:.0} s ago"),
        Some(_) => format!("in the last {seconds:.1} s"),
    };
    let tables = tables(&now.tables, before.map(|it| &it.tables[..]), seconds);
    let queues = queues(&now.queues, before.map(|it| &it.queues[..]), seconds);
    let storage: String =
        [tables, queues].into_iter().flatten().map(|table| format!("\n{}", table.draw(screen))).collect();
    format!("orrery top: {about}\n\n{containers}\n{partitions}\n{queries}{storage}")
}

fn busy(now: &[Busy], before: Option<&[Busy]>, seconds: f64) -> Table {
    let name = |it: &Busy| (it.database.clone(), it.container.clone(), it.partition.clone());
    let earlier: HashMap<_, &Busy> = before.unwrap_or_default().iter().map(|it| (name(it), it)).collect();
    let mut rows: Vec<(f64, Vec<String>)> = Vec::new();
    for it in now {
        let was = earlier.get(&name(it));
        let requests = since(it.requests, was.map(|was| was.requests));
        let units = (it.request_units - was.map_or(0.0, |was| was.request_units)).max(0.0);
        let throttled = since(it.throttled, was.map(|was| was.throttled));
        let mut cells = vec![format!("{} / {}", it.database, it.container)];
        cells.extend(it.partition.clone());
        cells.extend([
            format!("{:.1}", requests as f64 / seconds),
            format!("{:.1}", units / seconds),
            throttled.to_string(),
            format!("{:.2}", it.p50_ms),
            format!("{:.2}", it.p95_ms),
            format!("{:.2}", it.p99_ms),
            it.items.map_or_else(|| "-".to_owned(), |items| items.to_string()),
            bytes(it.bytes),
        ]);
        rows.push((units, cells));
    }
    rows.sort_by(|a, b| b.0.total_cmp(&a.0));
    let is_partitions = now.iter().any(|it| it.partition.is_some());
    let mut heading =
        vec!["CONTAINER", "PARTITION", "OPS/S", "RU/S", "429", "P50 MS", "P95 MS", "P99 MS", "ITEMS", "SIZE"];
    if !is_partitions {
        heading.remove(1);
    }
    let rows = rows.into_iter().take(ROWS).map(|(_, cells)| cells);
    Table::new(&heading).numbers(heading.len() - 8..heading.len()).rows(rows)
}

fn asked(now: &[Asked], before: Option<&[Asked]>, seconds: f64) -> Table {
    let name = |it: &Asked| (it.database.clone(), it.container.clone(), it.text.clone());
    let earlier: HashMap<_, &Asked> = before.unwrap_or_default().iter().map(|it| (name(it), it)).collect();
    let mut rows: Vec<(f64, Vec<String>)> = Vec::new();
    for it in now {
        let was = earlier.get(&name(it));
        let queries = since(it.queries, was.map(|was| was.queries));
        let units = (it.request_units - was.map_or(0.0, |was| was.request_units)).max(0.0);
        let each = if queries == 0 { 0.0 } else { units / queries as f64 };
        let cells = vec![
            format!("{:.1}", queries as f64 / seconds),
            format!("{:.1}", units / seconds),
            format!("{each:.2}"),
            format!("{} / {}", it.database, it.container),
            it.text.clone(),
        ];
        rows.push((units, cells));
    }
    rows.sort_by(|a, b| b.0.total_cmp(&a.0));
    let rows = rows.into_iter().take(ROWS).map(|(_, cells)| cells);
    Table::new(&["QUERIES/S", "RU/S", "RU EACH", "CONTAINER", "QUERY"]).numbers(0..3).rows(rows)
}

/// A place that was given to another begins anew.
pub fn since(now: u64, before: Option<u64>) -> u64 {
    before.filter(|before| *before <= now).map_or(now, |before| now - before)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(now_ms: u64, requests: u64, request_units: f64) -> Top {
        let of = |partition: Option<&str>| Busy {
            database: "d".into(),
            container: "c".into(),
            partition: partition.map(str::to_owned),
            requests,
            request_units,
            p95_ms: 1.25,
            bytes: Some(1_500),
            ..Busy::default()
        };
        let query = Asked {
            database: "d".into(),
            container: "c".into(),
            text: "SELECT * FROM c".into(),
            queries: requests,
            rows: 0,
            request_units,
        };
        Top {
            since_ms: 0,
            now_ms,
            containers: vec![of(None)],
            partitions: vec![of(Some("[\"p\"]"))],
            queries: vec![query],
            ..Top::default()
        }
    }

    fn words(text: &str, containing: &str) -> Vec<String> {
        let line = text.lines().find(|line| line.contains(containing)).expect(containing);
        line.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn rates_are_of_the_time_between_two_looks() {
        let text = drawn(&at(12_000, 300, 500.0), Some(&at(10_000, 100, 100.0)), &Screen::PIPE);
        assert!(text.starts_with("orrery top: in the last 2.0 s\n"), "{text}");
        assert_eq!(
            words(&text, "d / c  ")[3..],
            ["100.0", "200.0", "0", "0.00", "1.25", "0.00", "-", "1.5", "kB"]
        );
        assert_eq!(words(&text, "[\"p\"]")[3..6], ["[\"p\"]", "100.0", "200.0"]);
        assert_eq!(words(&text, "SELECT")[..3], ["100.0", "200.0", "2.00"]);
    }

    #[test]
    fn the_first_look_is_of_all_the_time_since_the_start() {
        let text = drawn(&at(10_000, 100, 50.0), None, &Screen::PIPE);
        assert!(text.starts_with("orrery top: since the start, 10 s ago\n"), "{text}");
        assert_eq!(words(&text, "SELECT")[..3], ["10.0", "5.0", "0.50"]);
        assert_eq!(since(5, Some(9)), 5, "somebody else had the place");
    }
}
