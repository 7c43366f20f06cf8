//! The cost limits of matching.

use crate::execute::Host;
use crate::limits;
use std::cell::Cell;

/// Why a match was abandoned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The step limit for one text.
    TooManySteps,
    TooMuchMemory,
    /// The product of text and pattern is too large.
    TooMuchWork,
    /// The step limit for all texts of a page.
    PageSpent,
    /// The query timed out or was cancelled.
    TooLong,
}

/// Steps between two clock checks: about a tenth of a millisecond.
const STEPS_PER_CLOCK_CHECK: u64 = 16 * 1024;
/// Bytes that a look-ahead of unknown length may pass in the time of one step.
const BYTES_PER_STEP: u64 = 256;

/// Counts the steps of one call and of all calls of its page, and checks the clock.
pub struct Meter<'a> {
    steps: Cell<u64>,
    until_clock_check: Cell<u64>,
    page: &'a Cell<u64>,
    host: &'a dyn Host,
}

impl<'a> Meter<'a> {
    pub fn new(page: &'a Cell<u64>, host: &'a dyn Host) -> Self {
        Self { steps: Cell::new(0), until_clock_check: Cell::new(STEPS_PER_CLOCK_CHECK), page, host }
    }

    /// Counts steps.
    #[inline]
    pub fn step(&self, steps: u64) -> Result<(), Stop> {
        let left = self.until_clock_check.get();
        self.steps.set(self.steps.get() + steps);
        if steps < left {
            self.until_clock_check.set(left - steps);
            return Ok(());
        }
        self.check_clock()
    }

    /// Counts bytes that may have been passed: they bring the next clock check forward but are not
    /// steps.
    pub fn scanned(&self, bytes: usize) -> Result<(), Stop> {
        self.pass(bytes as u64 / BYTES_PER_STEP)
    }

    /// Counts the worst case of an automaton, which is usually much faster.
    pub fn work(&self, work: u64) -> Result<(), Stop> {
        self.pass(work / BYTES_PER_STEP)
    }

    fn pass(&self, time: u64) -> Result<(), Stop> {
        let left = self.until_clock_check.get();
        if time < left {
            self.until_clock_check.set(left - time);
            return Ok(());
        }
        self.check_clock()
    }

    fn check_clock(&self) -> Result<(), Stop> {
        self.until_clock_check.set(STEPS_PER_CLOCK_CHECK);
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
