//! The open connections of a listener: how many there may be, and which one gives way.
//!
//! ```text
//! |<------------------------- connections_max ------------------------->|
//! |<----- connections without a credential ----->|<------ reserve ------>|
//!   the longest waiting one is closed for a new one  for those that showed a credential
//! ```
//!
//! A connection begins without a credential, and is [confirmed](Activity::confirm) by the first request whose credential opens
//! something. When there is no room, the connections that wait longest give way: first those without a credential that are
//! idle or have not sent a head, then those whose request has been in flight for longer than a head may take, then idle
//! confirmed ones. Some go at once, so that a flood does not pay for a search with each connection. If nothing can give way, new
//! clients wait in the system's queue.

use crate::limits;
use crate::patience::{Activity, Phase};
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::Instant;
use tracing::warn;

/// One of so many connections gives way at once.
const EVICTED_SHARE: usize = 64;
/// How long those that were told to end have before others are told too.
const LOOK_AGAIN: Duration = Duration::from_millis(100);

/// What a listener counts of its connections; a cheap handle.
#[derive(Clone, Debug, Default)]
pub struct ConnectionCounts(Arc<Counts>);

#[derive(Debug, Default)]
struct Counts {
    open: AtomicUsize,
    confirmed: AtomicUsize,
    evicted: AtomicU64,
    held_back: AtomicU64,
}

impl ConnectionCounts {
    pub fn open(&self) -> usize {
        self.0.open.load(Relaxed)
    }

    /// Open connections that showed a credential.
    pub fn confirmed(&self) -> usize {
        self.0.confirmed.load(Relaxed)
    }

    /// Connections that were closed to make room for others.
    pub fn evicted(&self) -> u64 {
        self.0.evicted.load(Relaxed)
    }

    /// New connections that had to wait for room.
    pub fn held_back(&self) -> u64 {
        self.0.held_back.load(Relaxed)
    }

    pub(crate) fn confirm(&self) {
        self.0.confirmed.fetch_add(1, Relaxed);
    }
}

pub(crate) struct ConnectionTable {
    connections_max: usize,
    /// Room that only connections with a credential take.
    reserve: usize,
    /// How long a request without a credential is left alone under pressure.
    busy_time_max: Duration,
    counts: ConnectionCounts,
    open: Mutex<HashMap<u64, Open>>,
    next: AtomicU64,
    freed: Notify,
    pressure: Mutex<Pressure>,
}

struct Open {
    activity: Arc<Activity>,
    give_way: Arc<Notify>,
    is_told: bool,
}

/// What was logged last, and what happened since.
#[derive(Default)]
struct Pressure {
    logged: Option<Instant>,
    evicted: u64,
}

/// A connection's place. Dropped when the connection has ended.
pub(crate) struct Place {
    table: Arc<ConnectionTable>,
    number: u64,
    pub(crate) activity: Arc<Activity>,
    /// Told once when the connection shall end to make room.
    pub(crate) give_way: Arc<Notify>,
}

impl ConnectionTable {
    pub(crate) fn new(
        connections_max: usize,
        busy_time_max: Duration,
        counts: ConnectionCounts,
    ) -> Arc<Self> {
        Arc::new(Self {
            connections_max,
            reserve: connections_max / limits::CONNECTIONS_RESERVE_SHARE,
            busy_time_max,
            counts,
            open: Mutex::default(),
            next: AtomicU64::new(0),
            freed: Notify::new(),
            pressure: Mutex::default(),
        })
    }

    /// A place for a connection that is there, as soon as there is one.
    pub(crate) async fn place(self: &Arc<Self>) -> Place {
        let mut has_waited = false;
        loop {
            let freed = self.freed.notified();
            if let Some(place) = self.take() {
                return place;
            }
            if !has_waited {
                self.counts.0.held_back.fetch_add(1, Relaxed);
                has_waited = true;
            }
            self.make_room();
            // Whoever was told to end may take its time, and who may not be told yet becomes old.
            let _ = tokio::time::timeout(LOOK_AGAIN, freed).await;
        }
    }

    fn take(self: &Arc<Self>) -> Option<Place> {
        let mut open = self.open();
        let unconfirmed = open.len().saturating_sub(self.counts.confirmed());
        if open.len() >= self.connections_max || unconfirmed >= self.connections_max - self.reserve {
            return None;
        }
        let number = self.next.fetch_add(1, Relaxed);
        let activity = Arc::new(Activity::new(self.counts.clone()));
        let give_way = Arc::new(Notify::new());
        open.insert(number, Open { activity: activity.clone(), give_way: give_way.clone(), is_told: false });
        self.counts.0.open.store(open.len(), Relaxed);
        Some(Place { table: self.clone(), number, activity, give_way })
    }

    /// Tells the connections that wait longest to end. They are gone a moment later.
    pub(crate) fn make_room(&self) {
        let mut open = self.open();
        let now = Instant::now();
        let candidate = |(number, one): (&u64, &Open)| {
            if one.is_told {
                return None;
            }
            let waited = one.activity.waited(now);
            let rank = rank(one.activity.phase(), one.activity.is_confirmed(), waited >= self.busy_time_max)?;
            Some((rank, std::cmp::Reverse(waited), *number))
        };
        let mut candidates: Vec<_> = open.iter().filter_map(candidate).collect();
        let wanted = (self.connections_max / EVICTED_SHARE).clamp(1, candidates.len().max(1));
        candidates.sort_unstable();
        // Of the first kind only: the others give way when there are none of it.
        let first = candidates.first().map(|(rank, ..)| *rank);
        let chosen = candidates.iter().filter(|(rank, ..)| Some(*rank) == first).take(wanted);
        let mut evicted = 0;
        for (_, _, number) in chosen {
            if let Some(one) = open.get_mut(number) {
                one.is_told = true;
                one.give_way.notify_one();
                evicted += 1;
            }
        }
        self.counts.0.evicted.fetch_add(evicted, Relaxed);
        let count = open.len();
        drop(open);
        self.log(count, evicted, now);
    }

    /// One line now and then, however many connections press.
    fn log(&self, open: usize, evicted: u64, now: Instant) {
        let mut pressure = self.pressure.lock().unwrap_or_else(PoisonError::into_inner);
        pressure.evicted += evicted;
        let quiet = Duration::from_secs(limits::PRESSURE_LOG_SECONDS);
        if pressure.logged.is_some_and(|logged| now.duration_since(logged) < quiet) {
            return;
        }
        let (confirmed, evicted) = (self.counts.confirmed(), std::mem::take(&mut pressure.evicted));
        pressure.logged = Some(now);
        warn!(
            open,
            confirmed,
            evicted,
            "there is no room for more connections; those that wait longest without a credential are closed"
        );
    }

    /// Waits until every connection has ended; returns how many are left when the time is over.
    pub(crate) async fn drained(&self, time_max: Duration) -> usize {
        let until = Instant::now() + time_max;
        loop {
            let freed = self.freed.notified();
            let left = self.open().len();
            if left == 0 || tokio::time::timeout_at(until, freed).await.is_err() {
                return self.open().len();
            }
        }
    }

    fn open(&self) -> MutexGuard<'_, HashMap<u64, Open>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Which connections give way before which others; None if this one does not.
fn rank(phase: Phase, is_confirmed: bool, is_old: bool) -> Option<u8> {
    match (phase, is_confirmed) {
        (Phase::Opening | Phase::Idle | Phase::Head, false) => Some(0),
        (Phase::Busy, false) => is_old.then_some(1),
        (Phase::Idle | Phase::Head, true) => Some(2),
        (Phase::Busy | Phase::Opening, true) | (Phase::Closing { .. }, _) => None,
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut open = self.table.open();
        open.remove(&self.number);
        self.table.counts.0.open.store(open.len(), Relaxed);
        if self.activity.is_confirmed() {
            self.table.counts.0.confirmed.fetch_sub(1, Relaxed);
        }
        drop(open);
        self.table.freed.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::time::{advance, timeout};

    const BUSY: Duration = Duration::from_secs(15);

    fn table(connections_max: usize) -> (Arc<ConnectionTable>, ConnectionCounts) {
        let counts = ConnectionCounts::default();
        (ConnectionTable::new(connections_max, BUSY, counts.clone()), counts)
    }

    async fn is_told(place: &Place) -> bool {
        timeout(Duration::ZERO, place.give_way.notified()).await.is_ok()
    }

    #[tokio::test(start_paused = true)]
    async fn the_connection_that_waits_longest_gives_way() {
        let (table, counts) = table(2);
        let old = table.place().await;
        advance(Duration::from_secs(1)).await;
        let young = table.place().await;
        assert!(timeout(Duration::from_millis(1), table.place()).await.is_err(), "nothing has ended yet");
        assert!(is_told(&old).await && !is_told(&young).await);
        drop(old);
        let _new = table.place().await;
        assert_eq!((counts.open(), counts.evicted(), counts.held_back()), (2, 1, 1));
    }

    #[tokio::test(start_paused = true)]
    async fn a_confirmed_connection_stays_while_another_can_go() {
        let (table, counts) = table(16);
        let mut first = Vec::new();
        for _ in 0..2 {
            let place = table.place().await;
            drop(place.activity.begin());
            place.activity.confirm();
            place.activity.confirm();
            first.push(place);
        }
        advance(Duration::from_secs(60)).await;
        let mut flood = Vec::new();
        for _ in 0..14 {
            flood.push(table.place().await);
        }
        assert_eq!((counts.open(), counts.confirmed()), (16, 2));
        assert!(timeout(Duration::from_millis(1), table.place()).await.is_err());
        assert!(is_told(&flood[0]).await && !is_told(&first[0]).await);
        drop(first);
        assert_eq!(counts.confirmed(), 0);
    }

    #[tokio::test(start_paused = true)]
    async fn connections_without_a_credential_leave_the_reserve_alone() {
        let (table, counts) = table(32);
        let mut flood = Vec::new();
        for _ in 0..28 {
            flood.push(table.place().await);
        }
        assert!(timeout(Duration::from_millis(1), table.place()).await.is_err(), "an eighth is in reserve");
        flood[5].activity.confirm();
        flood.push(table.place().await);
        assert_eq!((counts.open(), counts.confirmed()), (29, 1));
    }

    #[tokio::test(start_paused = true)]
    async fn a_request_in_flight_without_a_credential_gives_way_only_when_it_is_old() {
        let (table, _) = table(1);
        let place = table.place().await;
        let request = place.activity.begin();
        assert!(timeout(BUSY / 2, table.place()).await.is_err());
        assert!(!is_told(&place).await);
        assert!(timeout(BUSY * 2, table.place()).await.is_err());
        assert!(is_told(&place).await);
        drop(request);
    }

    #[test]
    fn what_gives_way_first() {
        let idle = [rank(Phase::Idle, false, false), rank(Phase::Idle, true, false)];
        assert_eq!(idle, [Some(0), Some(2)]);
        assert_eq!([rank(Phase::Busy, false, false), rank(Phase::Busy, false, true)], [None, Some(1)]);
        assert_eq!(rank(Phase::Busy, true, true), None);
        assert_eq!(rank(Phase::Opening, false, false), Some(0));
    }
}
