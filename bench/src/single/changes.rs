//! Draining the change feed: every item of a container over one connection, page by page, in both modes.
//!
//! What is expected: a page has 1000 items of 1 KB, and each costs a step along the log, a lookup of its row and a
//! copy of its text; some 5 µs, and less than that for the megabyte on the wire.

use crate::Settings;
use crate::cell::Size;
use crate::error::Error;
use crate::report::{Report, Target};
use crate::subjects::HttpLoad;
use orrery_testing_client::{Options, ServerProcess};
use std::time::Instant;
use tempfile::TempDir;

pub fn measure(settings: &Settings, options: &Options, report: &mut Report) -> Result<(), Error> {
    let folder = TempDir::with_prefix_in("orrery-bench-", &settings.folder);
    let folder = folder.map_err(|e| Error::Io("no folder", e))?;
    let server = ServerProcess::start(folder.path(), options)?;
    let load = HttpLoad::new(server.cosmos())?;
    load.create_containers()?;
    let (_, begin) = load.drain_changes(Size::Kb1, "Full-Fidelity Feed", Some("*"))?;
    let count = settings.query_items;
    load.fill(Size::Kb1, count)?;
    for (name, mode, after) in [
        ("latest versions", "Incremental Feed", None),
        ("all versions", "Full-Fidelity Feed", Some(begin.as_str())),
    ] {
        let rates: Result<Vec<f64>, Error> =
            (0..settings.rounds).map(|_| rate(&load, mode, after, count)).collect();
        let mut rates = rates?;
        rates.sort_by(f64::total_cmp);
        let median = rates[rates.len() / 2];
        report.say("changes", &format!("{name} of {count} items of 1 KB, drained: {median:.0} items/s"));
        let target = Target::at_least(&format!("change feed, {name}, 1 KB"), 50_000.0, "items/s");
        report.target(target.measured((!settings.quick).then_some(median)));
    }
    server.kill()?;
    Ok(())
}

/// Items a second of one walk through the whole feed, which must have all of them.
fn rate(load: &HttpLoad, mode: &'static str, after: Option<&str>, count: u64) -> Result<f64, Error> {
    let began = Instant::now();
    let (found, _) = load.drain_changes(Size::Kb1, mode, after)?;
    let seconds = began.elapsed().as_secs_f64();
    if found != count {
        return Err(Error::Unexpected(format!("the change feed has {found} of {count} items")));
    }
    Ok(count as f64 / seconds)
}
