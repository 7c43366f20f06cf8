//! Counters that many threads add to at once and somebody reads now and then.
//!
//! Each thread adds to one of a few copies, each on cache lines of its own, so that threads do not wait for each other's
//! lines; reading adds the copies up. What is read may miss additions that are being made, never loses one.

use super::histogram::{BUCKETS, Histogram, bucket};
use std::cell::Cell;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

/// As many threads as a server has mostly; more share a copy.
const COPIES: usize = 8;

/// The statuses that are told apart; the last stands for all others.
pub const STATUSES: [u16; 19] =
    [200, 201, 204, 207, 304, 400, 401, 403, 404, 405, 408, 409, 410, 412, 413, 429, 500, 503, 0];
const THROTTLED: u16 = 429;

pub struct Series {
    copies: [Copy; COPIES],
}

#[repr(align(128))]
struct Copy {
    statuses: [AtomicU64; STATUSES.len()],
    hundredths: AtomicU64,
    nanos: AtomicU64,
    buckets: [AtomicU64; BUCKETS],
}

/// What a series comes to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// How many requests were answered with each of [`STATUSES`].
    pub statuses: [u64; STATUSES.len()],
    /// Hundredths of a request unit.
    pub hundredths: u64,
    pub latency: Histogram,
}

thread_local! {
    static COPY: Cell<usize> = const { Cell::new(usize::MAX) };
}

/// The copy of this thread: threads are dealt out in the order in which they come.
fn copy() -> usize {
    static DEALT: AtomicUsize = AtomicUsize::new(0);
    COPY.with(|mine| {
        if mine.get() == usize::MAX {
            mine.set(DEALT.fetch_add(1, Ordering::Relaxed) % COPIES);
        }
        mine.get()
    })
}

impl Default for Series {
    fn default() -> Self {
        let zeros = || Copy {
            statuses: std::array::from_fn(|_| AtomicU64::new(0)),
            hundredths: AtomicU64::new(0),
            nanos: AtomicU64::new(0),
            buckets: std::array::from_fn(|_| AtomicU64::new(0)),
        };
        Self { copies: std::array::from_fn(|_| zeros()) }
    }
}

impl Series {
    pub fn add(&self, status: u16, hundredths: u64, elapsed: Duration) {
        let copy = &self.copies[copy()];
        let place = STATUSES.iter().position(|known| *known == status).unwrap_or(STATUSES.len() - 1);
        copy.statuses[place].fetch_add(1, Ordering::Relaxed);
        copy.hundredths.fetch_add(hundredths, Ordering::Relaxed);
        copy.nanos.fetch_add(elapsed.as_nanos() as u64, Ordering::Relaxed);
        copy.buckets[bucket(elapsed)].fetch_add(1, Ordering::Relaxed);
    }

    pub fn totals(&self) -> Totals {
        let mut totals = Totals::default();
        for copy in &self.copies {
            add_all(&mut totals.statuses, &copy.statuses);
            add_all(&mut totals.latency.counts, &copy.buckets);
            totals.hundredths += copy.hundredths.load(Ordering::Relaxed);
            totals.latency.nanos += copy.nanos.load(Ordering::Relaxed);
        }
        totals
    }
}

fn add_all<const N: usize>(sums: &mut [u64; N], counters: &[AtomicU64; N]) {
    sums.iter_mut().zip(counters).for_each(|(sum, counter)| *sum += counter.load(Ordering::Relaxed));
}

impl Totals {
    pub fn requests(&self) -> u64 {
        self.statuses.iter().sum()
    }

    pub fn throttled(&self) -> u64 {
        let counts = STATUSES.iter().zip(&self.statuses);
        counts.filter(|(status, _)| **status == THROTTLED).map(|(_, count)| count).sum()
    }

    pub fn request_units(&self) -> f64 {
        self.hundredths as f64 / 100.0
    }

    pub fn merge(&mut self, other: &Self) {
        self.statuses.iter_mut().zip(&other.statuses).for_each(|(count, more)| *count += more);
        self.hundredths += other.hundredths;
        self.latency.merge(&other.latency);
    }

    /// What came since an earlier look at the same.
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            statuses: std::array::from_fn(|at| self.statuses[at].saturating_sub(earlier.statuses[at])),
            hundredths: self.hundredths.saturating_sub(earlier.hundredths),
            latency: self.latency.since(&earlier.latency),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_threads_add_is_lost() {
        let series = Series::default();
        std::thread::scope(|scope| {
            for thread in 0..12u64 {
                let series = &series;
                scope.spawn(move || {
                    let status = if thread == 0 { 429 } else { 200 };
                    (0..1000).for_each(|_| series.add(status, 105, Duration::from_micros(300)));
                });
            }
        });
        let totals = series.totals();
        assert_eq!((totals.requests(), totals.throttled(), totals.hundredths), (12_000, 1_000, 1_260_000));
        assert_eq!((totals.latency.count(), totals.latency.nanos), (12_000, 3_600_000_000));
        assert_eq!(totals.latency.quantile_millis(0.5), Some(0.315));
    }

    #[test]
    fn a_status_that_nobody_knows_is_counted_among_the_others() {
        let series = Series::default();
        series.add(418, 0, Duration::ZERO);
        assert_eq!(series.totals().statuses[STATUSES.len() - 1], 1);
    }
}
