//! The buckets that each container draws from: a snapshot of the catalog's throughput for requests.
//!
//! ```text
//! own throughput   one bucket a range, each an equal share
//! none of its own  the one bucket of its database, shared with its siblings
//! serverless       one bucket a range, each of 5,000 units a second
//! ```
//!
//! A change of the catalog makes a new snapshot. Buckets keep their level, take their new rate, and are divided when
//! their range is split; those of dropped resources are removed.

use super::bucket::{Bucket, Rate};
use orrery_core::limits::SERVERLESS_UNITS_PER_SECOND_MAX;
use orrery_documents::catalog::limits;
use orrery_documents::catalog::{Catalog, Container, Database, Offer, OfferTarget};
use orrery_documents::definition::Throughput;
use orrery_documents::ranges::Range;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

pub type Shared = Arc<Mutex<Bucket>>;

/// How throughput becomes a rate.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    pub is_serverless: bool,
    /// Whether unused units are kept for five minutes (burst capacity).
    pub saves: bool,
}

pub struct Allotments {
    /// The catalog of this snapshot.
    pub catalog: Arc<Catalog>,
    containers: HashMap<u32, Arc<Allotment>>,
    databases: HashMap<u32, Shared>,
}

/// The buckets of one container, in key order of its ranges; a single one if it shares its database's throughput.
pub struct Allotment {
    buckets: Vec<(u32, Shared)>,
    /// Request units per second of one bucket.
    pub units_each: u64,
}

impl Allotment {
    /// The buckets of some ranges, by index; a shared bucket stands for all of them.
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

    /// The snapshot of a newer catalog.
    pub fn following(&self, catalog: &Arc<Catalog>, rules: Rules, now_millis: u64) -> Self {
        let offers: HashMap<u32, &Offer> = catalog.offers().map(|offer| (offer.rid.0, &**offer)).collect();
        let mut next =
            Self { catalog: catalog.clone(), containers: HashMap::new(), databases: HashMap::new() };
        for database in catalog.databases() {
            let offer = database.offer.and_then(|rid| offers.get(&rid.0)).filter(|_| !rules.is_serverless);
            if let Some(offer) = offer {
                let shared = self.shared(database, rules.rate(&offer.throughput, 1), now_millis);
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

    fn shared(&self, database: &Database, rate: Rate, now_millis: u64) -> Shared {
        match self.databases.get(&database.rid.0) {
            Some(known) => {
                lock(known).follow(rate, now_millis);
                known.clone()
            }
            None => Arc::new(Mutex::new(Bucket::new(rate, now_millis))),
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
        // The minimum if there is no offer, as in a folder that was serverless before.
        let own = own.unwrap_or(Throughput::Manual(limits::THROUGHPUT_MANUAL_MIN));
        let rate = rules.rate(&own, ranges.len());
        let before = self.containers.get(&container.number());
        let bucket =
            |range: &Range| (range.id, kept(before.map(|it| &**it), range, ranges, rate, now_millis));
        Allotment { buckets: ranges.iter().map(bucket).collect(), units_each: rate.units() }
    }

    pub fn of(&self, container: u32) -> Option<Arc<Allotment>> {
        self.containers.get(&container).cloned()
    }

    /// The request units per second that an offer's owner uses now: those of its busiest range, times the number of
    /// ranges.
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
    fn rate(&self, throughput: &Throughput, ranges: usize) -> Rate {
        match (self.is_serverless, self.saves) {
            (true, _) => Rate::steady(SERVERLESS_UNITS_PER_SECOND_MAX, 1),
            (false, true) => Rate::saving(throughput.most(), ranges),
            (false, false) => Rate::steady(throughput.most(), ranges),
        }
    }
}

/// The range's own bucket, or its share of its parent's.
fn kept(before: Option<&Allotment>, range: &Range, ranges: &[Range], rate: Rate, now_millis: u64) -> Shared {
    let known = before.and_then(|before| before.bucket(range.id));
    if let Some(known) = known {
        lock(known).follow(rate, now_millis);
        return known.clone();
    }
    let parent = |id: &&u32| before.is_some_and(|before| before.bucket(**id).is_some());
    let bucket = match range.parents.iter().rev().find(parent) {
        None => Bucket::new(rate, now_millis),
        Some(parent) => {
            let siblings = ranges.iter().filter(|range| range.parents.contains(parent)).count();
            let known = before.and_then(|before| before.bucket(*parent));
            let share = known.map(|bucket| lock(bucket).share(siblings));
            let mut share = share.unwrap_or_else(|| Bucket::new(rate, now_millis));
            share.follow(rate, now_millis);
            share
        }
    };
    Arc::new(Mutex::new(bucket))
}

/// Every change of a bucket is complete, so a panicked thread leaves it consistent.
pub fn lock(bucket: &Mutex<Bucket>) -> MutexGuard<'_, Bucket> {
    bucket.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::super::bucket::{MICROS_PER_UNIT, Priority};
    use super::*;
    use orrery_core::{DatabaseName, ETag, Lsn, OfferRid, Timestamp};
    use orrery_documents::Stamp;
    use orrery_documents::catalog::{create_container, create_database, delete_container, replace_offer};
    use orrery_documents::definition::ContainerDefinition;
    use orrery_documents::item::Preconditions;
    use orrery_documents::spaces::SPACES;
    use orrery_kv::{Db, MemoryEngine, Overlay, Sync, Txn};

    const ALWAYS: Preconditions = Preconditions { if_match: None, if_none_match: None };
    const PLAIN: Rules = Rules { is_serverless: false, saves: false };

    /// A catalog that can be changed.
    struct Ground {
        db: Db,
        lsn: u64,
    }

    impl Ground {
        /// With a database `shared` of 1,000 RU/s and a database `plain` without throughput.
        fn new() -> Self {
            let db = Db::open(Box::new(MemoryEngine::new(&SPACES)), Sync::Data).expect("a store in memory");
            let mut ground = Self { db, lsn: 0 };
            for (name, throughput) in [("shared", Some(Throughput::Manual(1000))), ("plain", None)] {
                let name = DatabaseName::parse(name).expect("a name");
                ground.change(|txn, stamp| {
                    create_database(txn, &name, throughput.as_ref(), stamp).expect("a database");
                });
            }
            ground
        }

        fn change(&mut self, body: impl Fn(&mut Txn<'_>, Stamp)) {
            let now = Timestamp::from_seconds(1);
            let stamp = Stamp { now, etag: ETag::from_u128(1), partition_bytes_max: u64::MAX };
            let (snapshot, nothing) = (self.db.snapshot(), Overlay::default());
            let mut txn = Txn::over(&snapshot, [&nothing, &nothing]);
            body(&mut txn, stamp);
            self.lsn += 1;
            self.db.commit(vec![txn.into_batch().stamp(Lsn(self.lsn))]).expect("a commit");
        }

        /// Its number.
        fn container(&mut self, database: &str, name: &str, units: Option<u64>) -> u32 {
            let definition = serde_json::json!({"id": name, "partitionKey": {"paths": ["/pk"]}});
            let definition = ContainerDefinition::parse(definition.as_object().expect("an object").clone());
            let (definition, units) = (definition.expect("a definition"), units.map(Throughput::Manual));
            self.change(|txn, stamp| {
                create_container(txn, database, &definition, units.as_ref(), stamp).expect("a container");
            });
            self.catalog().all_containers().map(|container| container.number()).max().expect("a container")
        }

        fn raise(&mut self, container: u32, units: u64) {
            let offer: OfferRid =
                self.catalog().container_by_number(container).and_then(|it| it.offer()).expect("one");
            self.change(|txn, stamp| {
                replace_offer(txn, offer, &Throughput::Manual(units), ALWAYS, stamp).expect("an offer");
            });
        }

        fn catalog(&self) -> Arc<Catalog> {
            Arc::new(Catalog::default().refreshed(&*self.db.snapshot()).expect("a catalog"))
        }
    }

    fn of(allotments: &Allotments, container: u32) -> Arc<Allotment> {
        allotments.of(container).expect("an allotment")
    }

    fn wait(allotment: &Allotment, at: usize) -> u64 {
        let bucket = allotment.buckets(at, at + 1).next().expect("a bucket");
        lock(bucket).wait_millis(Priority::High, 0)
    }

    fn take(allotment: &Allotment, at: usize, units: i64) {
        let bucket = allotment.buckets(at, at + 1).next().expect("a bucket");
        lock(bucket).take(units * MICROS_PER_UNIT, 0);
    }

    #[test]
    fn each_container_draws_from_what_it_was_given() {
        let mut ground = Ground::new();
        let own = ground.container("plain", "own", Some(12_000));
        let (one, two) = (ground.container("shared", "one", None), ground.container("shared", "two", None));
        let least = ground.container("plain", "least", None);
        let allotments = Allotments::none().following(&ground.catalog(), PLAIN, 0);
        let units = |container| of(&allotments, container).units_each;
        assert_eq!([units(own), units(one), units(two), units(least)], [6000, 1000, 1000, 400]);
        take(&of(&allotments, one), 0, 1000);
        assert_eq!(wait(&of(&allotments, two), 0), 1, "the siblings have one bucket");
        let serverless = Rules { is_serverless: true, ..PLAIN };
        let allotments = Allotments::none().following(&ground.catalog(), serverless, 0);
        for container in [own, one, least] {
            assert_eq!(of(&allotments, container).units_each, SERVERLESS_UNITS_PER_SECOND_MAX);
        }
    }

    #[test]
    fn what_is_spent_stays_spent_when_the_catalog_changes() {
        let mut ground = Ground::new();
        let container = ground.container("plain", "c", Some(1000));
        let before = Allotments::none().following(&ground.catalog(), PLAIN, 0);
        take(&of(&before, container), 0, 3000);
        ground.container("plain", "another", None);
        let after = before.following(&ground.catalog(), PLAIN, 0);
        assert_eq!(wait(&of(&after, container), 0), 2001);
        ground.raise(container, 4000);
        let faster = after.following(&ground.catalog(), PLAIN, 0);
        assert_eq!(wait(&of(&faster, container), 0), 501, "and is paid off faster");
    }

    #[test]
    fn a_split_divides_a_debt_among_the_children() {
        let mut ground = Ground::new();
        let container = ground.container("plain", "c", Some(6000));
        let before = Allotments::none().following(&ground.catalog(), PLAIN, 0);
        take(&of(&before, container), 0, 12_000);
        ground.raise(container, 12_000);
        let after = before.following(&ground.catalog(), PLAIN, 0);
        let children = of(&after, container);
        assert_eq!((wait(&children, 0), wait(&children, 1)), (501, 501));
        assert_eq!(children.buckets(0, 9).len(), 2);
    }

    #[test]
    fn buckets_of_what_was_dropped_are_gone() {
        let mut ground = Ground::new();
        let container = ground.container("plain", "c", None);
        let before = Allotments::none().following(&ground.catalog(), PLAIN, 0);
        let held = Arc::downgrade(&of(&before, container));
        ground.change(|txn, _| delete_container(txn, "plain", "c", ALWAYS).expect("a deletion"));
        let after = before.following(&ground.catalog(), PLAIN, 0);
        drop(before);
        assert!(after.of(container).is_none() && held.upgrade().is_none());
    }
}
