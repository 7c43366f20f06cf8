//! Which buckets a container draws from: the picture of the catalog's throughput that requests look at.
//!
//! ```text
//! own throughput   one bucket a range, each an equal share
//! none of its own  the one bucket of its database, shared with its siblings
//! serverless       one bucket a range, each of 5,000 units a second
//! ```
//!
//! When the catalog changes, a new picture is made of it. Buckets are kept with what is in them, take up their new pace,
//! and are divided when their range is split; those of what was dropped are gone.

use super::bucket::{Bucket, Pace};
use orrery_core::limits;
use orrery_documents::catalog::{Catalog, Container, Database, Offer, OfferTarget};
use orrery_documents::definition::Throughput;
use orrery_documents::ranges::Range;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

pub type Shared = Arc<Mutex<Bucket>>;

/// How throughput becomes a pace.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    pub is_serverless: bool,
    /// Whether unused units are saved for five minutes.
    pub saves: bool,
}

pub struct Allotments {
    /// The catalog that this is the picture of.
    pub catalog: Arc<Catalog>,
    containers: HashMap<u32, Arc<Allotment>>,
    databases: HashMap<u32, Shared>,
}

/// The buckets of one container, in the order of its ranges' keys; a single one if it shares its database's.
pub struct Allotment {
    buckets: Vec<(u32, Shared)>,
    /// Request units a second of one of them.
    pub units_each: u64,
}

impl Allotment {
    /// Those of some ranges, by their places; of a shared bucket that one.
    pub fn buckets(&self, from: usize, to: usize) -> impl ExactSizeIterator<Item = &Shared> {
        let from = from.min(self.buckets.len() - 1);
        let to = to.clamp(from + 1, self.buckets.len());
        self.buckets[from..to].iter().map(|(_, bucket)| bucket)
    }

    fn bucket(&self, range: u32) -> Option<&Shared> {
        self.buckets.iter().find(|(id, _)| *id == range).map(|(_, bucket)| bucket)
    }
}

impl Allotments {
    pub fn none() -> Self {
        Self { catalog: Arc::default(), containers: HashMap::new(), databases: HashMap::new() }
    }

    /// The picture of another catalog.
    pub fn following(&self, catalog: &Arc<Catalog>, rules: Rules, now_millis: u64) -> Self {
        let offers: HashMap<u32, &Offer> = catalog.offers().map(|offer| (offer.rid.0, &**offer)).collect();
        let mut next =
            Self { catalog: catalog.clone(), containers: HashMap::new(), databases: HashMap::new() };
        for database in catalog.databases() {
            let offer = database.offer.and_then(|rid| offers.get(&rid.0)).filter(|_| !rules.is_serverless);
            if let Some(offer) = offer {
                let shared = self.shared(database, rules.pace(&offer.throughput, 1), now_millis);
                next.databases.insert(database.rid.0, shared);
            }
            for container in catalog.containers(database.rid) {
                let own = container.offer().and_then(|rid| offers.get(&rid.0)).map(|offer| offer.throughput);
                let allotment = match (own, next.databases.get(&database.rid.0), offer) {
                    (None, Some(shared), Some(offer)) => {
                        Allotment { buckets: vec![(0, shared.clone())], units_each: offer.throughput.most() }
                    }
                    (own, ..) => self.dedicated(container, own, rules, now_millis),
                };
                next.containers.insert(container.number(), Arc::new(allotment));
            }
        }
        next
    }

    fn shared(&self, database: &Database, pace: Pace, now_millis: u64) -> Shared {
        match self.databases.get(&database.rid.0) {
            Some(known) => {
                lock(known).follow(pace, now_millis);
                known.clone()
            }
            None => Arc::new(Mutex::new(Bucket::new(pace, now_millis))),
        }
    }

    fn dedicated(
        &self,
        container: &Container,
        own: Option<Throughput>,
        rules: Rules,
        now_millis: u64,
    ) -> Allotment {
        let ranges = container.ranges().leaves();
        // Without any throughput, as in a folder that was serverless before, it is the least there is.
        let own = own.unwrap_or(Throughput::Manual(limits::THROUGHPUT_MANUAL_MIN));
        let pace = rules.pace(&own, ranges.len());
        let before = self.containers.get(&container.number());
        let bucket =
            |range: &Range| (range.id, kept(before.map(|it| &**it), range, ranges, pace, now_millis));
        Allotment { buckets: ranges.iter().map(bucket).collect(), units_each: pace.units() }
    }

    pub fn of(&self, container: u32) -> Option<Arc<Allotment>> {
        self.containers.get(&container).cloned()
    }

    /// The request units a second that an offer's owner uses now: those of its busiest range, times its ranges.
    pub fn in_use(&self, offer: &Offer, now_millis: u64) -> u64 {
        let busiest = |shared: &Shared| lock(shared).busiest_units(now_millis);
        match offer.target {
            OfferTarget::Database(rid) => self.databases.get(&rid.0).map_or(0, busiest),
            OfferTarget::Container(rid) => self.containers.get(&rid.number()).map_or(0, |allotment| {
                let buckets = &allotment.buckets;
                buckets.iter().map(|(_, bucket)| busiest(bucket)).max().unwrap_or(0) * buckets.len() as u64
            }),
        }
    }
}

impl Rules {
    fn pace(&self, throughput: &Throughput, ranges: usize) -> Pace {
        match (self.is_serverless, self.saves) {
            (true, _) => Pace::steady(limits::SERVERLESS_UNITS_PER_SECOND_MAX, 1),
            (false, true) => Pace::saving(throughput.most(), ranges),
            (false, false) => Pace::steady(throughput.most(), ranges),
        }
    }
}

/// The bucket that the range had, or its part of the one that it came from.
fn kept(before: Option<&Allotment>, range: &Range, ranges: &[Range], pace: Pace, now_millis: u64) -> Shared {
    let known = before.and_then(|before| before.bucket(range.id));
    if let Some(known) = known {
        lock(known).follow(pace, now_millis);
        return known.clone();
    }
    let parent = |id: &&u32| before.is_some_and(|before| before.bucket(**id).is_some());
    let bucket = match range.parents.iter().rev().find(parent) {
        None => Bucket::new(pace, now_millis),
        Some(parent) => {
            let siblings = ranges.iter().filter(|range| range.parents.contains(parent)).count();
            let known = before.and_then(|before| before.bucket(*parent));
            let share = known.map(|bucket| lock(bucket).share(siblings));
            let mut share = share.unwrap_or_else(|| Bucket::new(pace, now_millis));
            share.follow(pace, now_millis);
            share
        }
    };
    Arc::new(Mutex::new(bucket))
}

/// Every change of a bucket is whole, so a thread that panicked left nothing half done.
pub fn lock(bucket: &Mutex<Bucket>) -> MutexGuard<'_, Bucket> {
    bucket.lock().unwrap_or_else(PoisonError::into_inner)
}
