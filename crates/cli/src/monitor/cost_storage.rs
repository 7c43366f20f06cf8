//! The part of `orrery cost` for tables and queues: transactions, and what they hold.

use super::cost::dollars;
use crate::terminal::{Screen, Table, bytes};
use orrery_protocol::cost::{Bill, StorageCosts, StorageLine};

const HEADING: [&str; 9] =
    ["", "READS", "WRITES", "QUERIES", "DELETES", "STORED", "TRANSACTIONS", "CAPACITY", "TOTAL"];

/// Empty if there are none.
pub fn drawn(bill: &Bill, screen: &Screen) -> String {
    let storage = &bill.storage;
    if storage.lines.is_empty() && storage.dropped.is_empty() {
        return String::new();
    }
    let mut rows: Vec<Vec<String>> = storage.lines.iter().map(row).collect();
    rows.push(sum("total", &storage.total));
    if bill.is_extrapolated && bill.hours_measured > 0 {
        rows.push(sum(&format!("extrapolated to {} hours", bill.hours), &storage.projected));
    }
    let mut text = format!("\nTables and queues:\n\n{}", table(rows).draw(screen));
    if !storage.dropped.is_empty() {
        let dropped = table(storage.dropped.iter().map(row).collect());
        text += &format!("\nDeleted since, and in no sum above:\n\n{}", dropped.draw(screen));
    }
    text
}

fn table(rows: Vec<Vec<String>>) -> Table {
    Table::new(&HEADING).whole(0).numbers(1..HEADING.len()).rows(rows)
}

fn row(line: &StorageLine) -> Vec<String> {
    let mut cells = vec![format!("{} / {} {}", line.account, line.service, line.name)];
    cells.extend([line.reads, line.writes, line.queries, line.deletes].map(|count| count.to_string()));
    cells.push(bytes(Some((line.gigabytes * 1e9) as u64)));
    cells.extend(costs(&line.costs));
    cells
}

fn sum(name: &str, costs_of: &StorageCosts) -> Vec<String> {
    let mut cells = vec![name.to_owned()];
    cells.extend(["", "", "", "", ""].map(str::to_owned));
    cells.extend(costs(costs_of));
    cells
}

fn costs(costs: &StorageCosts) -> [String; 3] {
    [costs.transactions, costs.capacity, costs.sum()].map(dollars)
}

#[cfg(test)]
mod tests {
    use super::*;
    use orrery_protocol::cost::StorageBill;

    fn line(service: &str, name: &str) -> StorageLine {
        StorageLine {
            service: service.into(),
            account: "devstoreaccount1".into(),
            name: name.into(),
            reads: 7,
            gigabytes: 2.5,
            costs: StorageCosts { transactions: 0.25, capacity: 0.5 },
            ..StorageLine::default()
        }
    }

    fn bill(hours_measured: u32) -> Bill {
        let total = StorageCosts { transactions: 0.25, capacity: 0.5 };
        let storage = StorageBill {
            lines: vec![line("table", "Runs")],
            total,
            projected: total.times(2.0),
            dropped: vec![line("queue", "gone")],
        };
        Bill { hours: 720, hours_measured, is_extrapolated: hours_measured < 720, storage, ..Bill::default() }
    }

    #[test]
    fn each_table_and_queue_is_a_line_with_its_sum() {
        let text = drawn(&bill(360), &Screen::PIPE);
        let words = |containing: &str| -> Vec<String> {
            let line = text.lines().find(|line| line.contains(containing)).expect(containing);
            line.split_whitespace().map(str::to_owned).collect()
        };
        let runs = words("table Runs");
        assert_eq!(runs[4..], ["7", "0", "0", "0", "2.5", "GB", "$0.2500", "$0.5000", "$0.7500"]);
        assert_eq!(words("total")[1..], ["$0.2500", "$0.5000", "$0.7500"]);
        assert!(words("extrapolated").ends_with(&["$1.5000".to_owned()]), "{text}");
        let (above, below) = text.split_once("Deleted since, and in no sum above:").expect(&text);
        assert!(!above.contains("gone") && below.contains("queue gone"), "{text}");
    }

    #[test]
    fn without_any_nothing_is_said() {
        assert_eq!(drawn(&Bill::default(), &Screen::PIPE), "");
        assert!(!drawn(&bill(720), &Screen::PIPE).contains("extrapolated"));
    }
}
