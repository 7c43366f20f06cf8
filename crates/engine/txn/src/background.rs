//! The loop that runs the background jobs of all stores, a round every second and whenever it is woken. When nobody
//! has written for a few seconds it lets the engine move what is in memory to files.

use crate::{EngineError, Jobs, Progress, TxnManager};
use orrery_core::Lsn;
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
/// Without a commit for so long, the engine rests in every round.
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

    /// Runs on the calling thread until it is stopped.
    pub fn run(&self, txns: &TxnManager, jobs: &Jobs) {
        let mut quiet = Quiet::new(txns.durable_lsn());
        while !self.state().stopping {
            if needs_restart(txns) {
                self.wait();
                continue;
            }
            let round = jobs.round();
            let has_more = matches!(round, Ok(Progress::More));
            self.note(round.err().map(|error| error.to_string()));
            if !has_more {
                quiet.look(txns);
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

/// Whether no writes are taken until the process is started again; why was logged when it happened.
fn needs_restart(txns: &TxnManager) -> bool {
    matches!(txns.commit_failure(), Some(EngineError::Uncertain(_) | EngineError::Halted))
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

    fn look(&mut self, txns: &TxnManager) {
        let lsn = txns.durable_lsn();
        if lsn != self.lsn {
            *self = Self::new(lsn);
        } else if self.since.elapsed() >= QUIET_FOR
            && let Err(error) = txns.rest()
        {
            tracing::warn!(%error, "what is in memory could not be written to files; it stays in the journal");
        }
    }
}
