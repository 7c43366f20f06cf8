//! A clock in steps of 100 ns that never gives the same moment twice in a process: for what has its moment as its name.

use crate::{Ticks, Timestamp};
use std::sync::atomic::{AtomicU64, Ordering};

#[derive(Debug, Default)]
pub struct TickClock(AtomicU64);

impl TickClock {
    /// The moment, or the next after the one that was given last.
    pub fn next(&self, now: Timestamp) -> Ticks {
        let now = Ticks::at(now);
        let later = |last: u64| now.max(Ticks::from_count(last).next());
        let update = |last: u64| Some(later(last).count());
        let last = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, update);
        later(last.expect("the update always gives a value"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_never_stands_still_and_follows_the_time() {
        let clock = TickClock::default();
        let now = Timestamp::from_seconds(1_000_000);
        let first = clock.next(now);
        assert_eq!(first, Ticks::at(now));
        assert_eq!(clock.next(now), first.next());
        assert_eq!(clock.next(Timestamp::from_seconds(1)), first.next().next(), "it never goes back");
        let later = Timestamp::from_seconds(1_000_001);
        assert_eq!(clock.next(later), Ticks::at(later));
    }
}
