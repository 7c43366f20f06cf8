//! 64 writers in one logical partition, beside 64 writers in many.

use crate::Settings;
use crate::cell::{Cell, Operation, Size, Spread};
use crate::error::Error;
use crate::report::{Report, Target};
use crate::sample::{Outcome, Sample};
use crate::subjects::{Orrery, Subject as _};
use orrery_testing_client::Options;

pub fn measure(settings: &Settings, options: &Options, report: &mut Report) -> Result<(), Error> {
    let mut orrery = Orrery::start(&settings.folder, options)?;
    let many = Cell::new(Operation::Create, Size::Kb1, 64);
    let hot = Cell { spread: Spread::OneHot, ..many };
    let mut runs: [Vec<Sample>; 2] = Default::default();
    for round in 0..settings.rounds {
        for (cell, samples) in [many, hot].into_iter().zip(&mut runs) {
            if round == 0 {
                orrery.run(cell, settings.warm_up)?;
            }
            samples.push(orrery.run(cell, settings.span)?);
        }
    }
    let [many, hot] = runs.map(Outcome::of);
    report.say("hot", &format!("creates/s of 1 KB over 64 connections, 4096 partitions: {}", show(&many)));
    report.say("hot", &format!("the same in one partition: {}", show(&hot)));
    let ratio = hot.rate().zip(many.rate()).map(|(hot, many)| hot / many);
    report.target(Target::at_least("one hot partition, of many", 0.5, "x").measured(ratio));
    Ok(())
}

fn show(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Measured(median) => format!("{:.0}", median.rate),
        Outcome::Failed(why) => format!("FAILED: {why}"),
    }
}
