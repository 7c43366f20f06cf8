//! Cost limits for evaluating a file: templates and variables can multiply each other.

use crate::limits;
use crate::node::{Fault, Location, fault};
use std::cell::Cell;

/// Counts down across all evaluations for one file.
pub(crate) struct Budget {
    steps: Cell<usize>,
    levels: Cell<usize>,
}

impl Budget {
    pub fn new() -> Self {
        Self { steps: Cell::new(limits::BLUEPRINT_STEPS_MAX), levels: Cell::new(0) }
    }

    /// Charges for a number of values or bytes.
    pub fn spend(&self, at: Location, steps: usize) -> Result<(), Fault> {
        match self.steps.get().checked_sub(steps) {
            Some(left) => {
                self.steps.set(left);
                Ok(())
            }
            None => fault(at, "the file comes to more than is taken; write it with fewer repetitions"),
        }
    }

    /// Runs a step one level deeper. Self-references end here.
    pub fn deeper<T>(&self, at: Location, work: impl FnOnce() -> Result<T, Fault>) -> Result<T, Fault> {
        self.spend(at, 1)?;
        if self.levels.get() == limits::BLUEPRINT_LEVELS_MAX {
            return fault(at, "this refers to itself, or is nested too deep");
        }
        self.levels.set(self.levels.get() + 1);
        let outcome = work();
        self.levels.set(self.levels.get() - 1);
        outcome
    }
}
