//! The open connections of a listener: their limit, and which one gives way when it is reached.
//!
//! ```text
//! |<------------------------- connections_max ------------------------->|
//! |<----- connections without a credential ----->|<------ reserve ------>|
//!   the longest waiting one is closed for a new one  for those that showed a credential
//! ```
//!
//! A connection starts without a credential, and is [confirmed](Activity::confirm) by the first request with a valid
//! one. When the table is full, the connections that have waited longest give way: first those without a credential
//! that are idle or have not sent a head, then those whose request has been in flight for longer than a head may take,
//! then idle confirmed ones. Several go at once, so that a flood does not cause a search per connection. If nothing can
//! give way, new clients wait in the system's queue.

use crate::limits;
use crate::patience::{Activity, Phase};
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::Instant;
use tracing::warn;

/// One in this many connections gives way at once.
const EVICTED_SHARE: usize = 64;
/// How long evicted connections have to end before others are evicted too.
const LOOK_AGAIN: Duration = Duration::from_millis(100);

/// The connection counters of a listener; a cheap handle.
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

    /// Open connections with a credential.
    pub fn confirmed(&self) -> usize {
        self.0.confirmed.load(Relaxed)
    }

    /// Connections closed to make room for others.
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
    /// Slots reserved for connections with a credential.
    reserve: usize,
    /// How long a request without a credential is spared under pressure.
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

/// The last log line, and the events since.
#[derive(Default)]
struct Pressure {
    logged: Option<Instant>,
    evicted: u64,
}

/// A connection's slot, dropped when the connection has ended.
pub(crate) struct Place {
    table: Arc<ConnectionTable>,
    number: u64,
    pub(crate) activity: Arc<Activity>,
    /// Signalled once when the connection must end to make room.
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

    /// A slot for an accepted connection, as soon as one is free.
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
            // An evicted connection may take its time to end, and a spared one becomes old.
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

    /// Evicts the connections that have waited longest. They end a moment later.
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
        // Of the first class only: later classes give way when it is empty.
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

    /// Logs at a limited rate, however many connections there are.
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

    /// Waits until every connection has ended; returns how many are left at the deadline.
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

/// The order in which connections give way; `None` if this one does not.
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
    fn connections_give_way_in_order() {
        let idle = [rank(Phase::Idle, false, false), rank(Phase::Idle, true, false)];
        assert_eq!(idle, [Some(0), Some(2)]);
        assert_eq!([rank(Phase::Busy, false, false), rank(Phase::Busy, false, true)], [None, Some(1)]);
        assert_eq!(rank(Phase::Busy, true, true), None);
        assert_eq!(rank(Phase::Opening, false, false), Some(0));
    }
}
