//! The thread that runs the stores' background jobs, a round every second and whenever it is woken. When nobody
//! has written for a few seconds it lets the engine move what is in memory to files.

use orrery_core::Lsn;
use orrery_document_store::{EngineError, Jobs, Progress, Store};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

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
/// Without a commit for so long, the store rests in every round.
const QUIET_FOR: Duration = Duration::from_secs(3);

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
        let mut jobs = Jobs::default();
        store.register_jobs(&mut jobs);
        let mut quiet = Quiet::new(store.durable_lsn());
        while !self.state().stopping {
            if needs_restart(store) {
                self.wait();
                continue;
            }
            let round = jobs.round();
            let has_more = matches!(round, Ok(Progress::More));
            self.note(round.err().map(|error| error.to_string()));
            if !has_more {
                quiet.look(store);
                self.wait();
            }
        }
    }

    /// Logs trouble when it begins or changes, not every second.
    fn note(&self, trouble: Option<String>) {
        let mut state = self.state();
        match (&trouble, &state.trouble) {
            (Some(error), before) if before.as_ref() != Some(error) => {
                tracing::warn!(%error, "background work failed");
            }
            (None, Some(_)) => tracing::info!("background work goes on"),
            _ => {}
        }
        state.trouble = trouble;
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

/// Whether the store takes no writes until the process is started again; why was logged when it happened.
fn needs_restart(store: &Store) -> bool {
    matches!(store.commit_failure(), Some(EngineError::Uncertain(_) | EngineError::Halted))
}

/// Since when nobody has written.
struct Quiet {
    lsn: Lsn,
    since: Instant,
}

impl Quiet {
    fn new(lsn: Lsn) -> Self {
        Self { lsn, since: Instant::now() }
    }

    fn look(&mut self, store: &Store) {
        let lsn = store.durable_lsn();
        if lsn != self.lsn {
            *self = Self::new(lsn);
        } else if self.since.elapsed() >= QUIET_FOR
            && let Err(error) = store.rest()
        {
            tracing::warn!(%error, "what is in memory could not be written to files; it stays in the journal");
        }
    }
}
