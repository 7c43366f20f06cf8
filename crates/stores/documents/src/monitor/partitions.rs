//! What the busiest logical partitions got, in bounded memory.
//!
//! A partition is known by the header that names it, as it was sent: SDKs write one key in one way, and nothing has to be
//! hashed as the store does. Keys that were written differently are added up when they are told.
//!
//! There is room for so many. Those that are known are counted exactly. When there is no room, one in a few requests for
//! an unknown partition takes the place of the one with the fewest requests: so a partition that is asked much soon is
//! known, and what is told of it is what it got since, never too much.

use super::histogram::{BUCKETS, Histogram, bucket};
use crate::limits;
use crate::partition_key;
use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

const SHARDS: usize = 32;
const ROWS_MAX: usize = limits::MONITOR_PARTITIONS_MAX / SHARDS;
/// One in so many requests for an unknown partition gets it a place, when there is no room.
const TAKES_A_PLACE: u64 = 16;
/// What an unknown partition counts for at first, so that it is not the next to go.
const HEAD_START: u64 = TAKES_A_PLACE;

#[derive(Default)]
pub struct Partitions {
    hasher: RandomState,
    shards: [Mutex<Shard>; SHARDS],
}

#[derive(Default)]
struct Shard {
    rows: HashMap<u64, Row>,
    passed_over: u64,
}

struct Row {
    container: u32,
    header: Box<str>,
    /// The requests of whoever had the place before, which say how long this one may keep it.
    inherited: u64,
    requests: u64,
    throttled: u64,
    hundredths: u64,
    nanos: u64,
    buckets: Box<[u32; BUCKETS]>,
}

/// What is known of one partition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartitionTotals {
    pub container: u32,
    /// JSON, as clients send it.
    pub key: String,
    pub requests: u64,
    pub throttled: u64,
    pub hundredths: u64,
    pub latency: Histogram,
}

impl Partitions {
    pub fn add(&self, container: u32, header: &str, status: u16, hundredths: u64, elapsed: Duration) {
        if header.len() > limits::MONITOR_PARTITION_KEY_BYTES_MAX {
            return;
        }
        let hash = self.hasher.hash_one((container, header));
        let mut shard = lock(&self.shards[hash as usize % SHARDS]);
        if !shard.rows.contains_key(&hash) && !shard.admit(hash, container, header) {
            return;
        }
        let row =
            shard.rows.get_mut(&hash).filter(|row| row.container == container && *row.header == *header);
        let Some(row) = row else { return };
        row.requests += 1;
        row.throttled += u64::from(status == 429);
        row.hundredths += hundredths;
        row.nanos += elapsed.as_nanos() as u64;
        row.buckets[bucket(elapsed)] += 1;
    }

    /// Forgets those of containers that are gone.
    pub fn keep(&self, is_alive: impl Fn(u32) -> bool) {
        self.shards.iter().for_each(|shard| lock(shard).rows.retain(|_, row| is_alive(row.container)));
    }

    /// The most request units first.
    pub fn totals(&self) -> Vec<PartitionTotals> {
        let mut found: HashMap<(u32, String), PartitionTotals> = HashMap::new();
        for shard in &self.shards {
            let rows: Vec<PartitionTotals> = lock(shard).rows.values().map(Row::totals).collect();
            // Headers are read when nobody waits; one that names no partition is left out.
            for mut totals in rows {
                let Some(key) = told(&totals.key) else { continue };
                totals.key = key;
                match found.get_mut(&(totals.container, totals.key.clone())) {
                    Some(known) => known.merge(&totals),
                    None => drop(found.insert((totals.container, totals.key.clone()), totals)),
                }
            }
        }
        let mut all: Vec<PartitionTotals> = found.into_values().collect();
        all.sort_by(|a, b| b.hundredths.cmp(&a.hundredths).then_with(|| a.key.cmp(&b.key)));
        all
    }
}

impl Shard {
    /// Whether the partition has a place from now on.
    fn admit(&mut self, hash: u64, container: u32, header: &str) -> bool {
        let is_full = self.rows.len() >= ROWS_MAX;
        if is_full {
            self.passed_over += 1;
            if !self.passed_over.is_multiple_of(TAKES_A_PLACE) {
                return false;
            }
        }
        // Its buckets are used again: nothing is given back while others wait.
        let (inherited, mut buckets) = match is_full.then(|| self.remove_least()).flatten() {
            None => (0, Box::new([0; BUCKETS])),
            Some(least) => (least.weight() + HEAD_START, least.buckets),
        };
        buckets.fill(0);
        let row = Row {
            container,
            header: header.into(),
            inherited,
            requests: 0,
            throttled: 0,
            hundredths: 0,
            nanos: 0,
            buckets,
        };
        self.rows.insert(hash, row);
        true
    }

    fn remove_least(&mut self) -> Option<Row> {
        let least = self.rows.iter().min_by_key(|(_, row)| row.weight()).map(|(hash, _)| *hash);
        least.and_then(|hash| self.rows.remove(&hash))
    }
}

impl Row {
    fn weight(&self) -> u64 {
        self.inherited + self.requests
    }

    /// With the header in the place of the key.
    fn totals(&self) -> PartitionTotals {
        let counts = std::array::from_fn(|at| u64::from(self.buckets[at]));
        PartitionTotals {
            container: self.container,
            key: self.header.to_string(),
            requests: self.requests,
            throttled: self.throttled,
            hundredths: self.hundredths,
            latency: Histogram { counts, nanos: self.nanos },
        }
    }
}

impl PartitionTotals {
    fn merge(&mut self, other: &Self) {
        self.requests += other.requests;
        self.throttled += other.throttled;
        self.hundredths += other.hundredths;
        self.latency.merge(&other.latency);
    }
}

/// The key as it is told; `None` if the header names none.
fn told(header: &str) -> Option<String> {
    let parts = partition_key::parse(header).ok()?;
    let part = |value: &orrery_value::Value| match value {
        orrery_value::Value::Undefined => "{}".to_owned(),
        value => value.to_json(),
    };
    Some(format!("[{}]", parts.iter().map(part).collect::<Vec<_>>().join(",")))
}

/// A row is whole at every step, so a thread that panicked left nothing half done.
fn lock(shard: &Mutex<Shard>) -> MutexGuard<'_, Shard> {
    shard.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn add(partitions: &Partitions, container: u32, header: &str, status: u16) {
        partitions.add(container, header, status, 250, Duration::from_millis(2));
    }

    #[test]
    fn partitions_are_told_apart_and_spellings_of_one_are_not() {
        let partitions = Partitions::default();
        add(&partitions, 1, r#"["sol"]"#, 200);
        add(&partitions, 1, r#"[ "sol" ]"#, 429);
        add(&partitions, 1, r#"["\u0073ol"]"#, 200);
        add(&partitions, 2, r#"["sol"]"#, 200);
        add(&partitions, 1, r#"[{}]"#, 200);
        add(&partitions, 1, "sol", 400);
        add(&partitions, 1, &format!("[\"{}\"]", "x".repeat(limits::MONITOR_PARTITION_KEY_BYTES_MAX)), 200);
        let told: Vec<_> =
            partitions.totals().into_iter().map(|it| (it.container, it.key, it.requests)).collect();
        assert_eq!(told[0], (1, r#"["sol"]"#.to_owned(), 3));
        assert_eq!(told.len(), 3, "{told:?}");
        let sol = &partitions.totals()[0];
        assert_eq!((sol.throttled, sol.hundredths, sol.latency.quantile_millis(0.99)), (1, 750, Some(2.0)));
        partitions.keep(|container| container == 2);
        assert_eq!(partitions.totals().len(), 1);
    }

    proptest! {
        /// S3-22, S3-49: whoever gets a good part of the requests is known, whatever else there is.
        #[test]
        fn a_hot_partition_is_known_among_any_number(noise in 4_000u32..12_000, every in 5u32..20) {
            let partitions = Partitions::default();
            let mut hot = 0;
            for at in 0..noise {
                add(&partitions, 7, &format!("[{at}]"), 200);
                if at % every == 0 {
                    add(&partitions, 7, r#"["hot"]"#, 200);
                    hot += 1;
                }
            }
            let all = partitions.totals();
            prop_assert!(all.len() <= limits::MONITOR_PARTITIONS_MAX);
            prop_assert!(all[0].key == r#"["hot"]"# && all[0].requests <= hot, "{} of {hot}", all[0].requests);
            prop_assert!(all[0].requests * 2 >= hot, "{} of {hot}", all[0].requests);
        }
    }
}
