//! `Env`: the clock and the source of randomness.
//!
//! Only this file reads the system clock. A manual clock stands still until it is moved, so a test passes 30
//! days in a millisecond; a seeded source makes ids reproducible.

use crate::{Guid, Timestamp};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, UNIX_EPOCH};

/// A cheap handle; clones share the clock and the source.
#[derive(Clone, Debug)]
pub struct Env(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    clock: Clock,
    seed: u64,
    drawn: AtomicU64,
}

#[derive(Debug)]
enum Clock {
    System,
    Manual(AtomicU64),
}

/// The operating system supplied no randomness.
#[derive(Debug, thiserror::Error)]
#[error("the operating system gave no randomness: {0}")]
pub struct OsSeed(String);

impl Env {
    /// The system clock, and randomness from the operating system.
    pub fn system() -> Result<Self, OsSeed> {
        Ok(Self::new(Clock::System, os_seed()?))
    }

    /// A clock that stands still at `start`; randomness from the operating system.
    pub fn manual(start: Timestamp) -> Result<Self, OsSeed> {
        Ok(Self::new(Clock::Manual(AtomicU64::new(start.millis())), os_seed()?))
    }

    /// A clock that stands still and reproducible ids: the same seed gives the same sequence.
    pub fn seeded(start: Timestamp, seed: u64) -> Self {
        Self::new(Clock::Manual(AtomicU64::new(start.millis())), seed)
    }

    fn new(clock: Clock, seed: u64) -> Self {
        Self(Arc::new(Inner { clock, seed, drawn: AtomicU64::new(0) }))
    }

    #[expect(clippy::disallowed_methods, reason = "this is the one place that reads the wall clock")]
    pub fn now(&self) -> Timestamp {
        match &self.0.clock {
            Clock::Manual(millis) => Timestamp::from_millis(millis.load(Ordering::Acquire)),
            Clock::System => {
                let since = std::time::SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
                Timestamp::from_millis(since.as_millis() as u64)
            }
        }
    }

    pub fn is_manual(&self) -> bool {
        matches!(self.0.clock, Clock::Manual(_))
    }

    /// Moves a manual clock forward and returns its new time; `None` for the system clock.
    pub fn advance(&self, by: Duration) -> Option<Timestamp> {
        match &self.0.clock {
            Clock::System => None,
            Clock::Manual(millis) => {
                let step = by.as_millis() as u64;
                let before = millis.fetch_add(step, Ordering::AcqRel);
                Some(Timestamp::from_millis(before.saturating_add(step)))
            }
        }
    }

    /// 64 bits that do not repeat within a process and look random. Not for secrets: keys and tokens
    /// use the operating system's randomness.
    pub fn random_u64(&self) -> u64 {
        let n = self.0.drawn.fetch_add(1, Ordering::Relaxed);
        mix(self.0.seed.wrapping_add(n.wrapping_mul(0x9e37_79b9_7f4a_7c15)))
    }

    pub fn random_u128(&self) -> u128 {
        (u128::from(self.random_u64()) << 64) | u128::from(self.random_u64())
    }

    /// A version-4 GUID as text, for activity ids and generated ids.
    pub fn guid(&self) -> String {
        Guid::random(self.random_u128()).as_str().to_owned()
    }

    /// Cryptographic randomness, for keys.
    pub fn secret<const N: usize>() -> Result<[u8; N], OsSeed> {
        let mut bytes = [0; N];
        getrandom::fill(&mut bytes).map_err(|error| OsSeed(error.to_string()))?;
        Ok(bytes)
    }
}

fn os_seed() -> Result<u64, OsSeed> {
    Env::secret().map(u64::from_ne_bytes)
}

/// The finalizer of SplitMix64: a bijection, so distinct inputs stay distinct.
fn mix(mut x: u64) -> u64 {
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manual_clock_moves_only_when_told() {
        let env = Env::seeded(Timestamp::from_seconds(100), 1);
        assert_eq!(env.now(), env.now());
        assert_eq!(env.advance(Duration::from_secs(30)), Some(Timestamp::from_seconds(130)));
        assert_eq!(env.now().seconds(), 130);
    }

    #[test]
    fn the_system_clock_cannot_be_moved() {
        let env = Env::system().expect("randomness");
        assert_eq!(env.advance(Duration::from_secs(1)), None);
    }

    #[test]
    fn a_seed_gives_reproducible_distinct_ids() {
        let draw = |seed| {
            let env = Env::seeded(Timestamp::default(), seed);
            (0..1000).map(|_| env.random_u64()).collect::<Vec<_>>()
        };
        assert_eq!(draw(7), draw(7));
        assert_ne!(draw(7), draw(8));
        let distinct: std::collections::HashSet<u64> = draw(7).into_iter().collect();
        assert_eq!(distinct.len(), 1000);
    }

    #[test]
    fn a_guid_is_version_four() {
        let guid = Env::seeded(Timestamp::default(), 3).guid();
        assert_eq!(guid.len(), 36);
        assert_eq!(guid.as_bytes()[14], b'4');
    }
}
