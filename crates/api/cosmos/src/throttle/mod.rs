//! Throughput, enforced: whether a request may run now, and what it leaves for the next (`docs/throughput.md`).
//!
//! ```text
//! request ── admit ──> handler ──> reply or failure, with its charge ── settle
//!              │                                                          │
//!              └─ 429 with how long to wait          taken from the same buckets
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

use crate::failure::Failure;
use crate::handlers::{self, item_feed};
use crate::header;
use crate::partition_key::Scope;
use crate::reply::{Reply, ToValue as _};
use crate::request::Request;
use crate::route::{OwnerPath, Route};
use crate::service::Cosmos;
use crate::session;
use allotments::{Allotment, Allotments, Rules, lock};
use arc_swap::{ArcSwap, Guard};
use bucket::{Bucket, MICROS_PER_UNIT, Micros, Pace, Priority};
use http::Method;
use orrery_core::limits;
use orrery_documents::catalog::{Container, Offer};
use orrery_documents::charge::Charge;
use orrery_documents::subresources::Kind;
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

    /// Lets a request in, or says when to come back.
    pub fn admit(&self, cosmos: &Cosmos, request: &Request, route: &Route<'_>) -> Result<Ticket, Failure> {
        let Some(meters) = &self.meters else { return Ok(Ticket::Free) };
        let now_millis = cosmos.store().env().now().millis();
        if *route == Route::Account {
            return Ok(Ticket::Free);
        }
        let Some((database, container)) = container_at_work(request, route) else {
            return meters.admit_metadata(now_millis);
        };
        // A container that is not there draws from nothing; the handler says so.
        match handlers::find_container(cosmos, request, database, container) {
            Ok(container) => meters.admit(cosmos, request, &container, now_millis),
            Err(_) => Ok(Ticket::Free),
        }
    }

    /// Takes what a request cost.
    pub fn settle(&self, cosmos: &Cosmos, ticket: &Ticket, outcome: &Result<Reply, Failure>) {
        let Some(meters) = &self.meters else { return };
        let charge = outcome.as_ref().map_or_else(Failure::charge, Reply::charge);
        let rest = micros(charge) - DEPOSIT;
        let now_millis = cosmos.store().env().now().millis();
        match ticket {
            Ticket::Free => {}
            Ticket::Metadata => lock(&meters.metadata).take(rest, now_millis),
            Ticket::Data(draw) => meters.take(draw, rest, now_millis),
        }
    }

    /// Takes up a change of throughput now, rather than with the next request.
    pub fn follow(&self, cosmos: &Cosmos) {
        if let Some(meters) = &self.meters {
            meters.allotments(cosmos, cosmos.store().env().now().millis());
        }
    }

    /// The request units a second that an offer's owner uses now; 0 when nobody counts.
    pub fn in_use(&self, cosmos: &Cosmos, offer: &Offer) -> u64 {
        let Some(meters) = &self.meters else { return 0 };
        let now_millis = cosmos.store().env().now().millis();
        meters.allotments(cosmos, now_millis).in_use(offer, now_millis)
    }
}

impl Meters {
    fn admit_metadata(&self, now_millis: u64) -> Result<Ticket, Failure> {
        let mut bucket = lock(&self.metadata);
        match bucket.wait_millis(Priority::High, now_millis) {
            0 => {
                bucket.take(DEPOSIT, now_millis);
                Ok(Ticket::Metadata)
            }
            wait => Err(Failure::metadata_rate_too_large(wait)),
        }
    }

    fn admit(
        &self,
        cosmos: &Cosmos,
        request: &Request,
        container: &Container,
        now_millis: u64,
    ) -> Result<Ticket, Failure> {
        let allotment = self.allotments(cosmos, now_millis).of(container.number());
        let Some(allotment) = allotment else { return Ok(Ticket::Free) };
        let draw = self.draw(request, container, allotment);
        match self.wait_millis(&draw, priority(request), now_millis) {
            0 => {
                self.take(&draw, DEPOSIT, now_millis);
                Ok(Ticket::Data(draw))
            }
            wait => {
                let range = container.ranges().leaves().get(draw.ranges.0).map_or(0, |range| range.id);
                let place = [(header::PARTITION_KEY_RANGE_ID, range.to_value())];
                Err(Failure::rate_too_large(wait).at(place))
            }
        }
    }

    /// What a request will draw from. Only what makes a difference is worked out of its headers; what is wrong with them
    /// is the handler's to say.
    fn draw(&self, request: &Request, container: &Container, allotment: Arc<Allotment>) -> Draw {
        let leaves = container.ranges().leaves();
        let counts_partitions = allotment.units_each > self.partitions.units_max();
        if leaves.len() == 1 && !counts_partitions {
            return Draw { allotment, ranges: (0, 1), partition: None };
        }
        let Ok(scope) = item_feed::scope(request, container) else {
            return Draw { allotment, ranges: (0, leaves.len()), partition: None };
        };
        let covered = session::covered(&scope, container);
        let first = leaves.iter().position(|range| range.id == covered[0].id).unwrap_or(0);
        let partition = match &scope {
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
    fn allotments(&self, cosmos: &Cosmos, now_millis: u64) -> Guard<Arc<Allotments>> {
        let current = self.allotments.load();
        if Arc::ptr_eq(&current.catalog, &cosmos.store().catalog()) {
            return current;
        }
        let _one = self.following.lock().unwrap_or_else(PoisonError::into_inner);
        // Looked up by who has the lock, so that an older catalog never follows a newer.
        let (current, newest) = (self.allotments.load(), cosmos.store().catalog());
        if !Arc::ptr_eq(&current.catalog, &newest) {
            let next = current.following(&newest, self.rules, now_millis);
            self.allotments.store(Arc::new(next));
        }
        self.allotments.load()
    }
}

fn priority(request: &Request) -> Priority {
    let is_low = |level: &str| level.eq_ignore_ascii_case("low");
    match request.header(&header::PRIORITY_LEVEL) {
        Some(level) if is_low(level) => Priority::Low,
        _ => Priority::High,
    }
}

/// The database and the container whose items a request reads or writes; nothing if it is about something else.
fn container_at_work<'r>(request: &Request, route: &'r Route<'_>) -> Option<(&'r str, &'r str)> {
    match route {
        Route::Items { database, container }
        | Route::Item { database, container, .. }
        | Route::PartitionKeyDelete { database, container } => Some((database, container)),
        // A stored procedure is run by a POST, and works on items.
        Route::Child {
            owner: OwnerPath::Container { database, container },
            kind: Kind::StoredProcedure,
            ..
        } if *request.method() == Method::POST => Some((database, container)),
        _ => None,
    }
}

fn micros(charge: Charge) -> Micros {
    let hundredths = i64::try_from(charge.hundredths()).unwrap_or(i64::MAX);
    hundredths.saturating_mul(MICROS_PER_UNIT / 100)
}
