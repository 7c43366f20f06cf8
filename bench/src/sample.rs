//! The outcome of a run, and what several of them amount to.

use std::time::Duration;

/// One run: how many, in what time, how long each took, and whether all was well.
#[derive(Clone, Debug, Default)]
pub struct Sample {
    pub done: u64,
    pub elapsed: Duration,
    /// Of each operation, in microseconds.
    pub micros: Vec<u32>,
    pub errors: u64,
    pub first_error: Option<String>,
}

/// The runs of one workload on one subject.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    Measured(Median),
    /// A run had errors, so its rate means nothing.
    Failed(String),
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Median {
    /// Operations a second: the median of the runs, and the slowest and fastest.
    pub rate: f64,
    pub rate_min: f64,
    pub rate_max: f64,
    /// Of the run with the median rate.
    pub micros_p50: u32,
    pub micros_p95: u32,
    pub micros_p99: u32,
}

impl Sample {
    pub fn note(&mut self, micros: u32) {
        self.done += 1;
        self.micros.push(micros);
    }

    pub fn fail(&mut self, error: String) {
        self.errors += 1;
        self.first_error.get_or_insert(error);
    }

    /// Joins what ran at the same time.
    pub fn merge(&mut self, other: Self) {
        self.done += other.done;
        self.elapsed = self.elapsed.max(other.elapsed);
        self.micros.extend(other.micros);
        self.errors += other.errors;
        self.first_error = self.first_error.take().or(other.first_error);
    }

    pub fn rate(&self) -> f64 {
        self.done as f64 / self.elapsed.as_secs_f64().max(f64::MIN_POSITIVE)
    }
}

impl Outcome {
    pub fn of(mut samples: Vec<Sample>) -> Self {
        let errors: u64 = samples.iter().map(|sample| sample.errors).sum();
        if errors > 0 {
            let first = samples.into_iter().find_map(|sample| sample.first_error).unwrap_or_default();
            return Self::Failed(format!("{errors} errors; the first: {first}"));
        }
        if samples.iter().all(|sample| sample.done == 0) {
            return Self::Failed("nothing was done".to_owned());
        }
        samples.sort_by(|a, b| a.rate().total_cmp(&b.rate()));
        let rates: Vec<f64> = samples.iter().map(Sample::rate).collect();
        let mut middle = samples.swap_remove(samples.len() / 2).micros;
        middle.sort_unstable();
        Self::Measured(Median {
            rate: median(&rates),
            rate_min: rates[0],
            rate_max: rates[rates.len() - 1],
            micros_p50: percentile(&middle, 50),
            micros_p95: percentile(&middle, 95),
            micros_p99: percentile(&middle, 99),
        })
    }

    /// The same when each operation counts as so many.
    pub fn times(self, count: f64) -> Self {
        match self {
            Self::Measured(median) => Self::Measured(Median {
                rate: median.rate * count,
                rate_min: median.rate_min * count,
                rate_max: median.rate_max * count,
                ..median
            }),
            failed => failed,
        }
    }

    pub fn rate(&self) -> Option<f64> {
        self.measured().map(|median| median.rate)
    }

    pub fn p95_millis(&self) -> Option<f64> {
        self.measured().map(|median| f64::from(median.micros_p95) / 1000.0)
    }

    pub fn micros_p50(&self) -> Option<f64> {
        self.measured().map(|median| f64::from(median.micros_p50))
    }

    fn measured(&self) -> Option<&Median> {
        match self {
            Self::Measured(median) => Some(median),
            Self::Failed(_) => None,
        }
    }
}

/// The middle of numbers in any order; the mean of the two middle ones if there are two. 0 of none.
pub fn median(numbers: &[f64]) -> f64 {
    let mut sorted = numbers.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => 0.0,
        count if count % 2 == 1 => sorted[middle],
        _ => (sorted[middle - 1] + sorted[middle]) / 2.0,
    }
}

fn percentile(sorted: &[u32], percent: usize) -> u32 {
    let at = (sorted.len() * percent).div_ceil(100).saturating_sub(1);
    sorted.get(at).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(done: u64, errors: u64) -> Sample {
        let first_error = (errors > 0).then(|| "status 500".to_owned());
        Sample { done, elapsed: Duration::from_secs(1), micros: vec![done as u32], errors, first_error }
    }

    #[test]
    fn the_median_run_speaks_for_all() {
        let Outcome::Measured(found) = Outcome::of(vec![run(30, 0), run(10, 0), run(20, 0)]) else {
            panic!("three good runs");
        };
        assert_eq!((found.rate, found.rate_min, found.rate_max), (20.0, 10.0, 30.0));
        assert_eq!(found.micros_p50, 20);
    }

    #[test]
    fn an_operation_that_counts_as_many_changes_rates_and_no_times() {
        let Outcome::Measured(found) = Outcome::of(vec![run(10, 0)]).times(100.0) else {
            panic!("a good run");
        };
        assert_eq!(
            (found.rate, found.rate_min, found.rate_max, found.micros_p50),
            (1000.0, 1000.0, 1000.0, 10)
        );
    }

    #[test]
    fn one_error_fails_the_workload() {
        let failed = Outcome::of(vec![run(30, 0), run(10, 1)]);
        assert_eq!(failed, Outcome::Failed("1 errors; the first: status 500".to_owned()));
        assert_eq!(failed.rate(), None);
    }

    #[test]
    fn a_run_that_did_nothing_is_no_measurement() {
        assert!(matches!(Outcome::of(vec![run(0, 0)]), Outcome::Failed(_)));
    }

    #[test]
    fn percentiles_are_of_the_sorted_list() {
        let sorted: Vec<u32> = (1..=200).collect();
        assert_eq!([50, 95, 99].map(|percent| percentile(&sorted, percent)), [100, 190, 198]);
        assert_eq!(percentile(&[], 50), 0);
        assert_eq!(median(&[4.0, 1.0, 3.0, 2.0]), 2.5);
    }
}
