//! A commit that does not end is noticed, and the process is stopped with a sentence rather than hanging
//! (upstream issue 257: writes may stick after a kill).

use orrery_core::limits;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::time::{Duration, Instant};

#[derive(Default)]
pub(crate) struct Watchdog(Mutex<State>);

#[derive(Default)]
struct State {
    busy_since: Option<Instant>,
    closed: bool,
}

impl Watchdog {
    pub fn busy(&self) {
        self.with(|state| state.busy_since = Some(Instant::now()));
    }

    pub fn idle(&self) {
        self.with(|state| state.busy_since = None);
    }

    pub fn close(&self) {
        self.with(|state| state.closed = true);
    }

    fn with<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Whether the commit under way has taken longer than any should.
    fn is_stuck(&self, at: Instant) -> bool {
        let busy_max = Duration::from_secs(limits::COMMIT_SECONDS_MAX);
        self.with(|state| state.busy_since.is_some_and(|since| at.duration_since(since) > busy_max))
    }

    /// Looks once a second until closed; calls `on_stuck` when a commit is stuck.
    pub fn run(&self, on_stuck: fn()) {
        while !self.with(|state| state.closed) {
            if self.is_stuck(Instant::now()) {
                on_stuck();
            }
            std::thread::park_timeout(Duration::from_secs(1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_commit_that_takes_too_long_is_stuck() {
        let watchdog = Watchdog::default();
        let later = Instant::now() + Duration::from_secs(limits::COMMIT_SECONDS_MAX + 1);
        assert!(!watchdog.is_stuck(later), "nothing is under way");
        watchdog.busy();
        assert!(!watchdog.is_stuck(Instant::now()));
        assert!(watchdog.is_stuck(later));
        watchdog.idle();
        assert!(!watchdog.is_stuck(later));
    }
}
