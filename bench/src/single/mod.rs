//! What only the server has: one hot partition, its start, its memory, reopening, a second core, the change feed, reading all items.

mod changes;
mod cores;
mod feed;
mod hot;
mod reopen;
mod start;

use crate::Settings;
use crate::error::Error;
use crate::report::Report;
use orrery_testing_client::{Options, dist_binary};

type Measurement = fn(&Settings, &Options, &mut Report) -> Result<(), Error>;

const ALL: [(&str, Measurement); 6] = [
    ("hot", hot::measure),
    ("changes", changes::measure),
    ("feed", feed::measure),
    ("start", start::measure),
    ("cores", cores::measure),
    ("reopen", reopen::measure),
];

pub fn run(settings: &Settings, report: &mut Report) -> Result<(), Error> {
    let binary = match dist_binary() {
        Ok(binary) => binary,
        Err(error) => {
            report.leave_out(&format!("hot, changes, feed, start, cores, reopen: {error}"));
            return Ok(());
        }
    };
    for (name, measure) in ALL {
        if settings.wants(name)
            && let Err(error) = measure(settings, &Options::new(binary.clone()), report)
        {
            report.leave_out(&format!("{name} failed: {error}"));
        }
    }
    Ok(())
}
