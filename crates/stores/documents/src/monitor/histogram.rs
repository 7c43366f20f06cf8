//! How long things took, in buckets of which each ends at most 28 % above where it begins.
//!
//! ```text
//! 10 µs, 12.5, 16, 20, 25, 31.5, 40, 50, 63, 80, 100 µs, 125, … 100 s, and whatever is longer
//! ```
//!
//! The bounds are round numbers, so the few that a report names (0.1, 0.25, 0.5, 1 ms, …) are exact. A quantile is the
//! upper bound of the bucket that it lies in: never too small, and too large by less than the bucket is wide.

use std::time::Duration;

const PER_DECADE: [u64; 10] = [100, 125, 160, 200, 250, 315, 400, 500, 630, 800];
const DECADES: usize = 7;
const BOUNDS: usize = PER_DECADE.len() * DECADES + 1;
/// One more than there are bounds, for what is longer than the last.
pub const BUCKETS: usize = BOUNDS + 1;

/// Upper bounds in nanoseconds; what took exactly so long is below.
const BOUNDS_NANOS: [u64; BOUNDS] = bounds();

const fn bounds() -> [u64; BOUNDS] {
    let (mut bounds, mut at, mut unit) = ([0; BOUNDS], 0, 100);
    while at < BOUNDS {
        bounds[at] = PER_DECADE[at % PER_DECADE.len()] * unit;
        at += 1;
        if at.is_multiple_of(PER_DECADE.len()) {
            unit *= 10;
        }
    }
    bounds
}

/// The bounds that reports name, in milliseconds: 0.1 to 10,000.
pub const REPORTED_MILLIS: [f64; 16] = [
    0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 25.0, 50.0, 100.0, 250.0, 500.0, 1_000.0, 2_500.0, 5_000.0, 10_000.0,
];
/// The first of them among all bounds; from there it is the first, the fifth and the eighth of each ten.
const REPORTED_FIRST: usize = PER_DECADE.len();
const REPORTED_STEPS: [usize; 3] = [0, 4, 7];

/// The bucket of what took so long.
pub fn bucket(elapsed: Duration) -> usize {
    let nanos = u64::try_from(elapsed.as_nanos()).unwrap_or(u64::MAX);
    BOUNDS_NANOS.partition_point(|bound| *bound < nanos)
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Histogram {
    pub counts: [u64; BUCKETS],
    /// All of it together.
    pub nanos: u64,
}

impl Default for Histogram {
    fn default() -> Self {
        Self { counts: [0; BUCKETS], nanos: 0 }
    }
}

impl Histogram {
    pub fn add(&mut self, elapsed: Duration) {
        self.counts[bucket(elapsed)] += 1;
        self.nanos = self.nanos.saturating_add(elapsed.as_nanos() as u64);
    }

    pub fn merge(&mut self, other: &Self) {
        self.counts.iter_mut().zip(&other.counts).for_each(|(count, more)| *count += more);
        self.nanos = self.nanos.saturating_add(other.nanos);
    }

    /// What came since an earlier look at the same.
    pub fn since(&self, earlier: &Self) -> Self {
        let counts = std::array::from_fn(|at| self.counts[at].saturating_sub(earlier.counts[at]));
        Self { counts, nanos: self.nanos.saturating_sub(earlier.nanos) }
    }

    pub fn count(&self) -> u64 {
        self.counts.iter().sum()
    }

    pub fn sum_millis(&self) -> f64 {
        self.nanos as f64 / 1e6
    }

    /// What a share of all, such as 0.95, took at most, in milliseconds; `None` of nothing. Beyond the last bound it is
    /// that bound.
    pub fn quantile_millis(&self, share: f64) -> Option<f64> {
        let count = self.count();
        if count == 0 {
            return None;
        }
        let rank = ((share * count as f64).ceil() as u64).clamp(1, count);
        let mut passed = 0;
        let at = self.counts.iter().position(|count| {
            passed += count;
            passed >= rank
        });
        let nanos = BOUNDS_NANOS[at.unwrap_or(BOUNDS).min(BOUNDS - 1)];
        Some(nanos as f64 / 1e6)
    }

    /// How many took at most as long as each of [`REPORTED_MILLIS`] says.
    pub fn reported(&self) -> [u64; REPORTED_MILLIS.len()] {
        let mut passed = 0;
        let below = self.counts.map(|count| {
            passed += count;
            passed
        });
        std::array::from_fn(|at| {
            let decade = at / REPORTED_STEPS.len() * PER_DECADE.len();
            below[REPORTED_FIRST + decade + REPORTED_STEPS[at % REPORTED_STEPS.len()]]
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(nanos: &[u64]) -> Histogram {
        let mut histogram = Histogram::default();
        nanos.iter().for_each(|nanos| histogram.add(Duration::from_nanos(*nanos)));
        histogram
    }

    #[test]
    fn bounds_go_from_ten_microseconds_to_a_hundred_seconds() {
        assert_eq!(
            (BOUNDS_NANOS[0], BOUNDS_NANOS[1], BOUNDS_NANOS[BOUNDS - 1]),
            (10_000, 12_500, 100_000_000_000)
        );
        assert!(BOUNDS_NANOS.windows(2).all(|pair| pair[0] < pair[1] && pair[1] * 100 <= pair[0] * 128));
    }

    #[test]
    fn what_took_exactly_as_long_as_a_reported_bound_is_below_it() {
        for (at, millis) in REPORTED_MILLIS.into_iter().enumerate() {
            let nanos = (millis * 1e6) as u64;
            let counted = |nanos: u64| of(&[nanos]).reported().iter().filter(|below| **below == 1).count();
            assert_eq!(counted(nanos), REPORTED_MILLIS.len() - at, "{millis} ms");
            assert_eq!(counted(nanos + 1), REPORTED_MILLIS.len() - at - 1, "a little more than {millis} ms");
        }
    }

    #[test]
    fn quantiles_of_nothing_are_none_and_of_the_longest_the_last_bound() {
        assert_eq!(of(&[]).quantile_millis(0.95), None);
        assert_eq!(of(&[u64::MAX]).quantile_millis(0.5), Some(100_000.0));
    }

    proptest! {
        /// S1-70: p50, p95 and p99 bound the true ones from above, by less than 28 %.
        #[test]
        fn a_quantile_bounds_the_true_one(
            mut nanos in prop::collection::vec(10_001u64..100_000_000_000, 1..300),
            share in prop_oneof![Just(0.5), Just(0.95), Just(0.99), 0.01f64..1.0],
        ) {
            let told = of(&nanos).quantile_millis(share).expect("there are some") * 1e6;
            nanos.sort_unstable();
            let rank = ((share * nanos.len() as f64).ceil() as usize).clamp(1, nanos.len());
            let exact = nanos[rank - 1] as f64;
            prop_assert!(told >= exact && told < exact * 1.28 + 1.0, "{told} for {exact}");
        }

        #[test]
        fn what_came_since_is_what_was_added(
            before in prop::collection::vec(0u64..1_000_000_000, 0..50),
            after in prop::collection::vec(0u64..1_000_000_000, 0..50),
        ) {
            let mut all = of(&before);
            all.merge(&of(&after));
            prop_assert_eq!(all.since(&of(&before)), of(&after));
            prop_assert_eq!(all.count() as usize, before.len() + after.len());
        }
    }
}
