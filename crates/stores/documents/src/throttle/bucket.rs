//! A token bucket for one physical partition: request units flow in with time and out with work.
//!
//! ```text
//!            rate ──> │         │ full: one second's flow, or 300 when unused units are saved
//!                     │ level   │ ── take ──> work that was done
//!   ──────────────────┴─────────┴──── 0: whoever comes while the level is not above this waits
//!                       debt
//! ```
//!
//! A charge is known only after the work, so a request is admitted while the level is above zero and its charge is
//! taken afterwards; a level below zero is a debt that delays the next. Over any period, the charges served are at most
//! the inflow, a full bucket, and one request.
//!
//! Pure: time comes in as milliseconds, and time that goes back counts as standing still. Units are millionths of a
//! request unit.

use crate::limits;
use orrery_documents::catalog::limits::THROUGHPUT_MAX;

/// Millionths of a request unit.
pub type Micros = i64;

pub const MICROS_PER_UNIT: i64 = 1_000_000;
const MILLIS_PER_SECOND: i64 = 1000;
/// The share of a second's inflow that low-priority requests may not use.
const RESERVED_MILLIS: i64 = 500;

/// The rate of inflow, and how many unused units are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    /// One unit per second is a thousand millionths per millisecond.
    per_milli: Micros,
    saved_seconds: i64,
    /// The rate at which saved units may be spent.
    peak_per_milli: Option<Micros>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Priority {
    #[default]
    High,
    /// Refused first.
    Low,
}

#[derive(Clone, Debug)]
pub struct Bucket {
    at_millis: u64,
    steady: Meter,
    peak: Option<Meter>,
    spent: Spent,
}

#[derive(Clone, Debug)]
struct Meter {
    per_milli: Micros,
    full: Micros,
    level: Micros,
}

/// The units taken in this second and in the previous one.
#[derive(Clone, Debug, Default)]
struct Spent {
    second: u64,
    now: Micros,
    before: Micros,
}

impl Rate {
    /// One of `shares` equal shares of `units` per second; units not used within a second are lost.
    pub fn steady(units: u64, shares: usize) -> Self {
        let shares = i64::try_from(shares).unwrap_or(i64::MAX).max(1);
        let units = i64::try_from(units.min(THROUGHPUT_MAX)).unwrap_or(i64::MAX);
        let per_milli = (units * MICROS_PER_UNIT / MILLIS_PER_SECOND / shares).max(1);
        Self { per_milli, saved_seconds: 1, peak_per_milli: None }
    }

    /// Variant that keeps unused units for five minutes, if the share is small enough.
    pub fn saving(units: u64, shares: usize) -> Self {
        let steady = Self::steady(units, shares);
        let peak = Self::steady(limits::BURST_UNITS_PER_SECOND_MAX, 1).per_milli;
        if steady.per_milli >= peak {
            return steady;
        }
        Self { saved_seconds: limits::BURST_SECONDS_MAX, peak_per_milli: Some(peak), ..steady }
    }

    /// Request units a second.
    pub fn units(&self) -> u64 {
        (self.per_milli * MILLIS_PER_SECOND / MICROS_PER_UNIT) as u64
    }

    fn steady_meter(&self) -> Meter {
        let second = self.per_milli * MILLIS_PER_SECOND;
        Meter { per_milli: self.per_milli, full: second * self.saved_seconds, level: second }
    }

    fn peak_meter(&self) -> Option<Meter> {
        let meter = |per_milli| {
            let second = per_milli * MILLIS_PER_SECOND;
            Meter { per_milli, full: second, level: second }
        };
        self.peak_per_milli.map(meter)
    }
}

impl Bucket {
    /// Filled with the inflow of one second.
    pub fn new(rate: Rate, now_millis: u64) -> Self {
        let (steady, peak) = (rate.steady_meter(), rate.peak_meter());
        Self { at_millis: now_millis, steady, peak, spent: Spent::default() }
    }

    /// Changes the rate. The level stays if it fits, and so does a debt.
    pub fn follow(&mut self, rate: Rate, now_millis: u64) {
        self.flow(now_millis);
        let next = rate.steady_meter();
        self.steady = Meter { level: self.steady.level.min(next.full), ..next };
        self.peak = match (self.peak.take(), rate.peak_meter()) {
            (Some(peak), Some(next)) => Some(Meter { level: peak.level.min(next.full), ..next }),
            (_, next) => next,
        };
    }

    /// One of `shares` buckets that replace this one: each gets its part of the level or of the debt.
    pub fn share(&self, shares: usize) -> Self {
        let shares = i64::try_from(shares).unwrap_or(i64::MAX).max(1);
        let mut share = self.clone();
        share.steady.level /= shares;
        share.spent = Spent::default();
        share
    }

    /// Milliseconds until the level is above zero; 0 if it is now.
    pub fn wait_millis(&mut self, priority: Priority, now_millis: u64) -> u64 {
        self.flow(now_millis);
        let peak = self.peak.as_ref().map_or(0, |meter| meter.wait_millis(priority));
        self.steady.wait_millis(priority).max(peak)
    }

    /// Takes a charge; a negative one is a refund.
    pub fn take(&mut self, charge: Micros, now_millis: u64) {
        self.flow(now_millis);
        self.steady.level = self.steady.level.saturating_sub(charge);
        if let Some(peak) = &mut self.peak {
            peak.level = peak.level.saturating_sub(charge);
        }
        self.spent.now = self.spent.now.saturating_add(charge);
    }

    /// Whether it has been unused for so long that it equals a new one.
    pub fn is_full(&mut self, now_millis: u64) -> bool {
        self.flow(now_millis);
        self.steady.level >= self.steady.full
    }

    /// The maximum taken in this second or the previous one, in whole units, rounded up.
    pub fn busiest_units(&mut self, now_millis: u64) -> u64 {
        self.flow(now_millis);
        let most = self.spent.now.max(self.spent.before).max(0);
        (most as u64).div_ceil(MICROS_PER_UNIT as u64)
    }

    fn flow(&mut self, now_millis: u64) {
        let passed = i64::try_from(now_millis.saturating_sub(self.at_millis)).unwrap_or(i64::MAX);
        self.at_millis = self.at_millis.max(now_millis);
        self.steady.flow(passed);
        if let Some(peak) = &mut self.peak {
            peak.flow(passed);
        }
        self.spent.turn(self.at_millis / MILLIS_PER_SECOND as u64);
    }
}

impl Meter {
    fn flow(&mut self, millis: i64) {
        let came = self.per_milli.saturating_mul(millis);
        self.level = self.level.saturating_add(came).min(self.full);
    }

    fn wait_millis(&self, priority: Priority) -> u64 {
        let floor = match priority {
            Priority::High => 0,
            Priority::Low => self.per_milli * RESERVED_MILLIS,
        };
        if self.level > floor { 0 } else { (floor.saturating_sub(self.level) / self.per_milli) as u64 + 1 }
    }
}

impl Spent {
    fn turn(&mut self, second: u64) {
        match second.saturating_sub(self.second) {
            0 => return,
            1 => self.before = self.now,
            _ => self.before = 0,
        }
        (self.second, self.now) = (second, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const UNIT: Micros = MICROS_PER_UNIT;

    fn high(bucket: &mut Bucket, now: u64) -> u64 {
        bucket.wait_millis(Priority::High, now)
    }

    #[test]
    fn a_second_of_units_is_there_and_then_debt_delays_the_next() {
        let mut bucket = Bucket::new(Rate::steady(400, 1), 0);
        bucket.take(399 * UNIT, 0);
        assert_eq!(high(&mut bucket, 0), 0);
        bucket.take(401 * UNIT, 0);
        assert_eq!(high(&mut bucket, 0), 1001, "400 are owed, and there must be more than none");
        assert_eq!(high(&mut bucket, 1000), 1);
        assert_eq!(high(&mut bucket, 1001), 0);
    }

    #[test]
    fn without_saving_idle_time_is_worth_one_second() {
        let mut bucket = Bucket::new(Rate::steady(400, 1), 0);
        bucket.take(400 * UNIT, 3_600_000);
        assert!(high(&mut bucket, 3_600_000) > 0);
    }

    #[test]
    fn saved_units_last_300_seconds_and_are_spent_at_3000_a_second() {
        let mut bucket = Bucket::new(Rate::saving(100, 1), 0);
        let mut served_in = |now: u64| {
            let mut served = 0;
            while high(&mut bucket, now) == 0 {
                bucket.take(100 * UNIT, now);
                served += 100;
            }
            served
        };
        // 30,000 are saved, as on the service, and 100 per second flow in meanwhile.
        let served: Vec<i64> = (300..313).map(|second| served_in(second * 1000)).collect();
        assert_eq!(served, [vec![3000; 10], vec![1000, 100, 100]].concat());
    }

    #[test]
    fn a_share_of_3000_or_more_saves_nothing() {
        assert_eq!(Rate::saving(3000, 1), Rate::steady(3000, 1));
        assert_ne!(Rate::saving(6000, 3), Rate::steady(6000, 3));
        assert_eq!(Rate::steady(6000, 3).units(), 2000);
    }

    #[test]
    fn low_priority_is_throttled_first() {
        let mut bucket = Bucket::new(Rate::steady(400, 1), 0);
        bucket.take(250 * UNIT, 0);
        assert_eq!(high(&mut bucket, 0), 0);
        let wait = bucket.wait_millis(Priority::Low, 0);
        assert_eq!((wait, bucket.wait_millis(Priority::Low, wait)), (126, 0));
    }

    #[test]
    fn more_throughput_pays_a_debt_faster_and_less_keeps_no_more_than_fits() {
        let mut bucket = Bucket::new(Rate::steady(400, 1), 0);
        bucket.take(4400 * UNIT, 0);
        assert_eq!(high(&mut bucket, 0), 10_001);
        bucket.follow(Rate::steady(4000, 1), 0);
        assert_eq!(high(&mut bucket, 0), 1001);
        let mut rich = Bucket::new(Rate::steady(4000, 1), 0);
        rich.follow(Rate::steady(400, 1), 0);
        rich.take(400 * UNIT, 0);
        assert_eq!(high(&mut rich, 0), 1);
    }

    #[test]
    fn a_clock_that_goes_back_gives_nothing() {
        let mut bucket = Bucket::new(Rate::steady(400, 1), 10_000);
        bucket.take(400 * UNIT, 10_000);
        assert_eq!(high(&mut bucket, 5_000), 1);
        assert_eq!(high(&mut bucket, 10_000), 1);
        assert_eq!(high(&mut bucket, u64::MAX), 0);
    }

    #[test]
    fn the_busiest_second_is_remembered_for_one_more() {
        let mut bucket = Bucket::new(Rate::steady(4000, 1), 0);
        bucket.take(700 * UNIT + 1, 500);
        assert_eq!(bucket.busiest_units(999), 701);
        bucket.take(20 * UNIT, 1200);
        assert_eq!(bucket.busiest_units(1999), 701);
        assert_eq!(bucket.busiest_units(2000), 20);
        assert_eq!(bucket.busiest_units(9000), 0);
    }

    #[test]
    fn a_bucket_that_is_divided_divides_what_is_in_it() {
        let mut bucket = Bucket::new(Rate::steady(6000, 1), 0);
        bucket.take(12_000 * UNIT, 0);
        let mut half = bucket.share(2);
        half.follow(Rate::steady(12_000, 2), 0);
        assert_eq!(high(&mut half, 0), 501);
    }

    /// A request or a change of throughput, with the milliseconds since the previous one.
    #[derive(Clone, Debug)]
    enum Event {
        Ask { charge: Micros, priority: Priority },
        Change { units: u64, saves: bool },
    }

    fn rate(units: u64, saves: bool) -> Rate {
        if saves { Rate::saving(units, 1) } else { Rate::steady(units, 1) }
    }

    fn event() -> impl Strategy<Value = (u64, Event)> {
        let gap = prop_oneof![Just(0u64), 0u64..50, 0u64..2000, 0u64..400_000];
        let priority = prop_oneof![Just(Priority::High), Just(Priority::Low)];
        let ask =
            (0i64..2_000 * UNIT, priority).prop_map(|(charge, priority)| Event::Ask { charge, priority });
        let change = (4u64..60, any::<bool>())
            .prop_map(|(hundreds, saves)| Event::Change { units: hundreds * 100, saves });
        (gap, prop_oneof![9 => ask, 1 => change])
    }

    proptest! {
        /// The invariant: over any window, at most the inflow, a full bucket and one request are served.
        #[test]
        fn no_window_serves_more_than_its_flow_a_full_bucket_and_one_request(
            first in (4u64..60, any::<bool>()), events in proptest::collection::vec(event(), 1..80),
        ) {
            let mut now = 0;
            let mut current = rate(first.0 * 100, first.1);
            let mut bucket = Bucket::new(current, now);
            let mut fullest = current.steady_meter().full;
            // The inflow until each served request, and its charge.
            let (mut flowed, mut served, mut largest) = (0i64, Vec::new(), 0);
            for (gap, event) in events {
                now += gap;
                flowed += current.per_milli * gap as i64;
                match event {
                    Event::Change { units, saves } => {
                        current = rate(units, saves);
                        bucket.follow(current, now);
                        fullest = fullest.max(current.steady_meter().full);
                    }
                    Event::Ask { charge, priority } => {
                        if bucket.wait_millis(priority, now) == 0 {
                            bucket.take(charge, now);
                            served.push((flowed, charge));
                            largest = largest.max(charge);
                        }
                    }
                }
            }
            for (from, (start, _)) in served.iter().enumerate() {
                let mut sum = 0;
                for (end, charge) in &served[from..] {
                    sum += charge;
                    prop_assert!(sum <= end - start + fullest + largest, "{sum} served");
                }
            }
        }

        /// The retry time is sufficient without competing requests, and one millisecond less is not.
        #[test]
        fn the_told_wait_is_exact(
            units in 4u64..60, saves in any::<bool>(), debt in 0i64..20_000 * UNIT, low in any::<bool>(),
        ) {
            let priority = if low { Priority::Low } else { Priority::High };
            let mut bucket = Bucket::new(rate(units * 100, saves), 0);
            bucket.take(debt, 0);
            let wait = bucket.wait_millis(priority, 0);
            if wait > 0 {
                prop_assert_eq!(bucket.clone().wait_millis(priority, wait - 1), 1);
            }
            prop_assert_eq!(bucket.wait_millis(priority, wait), 0);
        }
    }
}
