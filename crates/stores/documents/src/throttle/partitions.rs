//! Limits single logical partitions where a physical partition may spend more than one of them.
//!
//! A full bucket is equivalent to none, so full ones are evicted when there are too many. If none is full,
//! further partitions are not counted: the bucket of their range still limits them.

use super::bucket::{Bucket, Micros, Priority, Rate};
use crate::limits;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::{Mutex, MutexGuard, PoisonError};

const SHARDS: usize = 16;
const SEARCH_EVERY_MILLIS: u64 = 100;
const EACH_MAX: usize = limits::PARTITIONS_METERED_MAX / SHARDS;

/// A logical partition, as a hash of its container's number and its key. Partitions with equal hashes share their
/// units.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Partition(u64);

impl Partition {
    pub fn of(container: u32, epk: &[u8]) -> Self {
        let mut hasher = DefaultHasher::new();
        (container, epk).hash(&mut hasher);
        Self(hasher.finish())
    }
}

pub struct Partitions {
    rate: Rate,
    shards: [Mutex<Shard>; SHARDS],
}

#[derive(Default)]
struct Shard {
    buckets: HashMap<Partition, Bucket>,
    /// The time of the last eviction of full buckets.
    searched_millis: u64,
}

impl Partitions {
    /// The units per second of each partition.
    pub fn new(units_max: u64) -> Self {
        Self { rate: Rate::steady(units_max, 1), shards: Default::default() }
    }

    pub fn units_max(&self) -> u64 {
        self.rate.units()
    }

    pub fn wait_millis(&self, partition: Partition, priority: Priority, now_millis: u64) -> u64 {
        let mut shard = self.shard(partition);
        shard.buckets.get_mut(&partition).map_or(0, |bucket| bucket.wait_millis(priority, now_millis))
    }

    pub fn take(&self, partition: Partition, charge: Micros, now_millis: u64) {
        let mut shard = self.shard(partition);
        if shard.has_room_for(partition, now_millis) {
            let bucket = shard.buckets.entry(partition);
            bucket.or_insert_with(|| Bucket::new(self.rate, now_millis)).take(charge, now_millis);
        }
    }

    fn shard(&self, partition: Partition) -> MutexGuard<'_, Shard> {
        self.shards[partition.0 as usize % SHARDS].lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Shard {
    /// An eviction scans all buckets, so it is done at intervals rather than with every request.
    fn has_room_for(&mut self, partition: Partition, now_millis: u64) -> bool {
        if self.buckets.len() < EACH_MAX || self.buckets.contains_key(&partition) {
            return true;
        }
        if now_millis < self.searched_millis + SEARCH_EVERY_MILLIS {
            return false;
        }
        self.searched_millis = now_millis;
        self.buckets.retain(|_, bucket| !bucket.is_full(now_millis));
        self.buckets.len() < EACH_MAX
    }
}

#[cfg(test)]
mod tests {
    use super::super::bucket::MICROS_PER_UNIT;
    use super::*;

    fn wait(partitions: &Partitions, partition: Partition, now: u64) -> u64 {
        partitions.wait_millis(partition, Priority::High, now)
    }

    #[test]
    fn each_partition_has_its_own() {
        let partitions = Partitions::new(1000);
        let (hot, cold) = (Partition::of(1, b"hot"), Partition::of(1, b"cold"));
        partitions.take(hot, 1000 * MICROS_PER_UNIT, 0);
        assert_eq!((wait(&partitions, hot, 0), wait(&partitions, cold, 0)), (1, 0));
        assert_eq!(wait(&partitions, Partition::of(2, b"hot"), 0), 0, "another container's");
        assert_eq!(wait(&partitions, hot, 1), 0);
    }

    #[test]
    fn there_are_never_too_many_and_idle_ones_make_room() {
        let partitions = Partitions::new(1000);
        let all = |from: u32| (from..).map(|at| Partition::of(1, &at.to_be_bytes()));
        let wanted = limits::PARTITIONS_METERED_MAX * 2;
        all(0).take(wanted).for_each(|it| partitions.take(it, 1500 * MICROS_PER_UNIT, 0));
        let held = || {
            partitions.shards.iter().map(|shard| shard.lock().expect("a shard").buckets.len()).sum::<usize>()
        };
        assert_eq!(held(), limits::PARTITIONS_METERED_MAX);
        let late = Partition::of(9, b"late");
        partitions.take(late, 1500 * MICROS_PER_UNIT, 0);
        assert_eq!(wait(&partitions, late, 0), 0, "there was no room to count it");
        // All buckets are full again, so a new one fits.
        partitions.take(late, 1500 * MICROS_PER_UNIT, 10_000);
        assert_eq!(wait(&partitions, late, 10_000), 501);
        assert!(held() <= limits::PARTITIONS_METERED_MAX);
    }
}
