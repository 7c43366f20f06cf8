//! Pins: who reads, so that a file is not removed under a reader.
//!
//! A reader takes a pin, then a snapshot, and finds locations in that. Reclaiming first commits that nothing refers to a file, then
//! begins a new epoch, and removes the file when all pins of earlier epochs are gone: later pins have snapshots without it.

use crate::chunks::Inner;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

#[derive(Default)]
pub(crate) struct Pins(Mutex<State>);

#[derive(Default)]
struct State {
    epoch: u64,
    /// Pins of each epoch that has any.
    held: BTreeMap<u64, usize>,
}

/// What can be located in a snapshot that is taken while this is held can be read for as long as it is held. No file is removed
/// meanwhile, so whoever waits for a slow client gives it up between two pieces, and looks again where the next one is.
pub struct Pin {
    pub(crate) chunks: Arc<Inner>,
    epoch: u64,
}

impl Pins {
    /// Begins a new epoch, and returns the one that ended.
    pub fn advance(&self) -> u64 {
        let mut state = self.state();
        state.epoch += 1;
        state.epoch - 1
    }

    /// Whether no pin of this epoch or an earlier one is held.
    pub fn are_gone(&self, epoch: u64) -> bool {
        self.state().held.keys().next().is_none_or(|oldest| *oldest > epoch)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Pin {
    pub(crate) fn new(chunks: Arc<Inner>) -> Self {
        let epoch = {
            let mut state = chunks.pins.state();
            let epoch = state.epoch;
            *state.held.entry(epoch).or_default() += 1;
            epoch
        };
        Self { chunks, epoch }
    }
}

impl Drop for Pin {
    fn drop(&mut self) {
        let mut state = self.chunks.pins.state();
        let held = state.held.get_mut(&self.epoch).expect("this pin was counted");
        *held -= 1;
        if *held == 0 {
            state.held.remove(&self.epoch);
        }
    }
}
