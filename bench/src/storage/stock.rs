//! How many messages wait in the queue that is emptied. So many are put before a run that it does not run dry, and no
//! more, as a long queue is slow for some.

use std::time::Duration;

/// Puts it has ahead of the fastest run so far.
const AHEAD: f64 = 2.0;

#[derive(Clone, Copy, Debug)]
pub struct Stock {
    left: u64,
    /// Messages a second, before there was a run.
    guess: f64,
    /// Of the fastest run.
    rate: Option<f64>,
}

impl Stock {
    pub fn new(guess: f64) -> Self {
        Self { left: 0, guess, rate: None }
    }

    /// How many must be put before a run of that length; they count as put.
    pub fn fill(&mut self, span: Duration) -> u64 {
        let wanted = (self.rate.unwrap_or(self.guess) * span.as_secs_f64() * AHEAD) as u64 + 1;
        let missing = wanted.saturating_sub(self.left);
        self.left += missing;
        missing
    }

    pub fn took(&mut self, messages: u64, elapsed: Duration) {
        self.left = self.left.saturating_sub(messages);
        let rate = messages as f64 / elapsed.as_secs_f64().max(f64::MIN_POSITIVE);
        self.rate = Some(self.rate.unwrap_or_default().max(rate));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_finds_twice_what_the_fastest_took() {
        let mut stock = Stock::new(30.0);
        assert_eq!(stock.fill(Duration::from_secs(1)), 61);
        stock.took(20, Duration::from_secs(1));
        assert_eq!(stock.fill(Duration::from_secs(1)), 0, "a guess that was too high is forgotten");
        stock.took(40, Duration::from_secs(1));
        assert_eq!(stock.fill(Duration::from_secs(1)), 80);
        stock.took(1, Duration::from_secs(1));
        assert_eq!(stock.fill(Duration::from_secs(1)), 1);
    }
}
