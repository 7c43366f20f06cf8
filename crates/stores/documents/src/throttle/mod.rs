//! Throughput, enforced: whether a request may run now, and what it leaves for the next (`docs/throughput.md`).
//!
//! ```text
//! operation ── admit ──> run ──> outcome or error, with its charge ── settle
//!                │                                                      │
//!                └─ refused, with how long to wait      taken from the same buckets
//! ```
//!
//! Requests about items draw from the buckets of the ranges that they cover (`allotments`), and of their logical
//! partition where that is the narrower bound (`partitions`). Requests about anything else draw from one bucket of the
//! account. When throttling is off none of this is kept, and asking costs one branch.
//!
//! A request pays one unit when it is let in and the rest afterwards. So what is let in at the same time is bounded by
//! what there is, although nobody knows yet what it will cost. A client that leaves has paid that one unit.

mod allotments;
mod bucket;
mod partitions;

pub use bucket::Priority;

use crate::error::Error;
use crate::limits;
use crate::scope::covered;
use crate::store::Store;
use allotments::{Allotment, Allotments, Rules, lock};
use arc_swap::{ArcSwap, Guard};
use bucket::{Bucket, MICROS_PER_UNIT, Micros, Pace};
use orrery_documents::catalog::{Container, Offer};
use orrery_documents::charge::Charge;
use orrery_documents::item::FeedScope as Scope;
use partitions::{Partition, Partitions};
use std::sync::{Arc, Mutex, PoisonError};

/// How the account's throughput is given and enforced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Throttling {
    /// Whether requests beyond the throughput are turned away; charges are told either way.
    pub is_on: bool,
    /// No throughput is provisioned; every range has the same bound, and offers are refused.
    pub is_serverless: bool,
    /// Whether unused units are saved for five minutes.
    pub saves: bool,
    /// Request units a second of one logical partition.
    pub partition_units_max: u64,
}

impl Default for Throttling {
    fn default() -> Self {
        Self {
            is_on: false,
            is_serverless: false,
            saves: false,
            partition_units_max: limits::PARTITION_UNITS_PER_SECOND_MAX,
        }
    }
}

pub(crate) struct Throttle {
    is_serverless: bool,
    meters: Option<Meters>,
}

struct Meters {
    rules: Rules,
    allotments: ArcSwap<Allotments>,
    /// One at a time makes a new picture of the catalog.
    following: Mutex<()>,
    partitions: Partitions,
    metadata: Mutex<Bucket>,
}

/// Taken when a request is let in; every answer costs at least this.
const DEPOSIT: Micros = MICROS_PER_UNIT;

/// A request that was let in, and what it draws from.
pub(crate) enum Ticket {
    Free,
    Metadata,
    Data(Draw),
}

pub(crate) struct Draw {
    allotment: Arc<Allotment>,
    /// The places of the first range that is covered, and of the first after it that is not.
    ranges: (usize, usize),
    partition: Option<Partition>,
}

impl Throttle {
    pub fn new(options: &Throttling, now_millis: u64) -> Self {
        let rules = Rules { is_serverless: options.is_serverless, saves: options.saves };
        let meters = || Meters {
            rules,
            allotments: ArcSwap::from_pointee(Allotments::none()),
            following: Mutex::new(()),
            partitions: Partitions::new(options.partition_units_max),
            metadata: Mutex::new(Bucket::new(
                Pace::steady(limits::METADATA_UNITS_PER_SECOND_MAX, 1),
                now_millis,
            )),
        };
        Self { is_serverless: options.is_serverless, meters: options.is_on.then(meters) }
    }

    pub fn is_serverless(&self) -> bool {
        self.is_serverless
    }

    pub fn is_on(&self) -> bool {
        self.meters.is_some()
    }

    /// Whether an operation on items would be let in now; takes nothing.
    pub fn check(
        &self,
        store: &Store,
        container: &Container,
        scope: Option<&Scope>,
        priority: Priority,
    ) -> Result<(), Error> {
        let Some(meters) = &self.meters else { return Ok(()) };
        meters.affordable(store, container, scope, priority, store.env().now().millis()).map(drop)
    }

    /// Lets an operation on items in, or says when to come back. Without a scope, it covers all ranges.
    pub fn admit(
        &self,
        store: &Store,
        container: &Container,
        scope: Option<&Scope>,
        priority: Priority,
    ) -> Result<Ticket, Error> {
        let Some(meters) = &self.meters else { return Ok(Ticket::Free) };
        meters.admit(store, container, scope, priority, store.env().now().millis())
    }

    /// The same for an operation on databases, containers and offers.
    pub fn admit_metadata(&self, store: &Store) -> Result<Ticket, Error> {
        let Some(meters) = &self.meters else { return Ok(Ticket::Free) };
        meters.admit_metadata(store.env().now().millis())
    }

    /// Takes what an operation cost.
    pub fn settle(&self, store: &Store, ticket: &Ticket, charge: Charge) {
        let Some(meters) = &self.meters else { return };
        let rest = micros(charge) - DEPOSIT;
        let now_millis = store.env().now().millis();
        match ticket {
            Ticket::Free => {}
            Ticket::Metadata => lock(&meters.metadata).take(rest, now_millis),
            Ticket::Data(draw) => meters.take(draw, rest, now_millis),
        }
    }

    /// Takes up a change of throughput now, rather than with the next request.
    pub fn follow(&self, store: &Store) {
        if let Some(meters) = &self.meters {
            meters.allotments(store, store.env().now().millis());
        }
    }

    /// The request units a second that an offer's owner uses now; 0 when nobody counts.
    pub fn in_use(&self, store: &Store, offer: &Offer) -> u64 {
        let Some(meters) = &self.meters else { return 0 };
        let now_millis = store.env().now().millis();
        meters.allotments(store, now_millis).in_use(offer, now_millis)
    }
}

impl Meters {
    fn admit_metadata(&self, now_millis: u64) -> Result<Ticket, Error> {
        let mut bucket = lock(&self.metadata);
        match bucket.wait_millis(Priority::High, now_millis) {
            0 => {
                bucket.take(DEPOSIT, now_millis);
                Ok(Ticket::Metadata)
            }
            retry_after_ms => Err(Error::MetadataRateTooLarge { retry_after_ms }),
        }
    }

    fn admit(
        &self,
        store: &Store,
        container: &Container,
        scope: Option<&Scope>,
        priority: Priority,
        now_millis: u64,
    ) -> Result<Ticket, Error> {
        let Some(draw) = self.affordable(store, container, scope, priority, now_millis)? else {
            return Ok(Ticket::Free);
        };
        self.take(&draw, DEPOSIT, now_millis);
        Ok(Ticket::Data(draw))
    }

    /// What an operation will draw from, if there is some left; nothing if its container has no throughput.
    fn affordable(
        &self,
        store: &Store,
        container: &Container,
        scope: Option<&Scope>,
        priority: Priority,
        now_millis: u64,
    ) -> Result<Option<Draw>, Error> {
        let allotment = self.allotments(store, now_millis).of(container.number());
        let Some(allotment) = allotment else { return Ok(None) };
        let draw = self.draw(scope, container, allotment);
        match self.wait_millis(&draw, priority, now_millis) {
            0 => Ok(Some(draw)),
            retry_after_ms => {
                let range = container.ranges().leaves().get(draw.ranges.0).map_or(0, |range| range.id);
                Err(Error::RateTooLarge { retry_after_ms, range })
            }
        }
    }

    /// What an operation will draw from.
    fn draw(&self, scope: Option<&Scope>, container: &Container, allotment: Arc<Allotment>) -> Draw {
        let leaves = container.ranges().leaves();
        let counts_partitions = allotment.units_each > self.partitions.units_max();
        if leaves.len() == 1 && !counts_partitions {
            return Draw { allotment, ranges: (0, 1), partition: None };
        }
        let Some(scope) = scope else {
            return Draw { allotment, ranges: (0, leaves.len()), partition: None };
        };
        let covered = covered(scope, container);
        let first = leaves.iter().position(|range| range.id == covered[0].id).unwrap_or(0);
        let partition = match scope {
            Scope::Partition(epk) if counts_partitions => {
                Some(Partition::of(container.number(), epk.as_bytes()))
            }
            _ => None,
        };
        Draw { allotment, ranges: (first, first + covered.len()), partition }
    }

    fn wait_millis(&self, draw: &Draw, priority: Priority, now_millis: u64) -> u64 {
        let waits = draw.allotment.buckets(draw.ranges.0, draw.ranges.1);
        let waits = waits.map(|bucket| lock(bucket).wait_millis(priority, now_millis));
        let partition = draw.partition.map(|it| self.partitions.wait_millis(it, priority, now_millis));
        waits.chain(partition).max().unwrap_or(0)
    }

    /// Ranges that are covered together pay equal parts.
    fn take(&self, draw: &Draw, charge: Micros, now_millis: u64) {
        let buckets = draw.allotment.buckets(draw.ranges.0, draw.ranges.1);
        let part = charge / buckets.len() as i64;
        buckets.for_each(|bucket| lock(bucket).take(part, now_millis));
        if let Some(partition) = draw.partition {
            self.partitions.take(partition, charge, now_millis);
        }
    }

    /// The picture of the catalog, made anew if there is a newer one.
    fn allotments(&self, store: &Store, now_millis: u64) -> Guard<Arc<Allotments>> {
        let current = self.allotments.load();
        if Arc::ptr_eq(&current.catalog, &store.catalog()) {
            return current;
        }
        let _one = self.following.lock().unwrap_or_else(PoisonError::into_inner);
        // Looked up by who has the lock, so that an older catalog never follows a newer.
        let (current, newest) = (self.allotments.load(), store.catalog());
        if !Arc::ptr_eq(&current.catalog, &newest) {
            let next = current.following(&newest, self.rules, now_millis);
            self.allotments.store(Arc::new(next));
        }
        self.allotments.load()
    }
}

fn micros(charge: Charge) -> Micros {
    let hundredths = i64::try_from(charge.hundredths()).unwrap_or(i64::MAX);
    hundredths.saturating_mul(MICROS_PER_UNIT / 100)
}
