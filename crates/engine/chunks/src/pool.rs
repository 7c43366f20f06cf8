//! The files that uploads append to: a few, each with one upload as long as there are enough of them.

use crate::append_file::{AppendFile, Reservation};
use crate::{Error, limits};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

#[derive(Default)]
pub(crate) struct Pool {
    state: Mutex<State>,
    made: Condvar,
}

#[derive(Default)]
struct State {
    open: Vec<Arc<AppendFile>>,
    /// Files that are being made, without the lock.
    making: usize,
}

impl Pool {
    /// Room for a chunk of up to this length, in the file with the fewest uploads.
    pub fn reserve(
        &self,
        length_max: u32,
        bytes_max: u64,
        make: impl Fn() -> Result<Arc<AppendFile>, Error>,
    ) -> Result<Reservation, Error> {
        let mut state = self.state();
        loop {
            state.open.retain(|file| !file.is_sealed());
            let least = state.open.iter().min_by_key(|file| file.streams()).cloned();
            let is_at_limit = state.open.len() + state.making >= limits::OPEN_FILES_MAX;
            match least {
                Some(file) if is_at_limit || file.streams() == 0 => {
                    if let Some(reservation) = file.reserve(length_max, bytes_max) {
                        return Ok(reservation);
                    }
                }
                None if is_at_limit => {
                    state = self.made.wait(state).unwrap_or_else(PoisonError::into_inner);
                }
                _ => state = self.make(state, &make)?,
            }
        }
    }

    /// Makes a file without keeping others waiting.
    fn make<'a>(
        &'a self,
        mut state: MutexGuard<'a, State>,
        make: impl Fn() -> Result<Arc<AppendFile>, Error>,
    ) -> Result<MutexGuard<'a, State>, Error> {
        state.making += 1;
        drop(state);
        let made = make();
        let mut state = self.state();
        state.making -= 1;
        self.made.notify_all();
        state.open.push(made?);
        Ok(state)
    }

    pub fn len(&self) -> usize {
        self.state().open.len()
    }

    /// Lets go of the files that take nothing more.
    pub fn tidy(&self) {
        self.state().open.retain(|file| !file.is_sealed());
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
