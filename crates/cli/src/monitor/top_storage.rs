//! Tables and queues in `orrery top`: rates between two looks, or since the start. Without any, there is nothing to draw.

use super::top::{ROWS, since};
use crate::terminal::{Table, bytes};
use orrery_protocol::top::{BusyQueue, BusyTable};
use std::collections::HashMap;
use std::hash::Hash;

const TABLES: [&str; 10] = [
    "TABLE",
    "OPS/S",
    "READS/S",
    "WRITES/S",
    "QUERIES/S",
    "READ/S",
    "RETURNED/S",
    "SCANS",
    "ENTITIES",
    "SIZE",
];
const QUEUES: [&str; 9] =
    ["QUEUE", "PUT/S", "GOT/S", "AGAIN/S", "DELETED/S", "EMPTY/S", "MESSAGES", "OLDEST", "SIZE"];

pub fn tables(now: &[BusyTable], before: Option<&[BusyTable]>, seconds: f64) -> Option<Table> {
    let name = |it: &BusyTable| (it.account.clone(), it.table.clone());
    let rows = rows(now, before, name, |it, was| {
        let since = |value: fn(&BusyTable) -> u64| since(value(it), was.map(value));
        let requests = since(|it| it.requests);
        let rate = |value: fn(&BusyTable) -> u64| rate(since(value), seconds);
        let cells = vec![
            format!("{} / {}", it.account, it.table),
            rate(|it| it.requests),
            rate(|it| it.reads),
            rate(|it| it.writes),
            rate(|it| it.queries),
            rate(|it| it.entities_read),
            rate(|it| it.entities_returned),
            since(|it| it.scans).to_string(),
            it.entities.map_or_else(|| "-".to_owned(), |entities| entities.to_string()),
            bytes(it.bytes),
        ];
        (requests, cells)
    })?;
    Some(Table::new(&TABLES).numbers(1..TABLES.len()).rows(rows))
}

pub fn queues(now: &[BusyQueue], before: Option<&[BusyQueue]>, seconds: f64) -> Option<Table> {
    let name = |it: &BusyQueue| (it.account.clone(), it.queue.clone());
    let rows = rows(now, before, name, |it, was| {
        let since = |value: fn(&BusyQueue) -> u64| since(value(it), was.map(value));
        let rate = |value: fn(&BusyQueue) -> u64| rate(since(value), seconds);
        let cells = vec![
            format!("{} / {}", it.account, it.queue),
            rate(|it| it.puts),
            rate(|it| it.messages_got),
            rate(|it| it.messages_got_again),
            rate(|it| it.deletes),
            rate(|it| it.empty_gets),
            it.messages.map_or_else(|| "-".to_owned(), |messages| messages.to_string()),
            it.waiting_seconds.map_or_else(|| "-".to_owned(), |waits| format!("{waits} s")),
            bytes(it.bytes),
        ];
        (since(|it| it.requests), cells)
    })?;
    Some(Table::new(&QUEUES).numbers(1..QUEUES.len()).rows(rows))
}

/// The rows of those with the most requests; `None` if there is nothing at all.
fn rows<T, K: Hash + Eq>(
    now: &[T],
    before: Option<&[T]>,
    name: impl Fn(&T) -> K,
    row: impl Fn(&T, Option<&T>) -> (u64, Vec<String>),
) -> Option<impl Iterator<Item = Vec<String>>> {
    if now.is_empty() {
        return None;
    }
    let earlier: HashMap<K, &T> = before.unwrap_or_default().iter().map(|it| (name(it), it)).collect();
    let mut rows: Vec<(u64, Vec<String>)> =
        now.iter().map(|it| row(it, earlier.get(&name(it)).copied())).collect();
    rows.sort_by_key(|(requests, _)| std::cmp::Reverse(*requests));
    Some(rows.into_iter().take(ROWS).map(|(_, cells)| cells))
}

fn rate(count: u64, seconds: f64) -> String {
    format!("{:.1}", count as f64 / seconds)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terminal::Screen;

    fn words(table: Option<Table>, containing: &str) -> Vec<String> {
        let text = table.expect("a table").draw(&Screen::PIPE);
        let line = text.lines().find(|line| line.contains(containing)).expect(containing);
        line.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn tables_have_the_rates_between_two_looks() {
        let at = |requests, scans| BusyTable {
            account: "a".into(),
            table: "Runs".into(),
            requests,
            entities_read: 10 * requests,
            scans,
            entities: Some(7),
            ..BusyTable::default()
        };
        let (now, before) = ([at(300, 5)], [at(100, 2)]);
        let shown = words(tables(&now, Some(&before), 2.0), "Runs");
        assert_eq!(shown[3..], ["100.0", "0.0", "0.0", "0.0", "1000.0", "0.0", "3", "7", "-"]);
        assert_eq!(words(tables(&now, None, 10.0), "Runs")[3], "30.0", "since the start");
    }

    #[test]
    fn queues_are_told_by_their_messages_and_the_busiest_are_first() {
        let of = |queue: &str, requests| BusyQueue {
            account: "a".into(),
            queue: queue.into(),
            requests,
            puts: 4,
            messages_got: 6,
            messages_got_again: 2,
            messages: Some(12),
            waiting_seconds: Some(30),
            ..BusyQueue::default()
        };
        let all: Vec<BusyQueue> = (0..12).map(|at| of(&format!("q{at}x"), at)).collect();
        let text = queues(&all, None, 2.0).expect("a table").draw(&Screen::PIPE);
        let names: Vec<&str> =
            text.lines().skip(1).filter_map(|line| line.split_whitespace().nth(2)).collect();
        assert_eq!((names.len(), names[0], names[9]), (ROWS, "q11x", "q2x"));
        let shown = words(queues(&all, None, 2.0), "q11x");
        assert_eq!(shown[3..], ["2.0", "3.0", "1.0", "0.0", "0.0", "12", "30", "s", "-"]);
    }

    #[test]
    fn a_server_without_tables_and_queues_shows_none() {
        assert!(tables(&[], None, 1.0).is_none() && queues(&[], None, 1.0).is_none());
    }
}
