//! Findings in tables and queues for people and for programs: the same sentences and numbers.

use super::Advised;
use super::finding::{Finding, HotPartition};
use crate::advise::print::numbers::{bytes, count, count_of, duration, grouped, percent};
use crate::terminal::plain;
use orrery_protocol::storage_report::{QueueReport, StorageReport, TableReport, TableScan};
use serde_json::{Value, json};

/// One sentence: what is so, and what to do.
fn sentence(finding: &Finding) -> String {
    match finding {
        Finding::TableScan(scan, _) => format!(
            "Table scan: {} without a PartitionKey read {} for {} returned each. Name the PartitionKey in the \
             filter, or insert what they look for once more under a PartitionKey that is made of it.",
            count_of(scan.queries, "query", "queries"),
            entities(mean(scan.entities_read, scan)),
            mean(scan.entities_returned, scan),
        ),
        Finding::PartitionScan(scan) => format!(
            "Partition scan: {} in one partition read {} for {} returned each. Name a RowKey or a range of them, \
             or begin RowKeys with what they look for.",
            count_of(scan.queries, "query", "queries"),
            entities(mean(scan.entities_read, scan)),
            mean(scan.entities_returned, scan),
        ),
        Finding::HotPartition(found) => hot_partition(found),
        Finding::EmptyGets { empty, gets } => format!(
            "Empty gets: {} of {} found nothing. Wait longer after each that does, up to a minute.",
            percent(*empty, *gets),
            count(*gets, "get"),
        ),
        Finding::LateDeletes { again, got } => format!(
            "Late deletes: {} of {} had been got before. Ask for a longer visibility timeout, or extend it with \
             an update while the work goes on.",
            percent(*again, *got),
            count(*got, "message"),
        ),
        Finding::RepeatedMessages(found) => {
            let most = found.iter().map(|message| message.gets).max().unwrap_or_default();
            format!(
                "Repeated messages: {} got {} times or fewer, and still there. Look at them with orrery queue \
                 peek, and let consumers move a message to a queue of its own after five gets.",
                count(found.len() as u64, "message"),
                grouped(u64::from(most)),
            )
        }
        Finding::WaitingMessages { seconds, messages, gets } => format!(
            "Waiting messages: the first of {} has waited for {}, {}. Look whether the consumers run, or add some.",
            grouped(*messages),
            duration(*seconds),
            match gets {
                0 => "and nobody has asked for one since the server started".to_owned(),
                gets => format!("after {}", count(*gets, "get")),
            },
        ),
    }
}

fn hot_partition(found: &HotPartition) -> String {
    let at_least = if found.is_all { "" } else { "at least " };
    format!(
        "Hot partition: '{}' gets {} of the requests, one of {at_least}{}. Its writes wait for each other: divide \
         it by a PartitionKey that says more, such as a date or a hash at its end.",
        found.partition_key,
        percent(found.requests, found.whole),
        count(found.partitions, "partition"),
    )
}

fn entities(mean: String) -> String {
    if mean == "1.0" { "1 entity".to_owned() } else { format!("{mean} entities") }
}

fn mean(sum: u64, scan: &TableScan) -> String {
    let mean = sum as f64 / scan.queries.max(1) as f64;
    if mean < 10.0 { format!("{mean:.1}") } else { grouped(mean.round() as u64) }
}

/// What the sentence rests on.
fn lines(finding: &Finding) -> Vec<String> {
    match finding {
        Finding::TableScan(scan, _) | Finding::PartitionScan(scan) => {
            vec![scan.filter.clone().unwrap_or_else(|| "(no filter)".to_owned())]
        }
        Finding::RepeatedMessages(found) => {
            found.iter().map(|message| format!("{}  {} gets", message.id, message.gets)).collect()
        }
        Finding::HotPartition(_)
        | Finding::EmptyGets { .. }
        | Finding::LateDeletes { .. }
        | Finding::WaitingMessages { .. } => Vec::new(),
    }
}

fn evidence(finding: &Finding) -> Value {
    match finding {
        Finding::TableScan(scan, _) | Finding::PartitionScan(scan) => json!(scan),
        Finding::HotPartition(found) => json!({
            "partition_key": found.partition_key, "partitions": found.partitions,
            "requests": {"part": found.requests, "whole": found.whole},
        }),
        Finding::EmptyGets { empty, gets } => json!({"empty_gets": empty, "gets": gets}),
        Finding::LateDeletes { again, got } => {
            json!({"messages_got_again": again, "messages_got": got})
        }
        Finding::RepeatedMessages(found) => json!({ "messages": found }),
        Finding::WaitingMessages { seconds, messages, gets } => {
            json!({"waiting_seconds": seconds, "messages": messages, "gets": gets})
        }
    }
}

/// A filter with a partition that there is, for a query to begin with.
fn paste(finding: &Finding) -> Option<Value> {
    let Finding::TableScan(scan, Some(partition)) = finding else { return None };
    let partition = format!("PartitionKey eq '{}'", partition.replace('\'', "''"));
    let filter = match &scan.filter {
        Some(filter) => format!("{partition} and ({filter})"),
        None => partition,
    };
    Some(json!({ "$filter": filter }))
}

/// For programs: the members `tables` and `queues`.
pub fn json(advised: &[Advised]) -> (Value, Value) {
    let tables = advised.iter().flat_map(|advised| {
        advised.tables().map(|(table, found)| {
            let TableReport { account, table, entities, bytes, requests, .. } = table;
            let shown = json!({"account": account, "table": table, "entities": entities, "bytes": bytes,
                "requests": requests});
            with_findings(shown, &advised.report, found)
        })
    });
    let queues = advised.iter().flat_map(|advised| {
        advised.queues().map(|(queue, found)| {
            let QueueReport { account, queue, messages, bytes, puts, gets, .. } = queue;
            let shown = json!({"account": account, "queue": queue, "messages": messages, "bytes": bytes,
                "puts": puts, "gets": gets});
            with_findings(shown, &advised.report, found)
        })
    });
    (tables.collect(), queues.collect())
}

fn with_findings(mut shown: Value, report: &StorageReport, found: &[Finding]) -> Value {
    shown["since_ms"] = json!(report.since_ms);
    shown["now_ms"] = json!(report.now_ms);
    let findings = found.iter().map(|finding| {
        json!({
            "kind": finding.kind(), "finding": sentence(finding), "evidence": evidence(finding),
            "paste": paste(finding),
        })
    });
    shown["findings"] = findings.collect();
    shown
}

/// For people: a paragraph each, and a last one if there are more than were told of.
pub fn text(advised: &[Advised]) -> Vec<String> {
    let mut told = Vec::new();
    for advised in advised {
        let seconds = advised.report.now_ms.saturating_sub(advised.report.since_ms) / 1000;
        let tables = advised.tables().map(|(table, found)| paragraph(&of_table(table, seconds), found));
        let queues = advised.queues().map(|(queue, found)| paragraph(&of_queue(queue, seconds), found));
        told.extend(tables.chain(queues));
        if !advised.report.is_whole {
            told.push("There are more, with fewer requests; name one to be told of it.\n".to_owned());
        }
    }
    told
}

fn of_table(table: &TableReport, seconds: u64) -> String {
    format!(
        "{} / table {}: {}, {}; {} in {}",
        table.account,
        table.table,
        count_of(table.entities, "entity", "entities"),
        bytes(table.bytes),
        count(table.requests, "request"),
        duration(seconds),
    )
}

fn of_queue(queue: &QueueReport, seconds: u64) -> String {
    format!(
        "{} / queue {}: {}, {}; {} and {} in {}",
        queue.account,
        queue.queue,
        count(queue.messages, "message"),
        bytes(queue.bytes),
        count(queue.puts, "put"),
        count(queue.gets, "get"),
        duration(seconds),
    )
}

fn paragraph(headline: &str, found: &[Finding]) -> String {
    let mut text = format!("{headline}\n");
    if found.is_empty() {
        text += "  Nothing to advise.\n";
    }
    for finding in found {
        text += &format!("\n  {}\n", plain(&sentence(finding)));
        lines(finding).iter().for_each(|line| text += &format!("    {}\n", plain(line)));
        if let Some(paste) = paste(finding) {
            text += &format!("    Paste: {paste}\n");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use orrery_protocol::storage_report::{BusyTablePartition, RepeatedMessage};

    fn report() -> StorageReport {
        let scan = TableScan {
            filter: Some("Status eq ?".into()),
            is_in_one_partition: false,
            queries: 120,
            entities_read: 120 * 4_300,
            entities_returned: 360,
        };
        let table = TableReport {
            account: "a".into(),
            table: "Runs".into(),
            entities: 4_300,
            bytes: 96 * 1024,
            requests: 700,
            busiest: vec![BusyTablePartition { partition_key: "it's".into(), requests: 1 }],
            scans: vec![scan],
            ..TableReport::default()
        };
        let queue = QueueReport {
            account: "a".into(),
            queue: "turns".into(),
            messages: 1,
            gets: 7,
            repeated: vec![RepeatedMessage { id: "m\u{1b}1".into(), gets: 7 }],
            ..QueueReport::default()
        };
        StorageReport {
            now_ms: 7_200_000,
            tables: vec![table],
            queues: vec![queue],
            is_whole: true,
            ..StorageReport::default()
        }
    }

    #[test]
    fn a_scan_is_told_with_its_filter_and_one_to_paste() {
        let told = text(&[Advised::of(report())]);
        let expected = "a / table Runs: 4,300 entities, 96 KB; 700 requests in 2 hours\n\
            \n  Table scan: 120 queries without a PartitionKey read 4,300 entities for 3.0 returned each. \
            Name the PartitionKey in the filter, or insert what they look for once more under a PartitionKey \
            that is made of it.\n    Status eq ?\n    \
            Paste: {\"$filter\":\"PartitionKey eq 'it''s' and (Status eq ?)\"}\n";
        assert_eq!(told[0], expected);
    }

    #[test]
    fn repeated_messages_are_told_by_their_ids_in_one_line_each() {
        let told = text(&[Advised::of(report())]);
        assert!(told[1].starts_with("a / queue turns: 1 message, 0 bytes; 0 puts and 7 gets in 2 hours\n"));
        assert!(told[1].contains("1 message got 7 times or fewer"), "{}", told[1]);
        assert!(told[1].ends_with("\n    m 1  7 gets\n"), "{}", told[1]);
    }

    #[test]
    fn programs_get_the_same_with_the_numbers() {
        let (tables, queues) = json(&[Advised::of(report())]);
        let scan = &tables[0]["findings"][0];
        assert_eq!((&tables[0]["table"], &scan["kind"]), (&json!("Runs"), &json!("table-scan")));
        assert_eq!(scan["evidence"]["filter"], "Status eq ?");
        assert_eq!(queues[0]["findings"][0]["evidence"]["messages"][0]["gets"], 7);
    }

    #[test]
    fn that_not_all_are_told_is_said() {
        let told = text(&[Advised::of(StorageReport { is_whole: false, ..StorageReport::default() })]);
        assert_eq!(told, ["There are more, with fewer requests; name one to be told of it.\n"]);
    }
}
