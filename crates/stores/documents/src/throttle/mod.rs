//! Enforces throughput: whether a request may run now, and what remains for the next (`docs/throughput.md`).
//!
//! ```text
//! operation ── admit ──> run ──> outcome or error, with its charge ── settle
//!                │                                                      │
//!                └─ refused, with how long to wait      taken from the same buckets
//! ```
//!
//! Requests for items draw from the buckets of the ranges that they cover (`allotments`), and from that of their
//! logical partition where it is the tighter bound (`partitions`). All other requests draw from one bucket of the
//! account. With throttling off there are no buckets, and a check costs one branch.
//!
//! A request pays a deposit of one unit on admission and the rest afterwards. So concurrent admissions are bounded by
//! the level, although their charges are not known yet. A client that leaves has paid the deposit.

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
use bucket::{Bucket, MICROS_PER_UNIT, Micros, Rate};
use orrery_documents::catalog::{Container, Offer};
use orrery_documents::charge::Charge;
use orrery_documents::item::FeedScope as Scope;
use partitions::{Partition, Partitions};
use std::sync::{Arc, Mutex, PoisonError};

/// How the account's throughput is provisioned and enforced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Throttling {
    /// Whether requests beyond the throughput are refused; charges are reported either way.
    pub is_on: bool,
    /// No throughput is provisioned: every range has the same limit, and offers are refused.
    pub is_serverless: bool,
    /// Whether unused units are kept for five minutes (burst capacity).
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
    /// Held while making a new snapshot of the catalog.
    following: Mutex<()>,
    partitions: Partitions,
    metadata: Mutex<Bucket>,
}

/// The deposit on admission; every request costs at least this.
const DEPOSIT: Micros = MICROS_PER_UNIT;

/// An admitted request and the buckets that it draws from.
pub(crate) enum Ticket {
    Free,
    Metadata,
    Data(Draw),
}

pub(crate) struct Draw {
    allotment: Arc<Allotment>,
    /// The covered ranges as a half-open interval of indexes.
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
                Rate::steady(limits::METADATA_UNITS_PER_SECOND_MAX, 1),
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

    /// Whether an operation on items would be admitted now; takes nothing.
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

    /// Admits an operation on items, or refuses it with a retry time. Without a scope, it covers all ranges.
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

    /// Variant for operations on databases, containers and offers.
    pub fn admit_metadata(&self, store: &Store) -> Result<Ticket, Error> {
        let Some(meters) = &self.meters else { return Ok(Ticket::Free) };
        meters.admit_metadata(store.env().now().millis())
    }

    /// Takes the operation's charge, less the deposit.
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

    /// Applies a change of throughput now rather than with the next request.
    pub fn follow(&self, store: &Store) {
        if let Some(meters) = &self.meters {
            meters.allotments(store, store.env().now().millis());
        }
    }

    /// The request units per second that an offer's owner uses now; 0 with throttling off.
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

    /// The buckets that an operation will draw from, if they are not spent; none if its container has no throughput.
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

    /// The buckets that an operation will draw from.
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

    /// Ranges covered by one request pay equal shares.
    fn take(&self, draw: &Draw, charge: Micros, now_millis: u64) {
        let buckets = draw.allotment.buckets(draw.ranges.0, draw.ranges.1);
        let part = charge / buckets.len() as i64;
        buckets.for_each(|bucket| lock(bucket).take(part, now_millis));
        if let Some(partition) = draw.partition {
            self.partitions.take(partition, charge, now_millis);
        }
    }

    /// The current allotments, rebuilt if the catalog has changed.
    fn allotments(&self, store: &Store, now_millis: u64) -> Guard<Arc<Allotments>> {
        let current = self.allotments.load();
        if Arc::ptr_eq(&current.catalog, &store.catalog()) {
            return current;
        }
        let _one = self.following.lock().unwrap_or_else(PoisonError::into_inner);
        // Looked up under the lock, so that an older catalog never replaces a newer one.
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
