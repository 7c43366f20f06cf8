//! Limits a repeated failure to one log line per second.

use crate::limits;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Admits a line if none was admitted within the last second, and counts the others.
#[derive(Debug, Default)]
pub struct LogLimiter(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    last: Option<Instant>,
    skipped: u64,
}

impl LogLimiter {
    pub const fn new() -> Self {
        Self(Mutex::new(State { last: None, skipped: 0 }))
    }

    /// The number of lines suppressed since the last one, if a line may be written now.
    pub fn admit(&self, now: Instant) -> Option<u64> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let every = Duration::from_secs(limits::LOG_LINE_EVERY_SECONDS);
        if state.last.is_some_and(|last| now.saturating_duration_since(last) < every) {
            state.skipped += 1;
            return None;
        }
        state.last = Some(now);
        Some(std::mem::take(&mut state.skipped))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_line_a_second_counts_the_suppressed_ones() {
        let (limiter, start) = (LogLimiter::new(), Instant::now());
        let at = |millis| limiter.admit(start + Duration::from_millis(millis));
        assert_eq!(at(0), Some(0));
        assert_eq!([at(1), at(500), at(999)], [None; 3]);
        assert_eq!(at(1000), Some(3));
        assert_eq!(at(1500), None);
        assert_eq!(at(9000), Some(1));
    }
}
