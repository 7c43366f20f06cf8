//! So many requests a while, for each key: token buckets that fill again by the clock.
//!
//! The number of keys is bounded. Keys whose bucket is full again are forgotten, since a new one would be the same; when
//! all are in use, further keys share one bucket, so nobody gets a fresh one by making up names.

use orrery_core::Timestamp;
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// What one key may do: `burst` at once, and as many again in every `window`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    pub burst: u32,
    pub window: Duration,
}

/// What is left, as rate-limit headers tell it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allowance {
    pub limit: u32,
    pub remaining: u32,
    /// Until the bucket is full again.
    pub reset: Duration,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taken {
    Allowed(Allowance),
    /// Nothing was taken; one is there after `retry`.
    Denied {
        allowance: Allowance,
        retry: Duration,
    },
}

pub struct Buckets {
    rate: Rate,
    keys_max: usize,
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    buckets: HashMap<String, Bucket>,
    shared: Option<Bucket>,
    swept_at: Timestamp,
}

/// Counted in what is spent, in thousandths of milliseconds of refilling: `spent` goes down by the clock.
#[derive(Clone, Copy)]
struct Bucket {
    /// When it is full again.
    full_at_micros: u64,
}

impl Buckets {
    pub fn new(rate: Rate, keys_max: usize) -> Self {
        Self { rate, keys_max, inner: Mutex::default() }
    }

    /// Takes one for the key, if there is one.
    pub fn take(&self, key: &str, now: Timestamp) -> Taken {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(bucket) = inner.buckets.get_mut(key) {
            return bucket.take(self.rate, now);
        }
        if inner.buckets.len() >= self.keys_max {
            inner.sweep(now);
        }
        let mut bucket = Bucket { full_at_micros: 0 };
        if inner.buckets.len() < self.keys_max {
            let taken = bucket.take(self.rate, now);
            inner.buckets.insert(key.to_owned(), bucket);
            return taken;
        }
        inner.shared.get_or_insert(bucket).take(self.rate, now)
    }

    pub fn rate(&self) -> Rate {
        self.rate
    }
}

impl Inner {
    /// Forgets who has not asked for long enough; once a second at most, since it looks at every key.
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
    /// One token is `window / burst` of refilling.
    fn take(&mut self, rate: Rate, now: Timestamp) -> Taken {
        let (burst, window) = (u64::from(rate.burst.max(1)), rate.window.as_micros() as u64);
        let (each, now) = ((window / burst).max(1), micros(now));
        let spent = self.full_at_micros.saturating_sub(now);
        let room = (each * burst).saturating_sub(spent);
        if room < each {
            let (allowance, retry) = (allowance(rate, 0, spent), Duration::from_micros(each - room));
            return Taken::Denied { allowance, retry };
        }
        let spent = spent + each;
        self.full_at_micros = now + spent;
        Taken::Allowed(allowance(rate, (room - each) / each, spent))
    }
}

fn allowance(rate: Rate, remaining: u64, spent_micros: u64) -> Allowance {
    Allowance { limit: rate.burst, remaining: remaining as u32, reset: Duration::from_micros(spent_micros) }
}

fn micros(at: Timestamp) -> u64 {
    at.millis().saturating_mul(1000)
}

#[cfg(test)]
mod tests {
    use super::*;

    const RATE: Rate = Rate { burst: 3, window: Duration::from_secs(3) };

    fn at(seconds: u64) -> Timestamp {
        Timestamp::from_seconds(1_000_000 + seconds)
    }

    fn remaining(taken: Taken) -> Option<u32> {
        match taken {
            Taken::Allowed(allowance) => Some(allowance.remaining),
            Taken::Denied { .. } => None,
        }
    }

    #[test]
    fn a_burst_is_allowed_and_then_one_each_time_that_one_has_come_back() {
        let buckets = Buckets::new(RATE, 10);
        let take = |second| remaining(buckets.take("a", at(second)));
        assert_eq!([take(0), take(0), take(0), take(0)], [Some(2), Some(1), Some(0), None]);
        assert_eq!([take(1), take(1)], [Some(0), None]);
        assert_eq!([take(60), take(60), take(60), take(60)], [Some(2), Some(1), Some(0), None]);
    }

    #[test]
    fn a_refusal_says_when_to_come_back() {
        let buckets = Buckets::new(RATE, 10);
        (0..3).for_each(|_| drop(buckets.take("a", at(0))));
        let Taken::Denied { allowance, retry } = buckets.take("a", at(0)) else { panic!("it is empty") };
        assert_eq!((allowance.limit, allowance.remaining), (3, 0));
        assert_eq!((retry, allowance.reset), (Duration::from_secs(1), Duration::from_secs(3)));
    }

    #[test]
    fn keys_do_not_take_from_one_another() {
        let buckets = Buckets::new(RATE, 10);
        (0..3).for_each(|_| drop(buckets.take("a", at(0))));
        assert_eq!(remaining(buckets.take("b", at(0))), Some(2));
    }

    #[test]
    fn when_there_are_too_many_keys_the_rest_share_and_idle_ones_make_room() {
        let buckets = Buckets::new(RATE, 2);
        for key in ["a", "b"] {
            assert_eq!(remaining(buckets.take(key, at(0))), Some(2));
        }
        let others = ["c", "d", "e", "f"].map(|key| remaining(buckets.take(key, at(0))));
        assert_eq!(others, [Some(2), Some(1), Some(0), None], "made-up names give no fresh bucket");
        assert_eq!(remaining(buckets.take("g", at(10))), Some(2), "a and b are full again and forgotten");
        assert_eq!(buckets.inner.lock().unwrap().buckets.len(), 1);
    }
}
