//! Records how each container is used since the server started, as the basis for advice.
//!
//! ```text
//! item request ── one of sixteen ──> busiest partitions ─┐
//! large write ─────────────────────> largest items ──────┤
//! page of a query ──> shapes, paths, missing composites ─┴─ of a container ─> report
//! ```
//!
//! Usage is kept in memory and lost with the process. Everything is bounded: a new entry evicts the least recently
//! used one, and an incomplete set says so. A request for one item increments a counter; only one in sixteen of them,
//! a page of a query, and a write of a large item take a lock, which requests to other containers rarely share.

mod gather;
mod largest;
mod paths;
mod query_paths;
mod shape;
mod shapes;

pub use orrery_protocol::report;
pub(crate) use query_paths::paths_of;

use crate::limits;
use largest::{Large, Largest};
use orrery_core::{HeavyHitters, Timestamp};
use orrery_documents::catalog::Catalog;
use orrery_documents::charge::Charge;
use orrery_query::TextCache;
use orrery_query::access::Path;
use paths::Paths;
use shape::Shape;
use shapes::{ShapeUsage, Shapes};
use std::collections::{HashMap, HashSet};
use std::convert::Infallible;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Containers share a lock when their numbers are equal modulo this.
const SHARDS: usize = 16;
/// One in this many requests for an item is sampled, and counts as that many.
const SAMPLED: u64 = 16;

pub struct Usage {
    started: Timestamp,
    /// Requests for an item so far.
    requests: AtomicU64,
    shapes: TextCache<Shape>,
    shards: [Mutex<Shard>; SHARDS],
}

#[derive(Default)]
struct Shard {
    containers: HashMap<u32, Known>,
    /// A logical clock of recordings; the least recently used container has the smallest value.
    now: u64,
}

#[derive(Default)]
struct Known {
    usage: ContainerUsage,
    last: u64,
}

/// The usage of one container.
#[derive(Clone, Debug, Default)]
pub(crate) struct ContainerUsage {
    pub queries: u64,
    pub shapes: Shapes,
    pub paths: Paths,
    pub busiest: HeavyHitters<Vec<u8>, { limits::USAGE_PARTITIONS_MAX }>,
    pub largest: Largest,
}

/// An answered page of a query.
pub(crate) struct Queried<'a> {
    pub text: &'a str,
    /// Whether it is the query's first page.
    pub is_first: bool,
    pub reach: Reach<'a>,
    pub rows: u64,
    pub charge: Charge,
    /// The paths of its filter, its order and its groups.
    pub paths: &'a [Path],
    /// Composite indexes that would have helped: their paths, and whether each descends.
    pub missing: &'a [Vec<(Path, bool)>],
}

/// The partitions that a query read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reach<'a> {
    /// One partition, by its effective partition key.
    Partition(&'a [u8]),
    /// Those named by its filter or by a prefix of a hierarchical key.
    Some,
    All,
}

impl Usage {
    pub fn new(started: Timestamp) -> Self {
        Self {
            started,
            requests: AtomicU64::new(0),
            shapes: TextCache::default(),
            shards: Default::default(),
        }
    }

    /// Records a request for one item of a partition.
    pub(crate) fn touched(&self, container: u32, epk: &[u8]) {
        let request = self.requests.fetch_add(1, Ordering::Relaxed);
        if is_sampled(request) {
            self.with(container, |usage| usage.busiest.add(epk, SAMPLED));
        }
    }

    /// Records a write of one item, with its new size.
    pub(crate) fn wrote(&self, container: u32, epk: &[u8], id: &str, bytes: usize) {
        self.touched(container, epk);
        if bytes >= limits::ITEM_LARGE_BYTES {
            let item = Large { epk: epk.to_vec(), id: id.to_owned(), bytes };
            self.with(container, |usage| usage.largest.add(item));
        }
    }

    /// Records a page of a query.
    pub(crate) fn queried(&self, container: u32, page: &Queried<'_>) {
        let made = || Ok::<_, Infallible>(Arc::new(Shape::of(page.text)));
        let Ok(shape) = self.shapes.get_or_make(page.text, made);
        self.with(container, |usage| {
            usage.queries += u64::from(page.is_first);
            usage.paths.add(page.paths);
            usage.shapes.add(&shape, page);
            if let Reach::Partition(epk) = page.reach {
                usage.busiest.add(epk, 1);
            }
        });
    }

    /// Removes dropped containers.
    pub(crate) fn forget_dropped(&self, catalog: &Catalog) {
        let alive: HashSet<u32> = catalog.all_containers().map(|container| container.number()).collect();
        for shard in &self.shards {
            lock(shard).containers.retain(|number, _| alive.contains(number));
        }
    }

    /// The queries with the highest total charge, of all containers.
    fn most_expensive(&self, max: usize) -> Vec<(u32, ShapeUsage)> {
        let mut found: Vec<(u32, ShapeUsage)> = Vec::new();
        for shard in &self.shards {
            for (number, known) in &lock(shard).containers {
                found.extend(
                    known.usage.shapes.all().into_iter().take(max).map(|shape| (*number, shape.clone())),
                );
            }
        }
        found.sort_by(|a, b| b.1.charge.cmp(&a.1.charge).then_with(|| a.1.text.cmp(&b.1.text)));
        found.truncate(max);
        found
    }

    fn of(&self, container: u32) -> ContainerUsage {
        let shard = self.shard(container);
        shard.containers.get(&container).map(|known| known.usage.clone()).unwrap_or_default()
    }

    fn with(&self, container: u32, note: impl FnOnce(&mut ContainerUsage)) {
        let mut shard = self.shard(container);
        shard.now += 1;
        let now = shard.now;
        if shard.containers.len() >= limits::USAGE_CONTAINERS_MAX / SHARDS
            && !shard.containers.contains_key(&container)
        {
            shard.forget_least_recent();
        }
        let known = shard.containers.entry(container).or_default();
        known.last = now;
        note(&mut known.usage);
    }

    fn shard(&self, container: u32) -> MutexGuard<'_, Shard> {
        lock(&self.shards[container as usize % SHARDS])
    }
}

/// The state is consistent after every step, so a panicked thread leaves nothing half done.
fn lock(shard: &Mutex<Shard>) -> MutexGuard<'_, Shard> {
    shard.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Shard {
    fn forget_least_recent(&mut self) {
        let least = self.containers.iter().min_by_key(|(_, known)| known.last).map(|(number, _)| *number);
        least.and_then(|number| self.containers.remove(&number));
    }
}

/// By a hash of the request's number, so that a regular alternation of requests is not sampled regularly.
fn is_sampled(request: u64) -> bool {
    let mixed = (request ^ (request >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (mixed ^ (mixed >> 31)).is_multiple_of(SAMPLED)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usage() -> Usage {
        Usage::new(Timestamp::from_seconds(1))
    }

    fn query(usage: &Usage, container: u32, reach: Reach<'_>) {
        let (paths, missing) = (&[][..], &[][..]);
        let charge = Charge::metadata();
        let text = "SELECT * FROM c";
        usage.queried(container, &Queried { text, is_first: true, reach, rows: 1, charge, paths, missing });
    }

    #[test]
    fn containers_are_told_apart_and_a_dropped_one_is_forgotten() {
        let usage = usage();
        query(&usage, 1, Reach::All);
        query(&usage, 1, Reach::All);
        query(&usage, 1 + SHARDS as u32, Reach::All);
        assert_eq!((usage.of(1).queries, usage.of(17).queries, usage.of(2).queries), (2, 1, 0));
        usage.forget_dropped(&Catalog::default());
        assert_eq!((usage.of(1).queries, usage.of(17).queries), (0, 0));
    }

    #[test]
    fn of_too_many_containers_the_least_recent_is_forgotten() {
        let usage = usage();
        let each = limits::USAGE_CONTAINERS_MAX / SHARDS;
        let numbers: Vec<u32> = (0..=each as u32).map(|at| at * SHARDS as u32).collect();
        numbers[..each].iter().for_each(|number| query(&usage, *number, Reach::All));
        query(&usage, numbers[0], Reach::All);
        query(&usage, numbers[each], Reach::All);
        let known = numbers.iter().map(|number| usage.of(*number).queries).collect::<Vec<_>>();
        assert_eq!(known[..2], [2, 0], "the second was used longest ago");
        assert!(known[2..].iter().all(|queries| *queries == 1), "{known:?}");
    }

    #[test]
    fn a_sixteenth_of_the_requests_stands_for_all() {
        let usage = usage();
        for at in 0..16_000u32 {
            usage.touched(7, if at % 4 == 0 { b"hot" } else { b"cold" });
        }
        let busiest = usage.of(7).busiest;
        assert!((15_000..17_000).contains(&busiest.total()), "{}", busiest.total());
        let hot = busiest.counts().into_iter().find(|(epk, _)| epk == b"hot").map(|(_, count)| count);
        assert!(hot.is_some_and(|count| (3_400..4_600).contains(&count)), "{hot:?}");
    }

    #[test]
    fn only_large_writes_are_remembered_as_such() {
        let usage = usage();
        usage.wrote(1, b"p", "small", limits::ITEM_LARGE_BYTES - 1);
        usage.wrote(1, b"p", "large", limits::ITEM_LARGE_BYTES);
        let ids: Vec<String> = usage.of(1).largest.items().iter().map(|item| item.id.clone()).collect();
        assert_eq!(ids, ["large"]);
    }

    #[test]
    fn a_query_of_one_partition_counts_for_it() {
        let usage = usage();
        query(&usage, 1, Reach::Partition(b"p"));
        query(&usage, 1, Reach::Some);
        assert_eq!(usage.of(1).busiest.counts(), [(b"p".to_vec(), 1)]);
    }
}
