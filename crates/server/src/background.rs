//! The thread that does the store's background work, a round every second and whenever it is woken.

use orrery_store::{Progress, Store};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

#[derive(Default)]
pub struct Background {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    woken: bool,
    stopping: bool,
    trouble: Option<String>,
}

const ROUND_EVERY: Duration = Duration::from_secs(1);

impl Background {
    pub fn wake(&self) {
        self.state().woken = true;
        self.changed.notify_one();
    }

    pub fn stop(&self) {
        self.state().stopping = true;
        self.changed.notify_one();
    }

    /// Why the last round failed, if it did.
    pub fn trouble(&self) -> Option<String> {
        self.state().trouble.clone()
    }

    pub fn run(&self, store: &Store) {
        while !self.state().stopping {
            let round = store.background_round();
            if let Err(error) = &round {
                tracing::warn!(%error, "background work failed; it is tried again");
            }
            let has_more = matches!(round, Ok(Progress::More));
            self.state().trouble = round.err().map(|error| error.to_string());
            if !has_more {
                self.wait();
            }
        }
    }

    fn wait(&self) {
        let state = self.state();
        let idle = |state: &mut State| !state.woken && !state.stopping;
        let (mut state, _) =
            self.changed.wait_timeout_while(state, ROUND_EVERY, idle).unwrap_or_else(PoisonError::into_inner);
        state.woken = false;
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
