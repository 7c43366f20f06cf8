//! The partitions that are asked most, in little memory.
//!
//! There is room for so many counters. A partition that has none takes over the smallest, and its count: so no count is
//! too small, and none is too large by more than the smallest is ("space saving", Metwally, Agrawal and El Abbadi,
//! 2005). Whatever gets more than one request in as many as there are counters is among them.

use crate::limits;
use std::collections::HashMap;

#[derive(Clone, Debug, Default)]
pub struct Busiest {
    counters: HashMap<Vec<u8>, Counter>,
    total: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Counter {
    count: u64,
    /// How much of the count may be another's.
    inherited: u64,
}

impl Busiest {
    pub fn add(&mut self, epk: &[u8], weight: u64) {
        self.total += weight;
        if let Some(counter) = self.counters.get_mut(epk) {
            counter.count += weight;
            return;
        }
        let inherited =
            if self.counters.len() < limits::USAGE_PARTITIONS_MAX { 0 } else { self.remove_smallest() };
        self.counters.insert(epk.to_vec(), Counter { count: inherited + weight, inherited });
    }

    /// All requests, whichever partition they were for.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// What each partition got at least, the most first.
    pub fn counts(&self) -> Vec<(Vec<u8>, u64)> {
        let certain = |counter: &Counter| counter.count - counter.inherited;
        let mut counts: Vec<_> =
            self.counters.iter().map(|(epk, counter)| (epk.clone(), certain(counter))).collect();
        counts.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        counts
    }

    fn remove_smallest(&mut self) -> u64 {
        let smallest = self.counters.iter().min_by_key(|(_, counter)| counter.count);
        let smallest = smallest.map(|(epk, _)| epk.clone());
        smallest.and_then(|epk| self.counters.remove(&epk)).map_or(0, |counter| counter.count)
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
            let (mut busiest, mut exact) = (Busiest::default(), HashMap::new());
            for partition in asked {
                busiest.add(&partition.to_be_bytes(), 1);
                *exact.entry(partition.to_be_bytes().to_vec()).or_insert(0u64) += 1;
            }
            let total: u64 = exact.values().sum();
            prop_assert_eq!(busiest.total(), total);
            let counts: HashMap<Vec<u8>, u64> = busiest.counts().into_iter().collect();
            prop_assert!(counts.len() <= limits::USAGE_PARTITIONS_MAX);
            for (epk, count) in &counts {
                prop_assert!(*count <= exact[epk]);
            }
            for (epk, count) in &exact {
                let is_often = *count > total / limits::USAGE_PARTITIONS_MAX as u64;
                prop_assert!(!is_often || counts.contains_key(epk), "{count} of {total}");
            }
        }
    }
}
