//! Back-off of failed events (C-40): 30 s, 2 min, 8 min, 32 min and 2 h, each with a fifth of jitter.
//!
//! ```text
//! attempt            1      2      3      4       5       6
//! retryCount after   0      1      2      3       4       5, dead-lettered
//! wait after        30 s   2 min  8 min  32 min  2 h      -
//! ```
//!
//! `retryCount` is the number of retries made. So all five waits are used, and the seed's query never again
//! finds an event that FAILED with a retryCount of 5.

use crate::limits;
use serde::{Deserialize, Serialize};
use std::time::Duration;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct Backoff {
    /// The wait after each failure.
    pub seconds: Vec<u64>,
    /// Jitter, so that events that failed together do not return together.
    pub jitter_percent: u64,
}

impl Default for Backoff {
    fn default() -> Self {
        Self { seconds: vec![30, 120, 480, 1_920, 7_200], jitter_percent: 20 }
    }
}

/// What happens to a failed event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    Again {
        retry_count: u32,
        after: Duration,
    },
    /// It is dead-lettered, with the retryCount that marks it.
    DeadLetter {
        retry_count: u32,
    },
}

impl Backoff {
    /// `failed_before` is the retryCount of an event that has failed before, `None` at its first
    /// failure. `random` is any number; `at_least` is the wait that the provider asked for.
    pub fn next(&self, failed_before: Option<u32>, random: u64, at_least: Option<Duration>) -> Next {
        let retry_count = failed_before.map_or(0, |count| count.saturating_add(1));
        match self.seconds.get(retry_count as usize) {
            Some(seconds) => {
                let after = self.jittered(*seconds, random).max(at_least.unwrap_or_default());
                Next::Again { retry_count, after: after.min(AFTER_MAX) }
            }
            None => Next::DeadLetter { retry_count: limits::NOTIFICATION_RETRIES_MAX as u32 },
        }
    }

    /// Uniform in the interval around the wait.
    fn jittered(&self, seconds: u64, random: u64) -> Duration {
        let millis = seconds.saturating_mul(1_000);
        let most = millis.saturating_mul(self.jitter_percent) / 100;
        Duration::from_millis(millis - most + random % (2 * most + 1))
    }

    pub fn validate(&self) -> Result<(), String> {
        let most = limits::NOTIFICATION_RETRIES_MAX;
        if !(1..=most).contains(&self.seconds.len()) {
            return Err(format!("backoff, seconds has to have 1 to {most} entries, one for each retry"));
        }
        if self.seconds.iter().any(|seconds| !(1..=AFTER_MAX.as_secs()).contains(seconds)) {
            return Err(format!("backoff, seconds: a wait is not from 1 to {}", AFTER_MAX.as_secs()));
        }
        if self.jitter_percent > 50 {
            return Err("backoff, jitterPercent is more than 50".to_owned());
        }
        Ok(())
    }
}

/// The longest wait that a provider may ask for.
const AFTER_MAX: Duration = Duration::from_secs(24 * 60 * 60);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_tried_six_times_in_all() {
        // C-40, B-7, K8.
        let backoff = Backoff { jitter_percent: 0, ..Backoff::default() };
        let mut failed_before = None;
        let mut waits = Vec::new();
        let last = loop {
            match backoff.next(failed_before, 0, None) {
                Next::Again { retry_count, after } => {
                    waits.push((retry_count, after.as_secs()));
                    failed_before = Some(retry_count);
                }
                Next::DeadLetter { retry_count } => break retry_count,
            }
        };
        assert_eq!(waits, [(0, 30), (1, 120), (2, 480), (3, 1_920), (4, 7_200)]);
        assert_eq!(last, 5);
        assert_eq!(backoff.next(Some(u32::MAX), 0, None), Next::DeadLetter { retry_count: 5 });
    }

    #[test]
    fn jitter_is_a_fifth_at_most_and_reaches_both_ends() {
        let backoff = Backoff::default();
        let after = |random| match backoff.next(None, random, None) {
            Next::Again { after, .. } => after.as_millis(),
            Next::DeadLetter { .. } => panic!("the first failure"),
        };
        let all: Vec<u128> = (0..=12_000).map(after).collect();
        assert_eq!((all.iter().min(), all.iter().max()), (Some(&24_000), Some(&36_000)));
        assert!(
            (0..10_000_u64)
                .map(|n| after(n.wrapping_mul(0x9e37_79b9_7f4a_7c15)))
                .all(|ms| (24_000..=36_000).contains(&ms))
        );
    }

    #[test]
    fn a_provider_may_lengthen_a_wait_but_not_shorten_it() {
        // B-6.
        let backoff = Backoff::default();
        let after = |asked: u64| match backoff.next(None, 0, Some(Duration::from_secs(asked))) {
            Next::Again { after, .. } => after.as_secs(),
            Next::DeadLetter { .. } => panic!("the first failure"),
        };
        assert_eq!(after(120), 120);
        assert_eq!(after(1), 24);
        assert_eq!(after(u64::MAX), AFTER_MAX.as_secs());
    }

    #[test]
    fn fewer_waits_dead_letter_sooner_with_the_same_mark() {
        let backoff = Backoff { seconds: vec![1], jitter_percent: 0 };
        assert_eq!(backoff.next(Some(0), 0, None), Next::DeadLetter { retry_count: 5 });
        let check = |backoff: Backoff| assert!(backoff.validate().is_err(), "{backoff:?}");
        check(Backoff { seconds: vec![1; 6], jitter_percent: 0 });
        check(Backoff { seconds: vec![0], jitter_percent: 0 });
        check(Backoff { seconds: vec![1], jitter_percent: 51 });
    }
}
