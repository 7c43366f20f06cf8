//! What matching may cost.

use crate::execute::Host;
use crate::limits;
use std::cell::Cell;

/// Why a match was given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// On one text.
    TooManySteps,
    TooMuchMemory,
    /// The text and the pattern are too large together.
    TooMuchWork,
    /// All texts of a page together.
    PageSpent,
    /// The query has taken too long, or nobody waits for it any more.
    TooLong,
}

/// Steps between two looks at the clock: about a tenth of a millisecond.
const STEPS_PER_LOOK: u64 = 16 * 1024;
/// Bytes that a look ahead of unknown length may pass in the time of a step.
const BYTES_PER_STEP: u64 = 256;

/// The steps of one call, of all calls of its page, and the clock.
pub struct Meter<'a> {
    steps: Cell<u64>,
    until_look: Cell<u64>,
    page: &'a Cell<u64>,
    host: &'a dyn Host,
}

impl<'a> Meter<'a> {
    pub fn new(page: &'a Cell<u64>, host: &'a dyn Host) -> Self {
        Self { steps: Cell::new(0), until_look: Cell::new(STEPS_PER_LOOK), page, host }
    }

    /// Counts steps that were taken.
    #[inline]
    pub fn step(&self, steps: u64) -> Result<(), Stop> {
        let left = self.until_look.get();
        self.steps.set(self.steps.get() + steps);
        if steps < left {
            self.until_look.set(left - steps);
            return Ok(());
        }
        self.look()
    }

    /// Counts bytes that may have been passed: they bring the next look at the clock closer, and are no steps.
    pub fn glance(&self, bytes: usize) -> Result<(), Stop> {
        self.pass(bytes as u64 / BYTES_PER_STEP)
    }

    /// Counts what an automaton may do at most: it is usually much faster.
    pub fn work(&self, work: u64) -> Result<(), Stop> {
        self.pass(work / BYTES_PER_STEP)
    }

    fn pass(&self, time: u64) -> Result<(), Stop> {
        let left = self.until_look.get();
        if time < left {
            self.until_look.set(left - time);
            return Ok(());
        }
        self.look()
    }

    fn look(&self) -> Result<(), Stop> {
        self.until_look.set(STEPS_PER_LOOK);
        if self.steps.get() > limits::REGEX_STEPS_MAX {
            return Err(Stop::TooManySteps);
        }
        if self.page.get() + self.steps.get() > limits::REGEX_PAGE_STEPS_MAX {
            return Err(Stop::PageSpent);
        }
        if self.host.elapsed_ms() > limits::QUERY_MILLIS_MAX {
            return Err(Stop::TooLong);
        }
        Ok(())
    }
}

impl Drop for Meter<'_> {
    fn drop(&mut self) {
        self.page.set(self.page.get() + self.steps.get());
    }
}
