//! Rounds: A B C A B C …, so that what disturbs the machine for a while disturbs all of them.

use crate::Settings;
use crate::error::Error;
use crate::sample::{Outcome, Sample};
use std::time::Duration;

/// Something that can be measured for a while, and again.
pub type Run<'a> = Box<dyn FnMut(Duration) -> Result<Sample, Error> + 'a>;

/// What the rounds of each amount to. One that fails is not run again.
pub fn in_turns(mut runs: Vec<Run<'_>>, settings: &Settings) -> Vec<Outcome> {
    let mut samples: Vec<Result<Vec<Sample>, Error>> = runs.iter().map(|_| Ok(Vec::new())).collect();
    for round in 0..settings.rounds {
        for (run, samples) in runs.iter_mut().zip(&mut samples) {
            if let Ok(taken) = samples {
                match once(run, round, settings) {
                    Ok(sample) => taken.push(sample),
                    Err(error) => *samples = Err(error),
                }
            }
        }
    }
    let outcome = |samples: Result<Vec<Sample>, Error>| match samples {
        Ok(samples) => Outcome::of(samples),
        Err(error) => Outcome::Failed(error.to_string()),
    };
    samples.into_iter().map(outcome).collect()
}

fn once(run: &mut Run<'_>, round: usize, settings: &Settings) -> Result<Sample, Error> {
    if round == 0 {
        run(settings.warm_up)?;
    }
    run(settings.span)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;

    fn settings() -> Settings {
        let quick = <crate::Arguments as clap::Parser>::parse_from(["bench", "--quick"]);
        Settings { rounds: 2, ..Settings::new(&quick) }
    }

    #[test]
    fn each_has_its_turn_in_every_round_after_a_warm_up_in_the_first() {
        let order = RefCell::new(String::new());
        let run = |name: char| -> Run<'_> {
            let order = &order;
            Box::new(move |_| {
                order.borrow_mut().push(name);
                Ok(Sample { done: 1, elapsed: Duration::from_secs(1), ..Sample::default() })
            })
        };
        in_turns(vec![run('a'), run('b')], &settings());
        assert_eq!(*order.borrow(), "aabbab");
    }

    #[test]
    fn one_that_fails_is_told_and_not_run_again() {
        let mut runs = 0;
        let failing: Run<'_> = Box::new(|_| {
            runs += 1;
            Err(Error::Unexpected("gone".to_owned()))
        });
        assert_eq!(in_turns(vec![failing], &settings()), [Outcome::Failed("gone".to_owned())]);
        assert_eq!(runs, 1);
    }
}
