//! The busiest partitions of a table, in bounded memory.
//!
//! There is room for so many counters. A partition that has none takes over the smallest, and its count: so no count is
//! too small, and none is too large by more than the smallest is ("space saving", Metwally, Agrawal and El Abbadi,
//! 2005). Whatever gets more than one request in as many as there are counters is among them.

use crate::limits;
use std::collections::HashMap;

#[derive(Clone, Debug, Default)]
pub(super) struct HotPartitions {
    counters: HashMap<String, Counter>,
    total: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Counter {
    count: u64,
    /// How much of the count may be another's.
    inherited: u64,
}

impl HotPartitions {
    pub fn add(&mut self, partition_key: &str) {
        self.total += 1;
        if let Some(counter) = self.counters.get_mut(partition_key) {
            counter.count += 1;
            return;
        }
        let is_full = self.counters.len() >= limits::USAGE_PARTITIONS_MAX;
        let inherited = if is_full { self.remove_smallest() } else { 0 };
        self.counters.insert(partition_key.to_owned(), Counter { count: inherited + 1, inherited });
    }

    /// All requests, whichever partition they were for.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// What each partition got at least, the most first.
    pub fn counts(&self) -> Vec<(String, u64)> {
        let certain = |counter: &Counter| counter.count - counter.inherited;
        let mut counts: Vec<_> = self
            .counters
            .iter()
            .map(|(partition_key, counter)| (partition_key.clone(), certain(counter)))
            .collect();
        counts.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        counts
    }

    fn remove_smallest(&mut self) -> u64 {
        let smallest = self.counters.iter().min_by_key(|(_, counter)| counter.count);
        let smallest = smallest.map(|(partition_key, _)| partition_key.clone());
        smallest.and_then(|key| self.counters.remove(&key)).map_or(0, |counter| counter.count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_is_asked_often_is_there_and_no_count_is_too_large(
            asked in prop::collection::vec(prop_oneof![1 => 0u16..4, 2 => 0u16..500], 0..2_000),
        ) {
            let (mut hot, mut exact) = (HotPartitions::default(), HashMap::new());
            for partition in asked {
                hot.add(&partition.to_string());
                *exact.entry(partition.to_string()).or_insert(0u64) += 1;
            }
            let total: u64 = exact.values().sum();
            prop_assert_eq!(hot.total(), total);
            let counts: HashMap<String, u64> = hot.counts().into_iter().collect();
            prop_assert!(counts.len() <= limits::USAGE_PARTITIONS_MAX);
            for (partition_key, count) in &counts {
                prop_assert!(*count <= exact[partition_key]);
            }
            for (partition_key, count) in &exact {
                let is_often = *count > total / limits::USAGE_PARTITIONS_MAX as u64;
                prop_assert!(!is_often || counts.contains_key(partition_key), "{count} of {total}");
            }
        }
    }
}
