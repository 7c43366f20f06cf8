//! Which items a request is about.

use super::{ITEMS, SIZE, Scene};
use crate::cell::Spread;
use crate::item::{Place, Random};
use std::sync::atomic::{AtomicU64, Ordering};

/// Partitions that items are spread over, as the items' numbers are.
const PARTITIONS: u64 = 4096;

/// The next batch of new items; above all sets.
#[derive(Debug)]
pub struct Batches(AtomicU64);

impl Default for Batches {
    fn default() -> Self {
        let row = 1_000_000_000 / (ITEMS * PARTITIONS) + 1;
        Self(AtomicU64::new(row * PARTITIONS))
    }
}

impl Batches {
    /// The items of one request.
    pub fn places(&self, scene: Scene, random: &mut Random) -> Vec<Place> {
        let place = |number| Place::new(number, Spread::Many);
        match scene {
            Scene::Create => {
                let batch = self.0.fetch_add(1, Ordering::Relaxed);
                let (row, partition) = (batch / PARTITIONS, batch % PARTITIONS);
                (0..ITEMS).map(|n| place((row * ITEMS + n) * PARTITIONS + partition)).collect()
            }
            Scene::Upsert => {
                let first = random.below(SIZE.set_items() - ITEMS);
                (first..first + ITEMS).map(place).collect()
            }
            Scene::Patch => vec![place(random.below(SIZE.set_items()))],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn a_batch_is_of_one_partition_and_its_items_are_new() {
        let (batches, mut random, mut seen) = (Batches::default(), Random::new(1), HashSet::new());
        for _ in 0..3 * PARTITIONS {
            let places = batches.places(Scene::Create, &mut random);
            assert!(places.iter().all(|place| place.partition() == places[0].partition()));
            assert!(
                places.iter().all(|place| place.number() >= SIZE.set_items() && seen.insert(place.number()))
            );
        }
    }

    #[test]
    fn upserts_are_of_items_that_are_there_each_once() {
        let places = Batches::default().places(Scene::Upsert, &mut Random::new(1));
        let numbers: HashSet<u64> = places.iter().map(|place| place.number()).collect();
        assert_eq!(numbers.len() as u64, ITEMS);
        assert!(numbers.iter().all(|number| *number < SIZE.set_items()));
    }
}
