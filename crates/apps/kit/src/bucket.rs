//! Rate limits: a token bucket for each key, refilled by the clock.
//!
//! The number of keys is bounded. A full bucket is dropped, since a new one would be identical. When all
//! slots are in use, further keys share one bucket, so inventing names does not yield a fresh one.

use crate::limits;
use orrery_core::Timestamp;
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Whether a token was taken, and the values of the rate-limit headers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Taken {
    pub allowed: bool,
    pub limit: u64,
    pub remaining: u64,
    /// Time until the bucket is full.
    pub reset_after: Duration,
    /// Time until a token is available; zero if one was taken.
    pub retry_after: Duration,
}

pub struct Buckets {
    burst: u64,
    /// Time for one token to be refilled.
    each_micros: u64,
    keys_max: usize,
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    buckets: HashMap<String, Bucket>,
    shared: Bucket,
    swept_at: Timestamp,
}

/// A bucket is represented by the time at which it will be full.
#[derive(Clone, Copy, Default)]
struct Bucket {
    full_at_micros: u64,
}

impl Buckets {
    /// Allows `burst` at once, refilled at `per_second`.
    pub fn new(per_second: f64, burst: u64) -> Self {
        let each_micros = (1e6 / per_second.max(1e-6)) as u64;
        let inner = Mutex::default();
        Self {
            burst: burst.max(1),
            each_micros: each_micros.max(1),
            keys_max: limits::SERVICE_BUCKETS_MAX,
            inner,
        }
    }

    /// Takes a token for the key, if one is available.
    pub fn take(&self, key: &str, now: Timestamp) -> Taken {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(bucket) = inner.buckets.get_mut(key) {
            return bucket.take(self, now);
        }
        if inner.buckets.len() >= self.keys_max {
            inner.sweep(now);
        }
        if inner.buckets.len() >= self.keys_max {
            return inner.shared.take(self, now);
        }
        inner.buckets.entry(key.to_owned()).or_default().take(self, now)
    }
}

impl Inner {
    /// Drops the full buckets; at most once a second, since it scans every key.
    fn sweep(&mut self, now: Timestamp) {
        if now.abs_diff(self.swept_at) < Duration::from_secs(1) {
            return;
        }
        self.swept_at = now;
        let now = micros(now);
        self.buckets.retain(|_, bucket| bucket.full_at_micros > now);
    }
}

impl Bucket {
    fn take(&mut self, rules: &Buckets, now: Timestamp) -> Taken {
        let (each, now) = (rules.each_micros, micros(now));
        let missing = self.full_at_micros.saturating_sub(now);
        let room = each.saturating_mul(rules.burst).saturating_sub(missing);
        let allowed = room >= each;
        let (missing, room) =
            if allowed { (missing.saturating_add(each), room - each) } else { (missing, room) };
        let retry = if allowed { 0 } else { each - room };
        self.full_at_micros = now.saturating_add(missing);
        Taken {
            allowed,
            limit: rules.burst,
            remaining: room / each,
            reset_after: Duration::from_micros(missing),
            retry_after: Duration::from_micros(retry),
        }
    }
}

fn micros(at: Timestamp) -> u64 {
    at.millis().saturating_mul(1000)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> Timestamp {
        Timestamp::from_seconds(1_000_000 + seconds)
    }

    fn remaining(taken: Taken) -> Option<u64> {
        taken.allowed.then_some(taken.remaining)
    }

    #[test]
    fn a_burst_is_allowed_then_one_per_refill() {
        let buckets = Buckets::new(1.0, 3);
        let take = |second| remaining(buckets.take("a", at(second)));
        assert_eq!([take(0), take(0), take(0), take(0)], [Some(2), Some(1), Some(0), None]);
        assert_eq!([take(1), take(1)], [Some(0), None]);
        assert_eq!([take(60), take(60), take(60), take(60)], [Some(2), Some(1), Some(0), None]);
    }

    #[test]
    fn a_refusal_reports_when_to_retry() {
        let buckets = Buckets::new(0.5, 2);
        (0..2).for_each(|_| assert!(buckets.take("a", at(0)).allowed));
        let taken = buckets.take("a", at(1));
        assert_eq!((taken.allowed, taken.limit, taken.remaining), (false, 2, 0));
        assert_eq!(taken.retry_after, Duration::from_secs(1));
        assert_eq!(taken.reset_after, Duration::from_secs(3));
    }

    #[test]
    fn keys_have_separate_buckets() {
        let buckets = Buckets::new(1.0, 3);
        (0..3).for_each(|_| assert!(buckets.take("a", at(0)).allowed));
        assert_eq!(remaining(buckets.take("b", at(0))), Some(2));
    }

    #[test]
    fn surplus_keys_share_a_bucket_and_idle_keys_make_room() {
        let buckets = Buckets { keys_max: 2, ..Buckets::new(1.0, 3) };
        for key in ["a", "b"] {
            assert_eq!(remaining(buckets.take(key, at(0))), Some(2));
        }
        let others = ["c", "d", "e", "f"].map(|key| remaining(buckets.take(key, at(0))));
        assert_eq!(others, [Some(2), Some(1), Some(0), None], "made-up names give no fresh bucket");
        assert_eq!(remaining(buckets.take("g", at(10))), Some(2), "a and b are full again and forgotten");
        assert_eq!(buckets.inner.lock().unwrap().buckets.len(), 1);
    }
}
