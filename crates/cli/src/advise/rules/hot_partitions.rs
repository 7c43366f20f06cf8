//! Logical partitions with far more than their share of data or requests: they fill up first, and their
//! requests are throttled first.

use super::Subject;
use crate::advise::finding::{Finding, HotPartition, Measure, Share};
use serde_json::{Value, json};

/// The minimum share of the whole, and the minimum multiple of the average partition.
const PERCENT_MIN: u64 = 20;
const TIMES_MIN: u64 = 5;
/// With fewer items or requests the sample is too small.
const ITEMS_MIN: u64 = 100;
const REQUESTS_MIN: u64 = 500;

pub fn find(subject: Subject<'_>) -> Vec<Finding> {
    let mut found: Vec<HotPartition> = Vec::new();
    for (key, share) in shares(subject) {
        match found.iter_mut().find(|hot| hot.key == *key) {
            Some(hot) => hot.shares.push(share),
            None => found.push(hot(subject, key, vec![share])),
        }
    }
    for (key, bytes) in nearly_full(subject) {
        if !found.iter().any(|hot| hot.key == *key) {
            let whole = subject.statistics.bytes;
            found.push(hot(subject, key, vec![Share { of: Measure::Bytes, part: bytes, whole }]));
        }
    }
    found.into_iter().map(Finding::HotPartition).collect()
}

/// Conspicuous partitions, by each measure.
fn shares<'a>(subject: Subject<'a>) -> Vec<(&'a Vec<Value>, Share)> {
    let Subject { statistics, usage, .. } = subject;
    let mut all = Vec::new();
    if statistics.items >= ITEMS_MIN {
        for partition in &statistics.largest {
            let share = |of, part, whole| (&partition.key, Share { of, part, whole });
            all.push(share(Measure::Bytes, partition.bytes, statistics.bytes));
            all.push(share(Measure::Items, partition.items, statistics.items));
        }
    }
    if usage.requests >= REQUESTS_MIN {
        for partition in &usage.busiest {
            let share = Share { of: Measure::Requests, part: partition.requests, whole: usage.requests };
            all.push((&partition.key, share));
        }
    }
    all.retain(|(_, share)| is_outsized(share, statistics.partitions));
    all
}

fn is_outsized(share: &Share, partitions: u64) -> bool {
    let Share { part, whole, .. } = *share;
    part.saturating_mul(100) >= whole.saturating_mul(PERCENT_MIN)
        && part.saturating_mul(partitions) >= whole.saturating_mul(TIMES_MIN)
        && part > 0
}

/// Partitions that have reached half of the size limit.
fn nearly_full<'a>(subject: Subject<'a>) -> impl Iterator<Item = (&'a Vec<Value>, u64)> {
    let max = subject.statistics.partition_bytes_max;
    let largest = subject.statistics.largest.iter();
    largest
        .filter(move |partition| partition.bytes >= max / 2)
        .map(|partition| (&partition.key, partition.bytes))
}

fn hot(subject: Subject<'_>, key: &[Value], shares: Vec<Share>) -> HotPartition {
    let max = subject.statistics.partition_bytes_max;
    HotPartition {
        key: key.to_vec(),
        partitions: subject.statistics.partitions,
        shares,
        bytes_max: nearly_full(subject).any(|(full, _)| full == key).then_some(max),
        partition_key: deeper(subject),
    }
}

/// The container's key with one more level, if allowed.
fn deeper(subject: Subject<'_>) -> Option<Value> {
    let paths = subject.definition.partition_key().paths();
    let mut paths: Vec<String> = paths.iter().map(ToString::to_string).collect();
    if paths.len() >= orrery_core::limits::PARTITION_KEY_PATHS_MAX || paths.iter().any(|path| path == "/id") {
        return None;
    }
    paths.push("/id".to_owned());
    Some(json!({"paths": paths, "kind": "MultiHash", "version": 2}))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::advise::rules::sample::Sample;

    /// The keys, each with its excess.
    fn check(sample: Sample, expected: &[(&str, &[Measure])]) {
        let findings = sample.findings();
        let found: Vec<(Value, Vec<Measure>)> = findings
            .iter()
            .filter_map(|finding| match finding {
                Finding::HotPartition(hot) => {
                    Some((json!(hot.key), hot.shares.iter().map(|share| share.of).collect()))
                }
                _ => None,
            })
            .collect();
        let expected: Vec<_> = expected.iter().map(|(key, of)| (json!([key]), of.to_vec())).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn a_partition_with_half_of_everything_is_hot() {
        let sample = || Sample::new().partitions(19, 500);
        check(sample().partition("p", 500, 50_000), &[("p", &[Measure::Bytes, Measure::Items])]);
        check(sample().partition("p", 10, 50_000), &[("p", &[Measure::Bytes])]);
        check(sample().partition("p", 500, 1_000), &[("p", &[Measure::Items])]);
        check(sample().partition("p", 100, 10_000), &[]);
    }

    #[test]
    fn half_is_nothing_special_where_there_are_two() {
        check(Sample::new().partitions(1, 500).partition("p", 500, 50_000), &[]);
        check(Sample::new().partition("p", 500, 50_000), &[]);
    }

    #[test]
    fn a_few_items_or_requests_tell_nothing() {
        check(Sample::new().partitions(19, 10).partition("p", 50, 5_000), &[]);
        check(Sample::new().partitions(20, 10).busy("p", REQUESTS_MIN - 1), &[]);
        check(Sample::new().partitions(20, 10).busy("p", REQUESTS_MIN), &[("p", &[Measure::Requests])]);
        check(Sample::new().partitions(20, 10).busy("p", 1_000).requests(5_000), &[]);
    }

    #[test]
    fn requests_and_bytes_of_one_partition_are_one_finding() {
        let sample = Sample::new().partitions(19, 500).partition("p", 10, 50_000).busy("p", 1_000);
        check(sample, &[("p", &[Measure::Bytes, Measure::Requests])]);
    }

    #[test]
    fn one_that_fills_up_is_told_of_whatever_its_share() {
        let full = orrery_core::limits::PARTITION_BYTES_MAX / 2;
        check(Sample::new().partition("p", 10, full), &[("p", &[Measure::Bytes])]);
        let Finding::HotPartition(hot) = &Sample::new().partition("p", 10, full).findings()[0] else {
            panic!()
        };
        assert_eq!(hot.bytes_max, Some(orrery_core::limits::PARTITION_BYTES_MAX));
    }

    #[test]
    fn a_deeper_key_is_proposed_while_there_is_room() {
        let deeper = |paths: Value, kind: &str| {
            let sample =
                Sample::new().defined("partitionKey", json!({"paths": paths, "kind": kind, "version": 2}));
            let findings = sample.partitions(19, 500).partition("p", 500, 50_000).findings();
            let Finding::HotPartition(hot) = &findings[0] else { panic!("{findings:?}") };
            hot.partition_key.as_ref().map(|key| key["paths"].clone())
        };
        assert_eq!(deeper(json!(["/a"]), "Hash"), Some(json!(["/a", "/id"])));
        assert_eq!(deeper(json!(["/a", "/b", "/d"]), "MultiHash"), None);
        assert_eq!(deeper(json!(["/id"]), "Hash"), None);
    }
}
