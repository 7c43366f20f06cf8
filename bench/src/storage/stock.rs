//! How many messages wait in the queue that is emptied. So many are put before a run that it does not run dry, and no
//! more, as a long queue is slow for some.

use std::time::Duration;

/// Puts it has ahead of the fastest run so far.
const AHEAD: f64 = 2.0;

#[derive(Clone, Copy, Debug)]
pub struct Stock {
    left: u64,
    /// Messages a second: of the fastest run, or a guess before there was any.
    rate: f64,
}

impl Stock {
    pub fn new(rate: f64) -> Self {
        Self { left: 0, rate }
    }

    /// How many must be put before a run of that length; they count as put.
    pub fn fill(&mut self, span: Duration) -> u64 {
        let wanted = (self.rate * span.as_secs_f64() * AHEAD) as u64 + 1;
        let missing = wanted.saturating_sub(self.left);
        self.left += missing;
        missing
    }

    pub fn took(&mut self, messages: u64, elapsed: Duration) {
        self.left = self.left.saturating_sub(messages);
        self.rate = self.rate.max(messages as f64 / elapsed.as_secs_f64().max(f64::MIN_POSITIVE));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_finds_twice_what_the_fastest_took() {
        let mut stock = Stock::new(10.0);
        assert_eq!(stock.fill(Duration::from_secs(2)), 41);
        stock.took(40, Duration::from_secs(2));
        assert_eq!(stock.fill(Duration::from_secs(1)), 40);
        assert_eq!(stock.fill(Duration::from_secs(1)), 0);
        stock.took(1, Duration::from_secs(1));
        assert_eq!(stock.fill(Duration::from_secs(1)), 1);
    }
}
