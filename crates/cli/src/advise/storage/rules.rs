//! The rules: from what a table or queue holds and was asked, to what could be better.

use super::finding::{Finding, HotPartition};
use orrery_protocol::storage_report::{QueueReport, TableReport, TableScan};

/// What is asked less often may well be a report that has to see everything.
const QUERIES_MIN: u64 = 10;
/// A scan of fewer entities each is as fast as a lookup.
const SCAN_ENTITIES_MIN: u64 = 100;
/// A query in one partition reads so many entities, and so many times what it returns.
const PARTITION_SCAN_ENTITIES_MIN: u64 = 1_000;
const PARTITION_SCAN_TIMES_MIN: u64 = 20;
const SCANS_SHOWN_MAX: usize = 5;
/// From so much of the whole on, and so many times what a partition gets on average; with fewer requests, chance has too
/// large a part in it.
const HOT_PERCENT_MIN: u64 = 20;
const HOT_TIMES_MIN: u64 = 5;
const HOT_REQUESTS_MIN: u64 = 500;
/// Gets that found nothing.
const EMPTY_PERCENT_MIN: u64 = 90;
const EMPTY_GETS_MIN: u64 = 1_000;
/// Messages that were got before.
const AGAIN_PERCENT_MIN: u64 = 10;
const AGAIN_MESSAGES_MIN: u64 = 100;
const WAITING_SECONDS_MIN: u64 = 10 * 60;

pub fn of_table(report: &TableReport) -> Vec<Finding> {
    let mut found = Vec::new();
    let partition = report.busiest.first().map(|busy| busy.partition_key.clone());
    let scans = report.scans.iter().filter(|scan| is_table_scan(scan)).take(SCANS_SHOWN_MAX);
    found.extend(scans.map(|scan| Finding::TableScan(scan.clone(), partition.clone())));
    let scans = report.scans.iter().filter(|scan| is_partition_scan(scan)).take(SCANS_SHOWN_MAX);
    found.extend(scans.map(|scan| Finding::PartitionScan(scan.clone())));
    found.extend(hot_partitions(report).map(Finding::HotPartition));
    found
}

fn is_table_scan(scan: &TableScan) -> bool {
    !scan.is_in_one_partition
        && scan.queries >= QUERIES_MIN
        && scan.entities_read >= scan.queries * SCAN_ENTITIES_MIN
}

fn is_partition_scan(scan: &TableScan) -> bool {
    scan.is_in_one_partition
        && scan.queries >= QUERIES_MIN
        && scan.entities_read >= scan.queries * PARTITION_SCAN_ENTITIES_MIN
        && scan.entities_read >= scan.entities_returned * PARTITION_SCAN_TIMES_MIN
}

fn hot_partitions(report: &TableReport) -> impl Iterator<Item = HotPartition> {
    let (whole, partitions) = (report.partition_requests, report.busiest.len() as u64);
    let is_hot = move |requests: u64| {
        whole >= HOT_REQUESTS_MIN
            && is_percent(requests, whole, HOT_PERCENT_MIN)
            && requests.saturating_mul(partitions) >= whole.saturating_mul(HOT_TIMES_MIN)
    };
    let hot = report.busiest.iter().filter(move |busy| is_hot(busy.requests));
    hot.map(move |busy| HotPartition {
        partition_key: busy.partition_key.clone(),
        requests: busy.requests,
        whole,
        partitions,
        is_all: report.is_all_partitions,
    })
}

pub fn of_queue(report: &QueueReport) -> Vec<Finding> {
    let &QueueReport { gets, empty_gets: empty, messages_got: got, messages_got_again: again, .. } = report;
    let mut found = Vec::new();
    let waiting = report.waiting_seconds.filter(|seconds| *seconds >= WAITING_SECONDS_MIN);
    found.extend(waiting.map(|seconds| Finding::WaitingMessages {
        seconds,
        messages: report.messages,
        gets,
    }));
    if !report.repeated.is_empty() {
        found.push(Finding::RepeatedMessages(report.repeated.clone()));
    }
    if again >= AGAIN_MESSAGES_MIN && is_percent(again, got, AGAIN_PERCENT_MIN) {
        found.push(Finding::LateDeletes { again, got });
    }
    if gets >= EMPTY_GETS_MIN && is_percent(empty, gets, EMPTY_PERCENT_MIN) {
        found.push(Finding::EmptyGets { empty, gets });
    }
    found
}

/// Whether it is at least so much of the whole.
fn is_percent(part: u64, whole: u64, percent: u64) -> bool {
    part.saturating_mul(100) >= whole.saturating_mul(percent)
}

#[cfg(test)]
mod tests {
    use super::*;
    use orrery_protocol::storage_report::{BusyTablePartition, RepeatedMessage};

    fn kinds(found: &[Finding]) -> Vec<&'static str> {
        found.iter().map(Finding::kind).collect()
    }

    fn scan(is_in_one_partition: bool, queries: u64, read_each: u64, returned_each: u64) -> TableScan {
        TableScan {
            filter: Some("Status eq ?".into()),
            is_in_one_partition,
            queries,
            entities_read: queries * read_each,
            entities_returned: queries * returned_each,
        }
    }

    fn check_scan(scan: TableScan, expected: &[&str]) {
        let report = TableReport { scans: vec![scan.clone()], ..TableReport::default() };
        assert_eq!(kinds(&of_table(&report)), expected, "{scan:?}");
    }

    #[test]
    fn scans_count_when_they_are_many_and_long() {
        check_scan(scan(false, 10, 100, 100), &["table-scan"]);
        check_scan(scan(false, 9, 5_000, 1), &[]);
        check_scan(scan(false, 500, 99, 1), &[]);
        check_scan(scan(true, 10, 1_000, 50), &["partition-scan"]);
        check_scan(scan(true, 10, 1_000, 51), &[]);
        check_scan(scan(true, 10, 999, 1), &[]);
    }

    #[test]
    fn only_the_worst_scans_are_told_with_a_partition_to_name() {
        let busy = BusyTablePartition { partition_key: "p".into(), requests: 1 };
        let report = TableReport {
            scans: vec![scan(false, 10, 100, 1); 8],
            busiest: vec![busy],
            ..Default::default()
        };
        let found = of_table(&report);
        assert_eq!(found.len(), SCANS_SHOWN_MAX);
        assert!(matches!(&found[0], Finding::TableScan(_, Some(partition)) if partition == "p"));
    }

    fn hot(requests: &[u64]) -> Vec<String> {
        let busy = |(at, requests): (usize, &u64)| BusyTablePartition {
            partition_key: format!("p{at}"),
            requests: *requests,
        };
        let report = TableReport {
            partition_requests: requests.iter().sum(),
            busiest: requests.iter().enumerate().map(busy).collect(),
            ..TableReport::default()
        };
        let hot = |finding| match finding {
            Finding::HotPartition(hot) => hot.partition_key,
            other => panic!("{other:?}"),
        };
        of_table(&report).into_iter().map(hot).collect()
    }

    #[test]
    fn a_partition_with_far_more_than_its_share_of_requests_is_hot() {
        let with = |first: u64, each: u64| [&[first][..], &vec![each; 29]].concat();
        assert_eq!(hot(&with(250, 10)), ["p0"]);
        assert_eq!(hot(&with(50, 10)), [""; 0], "a seventh");
        assert_eq!(hot(&with(200, 10)), [""; 0], "fewer than 500 requests in all");
        assert_eq!(hot(&[1_000, 1_000, 1_000]), [""; 0], "a third each is nobody's fault");
    }

    fn check_queue(report: QueueReport, expected: &[&str]) {
        assert_eq!(kinds(&of_queue(&report)), expected, "{report:?}");
    }

    #[test]
    fn queues_that_are_polled_in_vain_or_left_alone_are_told() {
        let report = QueueReport::default;
        check_queue(QueueReport { gets: 1_000, empty_gets: 900, ..report() }, &["empty-gets"]);
        check_queue(QueueReport { gets: 1_000, empty_gets: 899, ..report() }, &[]);
        check_queue(QueueReport { gets: 999, empty_gets: 999, ..report() }, &[]);
        let again = |again| QueueReport { messages_got: 1_000, messages_got_again: again, ..report() };
        check_queue(again(100), &["late-deletes"]);
        check_queue(again(99), &[]);
        let waiting = |seconds| QueueReport { waiting_seconds: Some(seconds), ..report() };
        check_queue(waiting(600), &["waiting-messages"]);
        check_queue(waiting(599), &[]);
        let repeated = vec![RepeatedMessage { id: "m".into(), gets: 5 }];
        check_queue(QueueReport { repeated, ..report() }, &["repeated-messages"]);
    }
}
