//! Reading all items of a container over one connection: in the order of creation below the limit, in the order of keys
//! above it (ADR 32).
//!
//! What is expected: by key an item is a step of a scan and a copy of its text; by creation it is a lookup more, as the
//! index's rows by number tell where each item is.

use crate::Settings;
use crate::cell::Size;
use crate::error::Error;
use crate::report::Report;
use crate::subjects::HttpLoad;
use orrery_documents::limits;
use orrery_testing_client::{Options, ServerProcess};
use serde_json::json;
use std::time::Instant;
use tempfile::TempDir;

pub fn measure(settings: &Settings, options: &Options, report: &mut Report) -> Result<(), Error> {
    let most = limits::INSERTION_ORDER_ITEMS_MAX;
    let orders = [("order of creation", most), ("order of keys", most + most / 10)];
    let mut subjects = Vec::new();
    for (name, count) in orders {
        let folder = TempDir::with_prefix_in("orrery-bench-", &settings.folder);
        let folder = folder.map_err(|e| Error::Io("no folder", e))?;
        let server = ServerProcess::start(folder.path(), options)?;
        let load = HttpLoad::new(server.cosmos())?;
        load.create_containers_with(&json!({}))?;
        load.fill(Size::Kb1, count)?;
        subjects.push((name, count, load, server, folder));
    }
    let mut rates: Vec<Vec<f64>> = vec![Vec::new(); subjects.len()];
    for _ in 0..settings.rounds {
        for ((_, count, load, ..), rates) in subjects.iter().zip(&mut rates) {
            rates.push(rate(load, *count)?);
        }
    }
    for ((name, count, _, server, _folder), mut rates) in subjects.into_iter().zip(rates) {
        rates.sort_by(f64::total_cmp);
        let median = rates[rates.len() / 2];
        report.say("feed", &format!("all {count} items of 1 KB in the {name}: {median:.0} items/s"));
        server.kill()?;
    }
    Ok(())
}

fn rate(load: &HttpLoad, count: u64) -> Result<f64, Error> {
    let began = Instant::now();
    let found = load.drain_items(Size::Kb1)?;
    let seconds = began.elapsed().as_secs_f64();
    if found != count {
        return Err(Error::Unexpected(format!("the feed has {found} of {count} items")));
    }
    Ok(count as f64 / seconds)
}
