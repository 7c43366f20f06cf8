//! What every request came to: how many, how long, what they cost, how they ended (`docs/monitoring.md`).
//!
//! ```text
//! request ── protocol ──> reply or failure ── record ──> series of its container and kind    (atomics, a copy a thread)
//!                                               └──> its logical partition               (a lock of thirty-two)
//! ```
//!
//! It is kept in memory from the start of the process; whoever wants rates looks twice. The number of series is bounded:
//! containers beyond [`limits::MONITOR_CONTAINERS_MAX`] are counted together, statuses and kinds are fixed lists, and
//! partitions compete for their places. A request that nobody could be found for, such as one that is not signed, makes no
//! series of its own, so strangers cannot make any.

mod histogram;
mod kind;
mod partitions;
mod series;

pub use histogram::{Histogram, REPORTED_MILLIS};
pub use kind::{Class, Kind};
pub use partitions::PartitionTotals;
pub use series::{STATUSES, Totals};

use crate::limits;
use crate::usage::Reach;
use arc_swap::ArcSwap;
use orrery_core::Timestamp;
use orrery_documents::catalog::Catalog;
use orrery_documents::charge::Charge;
use partitions::Partitions;
use series::Series;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

pub struct Monitor {
    started: Timestamp,
    containers: ArcSwap<HashMap<u32, Arc<Meters>>>,
    /// One at a time adds a container.
    growing: Mutex<()>,
    /// What is about no container, and what is about one that found no room.
    account: Meters,
    others: Meters,
    partitions: Partitions,
    session_reads: AtomicU64,
    session_misses: AtomicU64,
}

#[derive(Default)]
struct Meters {
    kinds: [OnceLock<Box<Series>>; Kind::ALL.len()],
    /// Queries by how far they reach.
    queries: [AtomicU64; REACHES.len()],
}

/// How far a query reaches: one logical partition, some that its filter names, or all.
pub const REACHES: [&str; 3] = ["one_partition", "some_partitions", "all_partitions"];

/// Everything that was counted since the start.
#[derive(Clone, Debug, Default)]
pub struct Counted {
    pub started: Timestamp,
    pub meters: Vec<(Subject, MeterTotals)>,
    /// The most request units first.
    pub partitions: Vec<PartitionTotals>,
    /// Reads that came with a session token, and those of them that asked for what is not there yet.
    pub session_reads: u64,
    pub session_misses: u64,
}

/// A request that was answered.
#[derive(Clone, Copy, Debug)]
pub struct Answered<'a> {
    pub kind: Kind,
    pub container: Option<u32>,
    /// The partition key as it was sent.
    pub partition_key: Option<&'a str>,
    pub status: u16,
    pub charge: Charge,
    pub elapsed: Duration,
    /// For a request with a session token: whether the state that it names was there.
    pub session: Option<SessionRead>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionRead {
    Served,
    Missed,
}

/// What requests were about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Subject {
    Account,
    /// By its number.
    Container(u32),
    /// Containers that found no room.
    Others,
}

#[derive(Clone, Debug, Default)]
pub struct MeterTotals {
    pub kinds: Vec<(Kind, Totals)>,
    /// In the order of [`REACHES`].
    pub queries: [u64; REACHES.len()],
}

impl MeterTotals {
    /// All kinds of a class together.
    pub fn class(&self, class: Class) -> Totals {
        self.sum(|kind| kind.class() == class)
    }

    /// All that is about items.
    pub fn data(&self) -> Totals {
        self.sum(|kind| kind.class() != Class::Other)
    }

    pub fn all(&self) -> Totals {
        self.sum(|_| true)
    }

    fn sum(&self, is_meant: impl Fn(Kind) -> bool) -> Totals {
        let mut sum = Totals::default();
        self.kinds.iter().filter(|(kind, _)| is_meant(*kind)).for_each(|(_, totals)| sum.merge(totals));
        sum
    }
}

impl Monitor {
    pub(crate) fn new(started: Timestamp) -> Self {
        Self {
            started,
            containers: ArcSwap::default(),
            growing: Mutex::new(()),
            account: Meters::default(),
            others: Meters::default(),
            partitions: Partitions::default(),
            session_reads: AtomicU64::new(0),
            session_misses: AtomicU64::new(0),
        }
    }

    /// Records a request that was answered. A protocol calls this once for every reply and every refusal.
    pub fn record(&self, request: &Answered<'_>) {
        let Answered { kind, container, partition_key, status, charge, elapsed, session } = *request;
        let hundredths = charge.hundredths();
        self.add(container, kind, status, hundredths, elapsed);
        if let (Some(container), Some(key)) = (container, partition_key) {
            self.partitions.add(container, key, status, hundredths, elapsed);
        }
        if let Some(session) = session.filter(|_| matches!(kind.class(), Class::Read | Class::Query)) {
            self.session_reads.fetch_add(1, Ordering::Relaxed);
            self.session_misses.fetch_add(u64::from(session == SessionRead::Missed), Ordering::Relaxed);
        }
    }

    fn add(&self, container: Option<u32>, kind: Kind, status: u16, hundredths: u64, elapsed: Duration) {
        self.with(container, |meters| {
            meters.kinds[kind as usize].get_or_init(Box::default).add(status, hundredths, elapsed);
        });
    }

    /// Notes a query by how far it reaches.
    pub(crate) fn queried(&self, container: u32, reach: Reach<'_>) {
        let place = match reach {
            Reach::Partition(_) => 0,
            Reach::Some => 1,
            Reach::All => 2,
        };
        self.with(Some(container), |meters| {
            meters.queries[place].fetch_add(1, Ordering::Relaxed);
        });
    }

    fn with(&self, container: Option<u32>, note: impl FnOnce(&Meters)) {
        let Some(number) = container else { return note(&self.account) };
        if let Some(known) = self.containers.load().get(&number) {
            return note(known);
        }
        match self.grow(number) {
            Some(new) => note(&new),
            None => note(&self.others),
        }
    }

    fn grow(&self, number: u32) -> Option<Arc<Meters>> {
        let _one = self.growing.lock().unwrap_or_else(PoisonError::into_inner);
        let known = self.containers.load_full();
        if let Some(known) = known.get(&number) {
            return Some(known.clone());
        }
        if known.len() >= limits::MONITOR_CONTAINERS_MAX {
            return None;
        }
        let (mut next, new) = ((*known).clone(), Arc::<Meters>::default());
        next.insert(number, new.clone());
        self.containers.store(Arc::new(next));
        Some(new)
    }

    /// Removes dropped containers.
    pub fn forget_dropped(&self, catalog: &Catalog) {
        let is_alive = |number: u32| catalog.container_by_number(number).is_some();
        if self.containers.load().keys().all(|number| is_alive(*number)) {
            return;
        }
        let _one = self.growing.lock().unwrap_or_else(PoisonError::into_inner);
        let mut next = (*self.containers.load_full()).clone();
        next.retain(|number, _| is_alive(*number));
        self.containers.store(Arc::new(next));
        self.partitions.keep(is_alive);
    }

    pub fn started(&self) -> Timestamp {
        self.started
    }

    pub fn counted(&self) -> Counted {
        Counted {
            started: self.started,
            meters: self.meters(),
            partitions: self.partitions.totals(),
            session_reads: self.session_reads.load(Ordering::Relaxed),
            session_misses: self.session_misses.load(Ordering::Relaxed),
        }
    }

    /// The same without the partitions, for who looks often.
    pub fn meters(&self) -> Vec<(Subject, MeterTotals)> {
        let containers = self.containers.load_full();
        let mut meters =
            vec![(Subject::Account, self.account.totals()), (Subject::Others, self.others.totals())];
        meters.extend(containers.iter().map(|(number, it)| (Subject::Container(*number), it.totals())));
        meters.retain(|(_, totals)| !totals.kinds.is_empty());
        meters.sort_by_key(|(subject, _)| *subject);
        meters
    }
}

impl Meters {
    fn totals(&self) -> MeterTotals {
        let known = |kind: Kind| self.kinds[kind as usize].get().map(|series| (kind, series.totals()));
        MeterTotals {
            kinds: Kind::ALL.into_iter().filter_map(known).collect(),
            queries: std::array::from_fn(|at| self.queries[at].load(Ordering::Relaxed)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn monitor() -> Monitor {
        Monitor::new(Timestamp::from_seconds(1))
    }

    fn totals_of(monitor: &Monitor, subject: Subject) -> Totals {
        let counted = monitor.counted();
        counted.meters.into_iter().find(|(it, _)| *it == subject).map(|(_, it)| it.all()).unwrap_or_default()
    }

    #[test]
    fn containers_beyond_the_bound_are_counted_together() {
        let monitor = monitor();
        let max = limits::MONITOR_CONTAINERS_MAX as u32;
        for number in 0..max + 3 {
            monitor.add(Some(number), Kind::Read, 200, 100, Duration::from_millis(1));
        }
        assert_eq!(totals_of(&monitor, Subject::Container(max - 1)).requests(), 1);
        assert_eq!(totals_of(&monitor, Subject::Container(max)).requests(), 0);
        assert_eq!(totals_of(&monitor, Subject::Others).requests(), 3);
        monitor.forget_dropped(&Catalog::default());
        monitor.add(Some(max), Kind::Read, 200, 100, Duration::from_millis(1));
        assert_eq!(totals_of(&monitor, Subject::Container(max)).requests(), 1, "there is room again");
    }

    #[test]
    fn classes_sum_their_kinds() {
        let monitor = monitor();
        for (kind, hundredths) in
            [(Kind::Create, 500), (Kind::Replace, 1_000), (Kind::Read, 100), (Kind::Metadata, 7)]
        {
            monitor.add(Some(1), kind, 200, hundredths, Duration::from_millis(1));
        }
        let counted = monitor.counted();
        let (_, totals) = &counted.meters[0];
        assert_eq!((totals.class(Class::Write).hundredths, totals.data().hundredths), (1_500, 1_600));
        assert_eq!(totals.all().hundredths, 1_607);
    }
}
