//! The most frequent of many keys, in bounded memory.
//!
//! There are `COUNTERS` counters. A key without one takes over the smallest, with its count: so no count is too small,
//! and none is too large by more than the smallest is ("space saving", Metwally, Agrawal and El Abbadi, 2005). Every key
//! with more than one in `COUNTERS` of all requests is among them.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::hash::Hash;

#[derive(Clone, Debug)]
pub struct HeavyHitters<K, const COUNTERS: usize> {
    counters: HashMap<K, Counter>,
    total: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Counter {
    count: u64,
    /// How much of the count may be another key's.
    inherited: u64,
}

impl<K, const COUNTERS: usize> Default for HeavyHitters<K, COUNTERS> {
    fn default() -> Self {
        Self { counters: HashMap::new(), total: 0 }
    }
}

impl<K: Clone + Ord + Hash, const COUNTERS: usize> HeavyHitters<K, COUNTERS> {
    pub fn add<Q>(&mut self, key: &Q, weight: u64)
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ToOwned<Owned = K> + ?Sized,
    {
        self.total += weight;
        if let Some(counter) = self.counters.get_mut(key) {
            counter.count += weight;
            return;
        }
        let inherited = if self.counters.len() < COUNTERS { 0 } else { self.remove_smallest() };
        self.counters.insert(key.to_owned(), Counter { count: inherited + weight, inherited });
    }

    /// The weight of all keys, with or without a counter.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// The least that each key can have had, the most first.
    pub fn counts(&self) -> Vec<(K, u64)> {
        let certain = |counter: &Counter| counter.count - counter.inherited;
        let mut counts: Vec<_> =
            self.counters.iter().map(|(key, counter)| (key.clone(), certain(counter))).collect();
        counts.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        counts
    }

    fn remove_smallest(&mut self) -> u64 {
        let smallest = self.counters.iter().min_by_key(|(_, counter)| counter.count);
        let smallest = smallest.map(|(key, _)| key.clone());
        smallest.and_then(|key| self.counters.remove(&key)).map_or(0, |counter| counter.count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const COUNTERS: usize = 64;

    proptest! {
        #[test]
        fn a_frequent_key_has_a_counter_and_no_count_is_too_large(
            keys in prop::collection::vec(prop_oneof![1 => 0u16..4, 2 => 0u16..500], 0..2_000),
        ) {
            let (mut hitters, mut exact) = (HeavyHitters::<u16, COUNTERS>::default(), HashMap::new());
            for key in keys {
                hitters.add(&key, 1);
                *exact.entry(key).or_insert(0u64) += 1;
            }
            let total: u64 = exact.values().sum();
            prop_assert_eq!(hitters.total(), total);
            let counts: HashMap<u16, u64> = hitters.counts().into_iter().collect();
            prop_assert!(counts.len() <= COUNTERS);
            for (key, count) in &counts {
                prop_assert!(*count <= exact[key]);
            }
            for (key, count) in &exact {
                let is_frequent = *count > total / COUNTERS as u64;
                prop_assert!(!is_frequent || counts.contains_key(key), "{count} of {total}");
            }
        }
    }
}
