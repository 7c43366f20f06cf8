//! Loading a million items: how many a second, and how much is written for each byte of them.
//!
//! The server is sent bulk requests over a few connections, and syncs as it does by default. PostgreSQL gets as many
//! items a transaction; and, for what its own way of loading would give, a COPY into the indexed table.

use super::fill::CREATES_A_REQUEST;
use super::home::Home;
use super::on_orrery::OnOrrery;
use super::on_postgres::OnPostgres;
use super::scene::Scene;
use super::set::Set;
use super::sets::paths;
use super::workload::{Act, Workload};
use crate::Settings;
use crate::error::Error;
use crate::machine;
use crate::report::{Report, Target};
use orrery_testing_client::{Options, dist_binary};
use std::path::Path;
use std::time::Instant;

pub const NAME: &str = "bulk-load";
const CONNECTIONS: usize = 8;
const ITEMS: u64 = 1_000_000;

/// What one load came to.
struct Loaded {
    items_a_second: f64,
    /// Bytes written, and bytes in the folder, for each byte of the items' text.
    written: f64,
    stored: f64,
}

pub fn run(settings: &Settings, report: &mut Report) -> Result<(), Error> {
    if !settings.wants(NAME) {
        return Ok(());
    }
    let set = paths::set::<8>(ITEMS / settings.tenth());
    report.say(
        NAME,
        &format!(
            "{} items of 1 KB with {} indexed paths each, {CREATES_A_REQUEST} a request, {CONNECTIONS} connections",
            set.items,
            set.indexes.len()
        ),
    );
    let home = Home::open(settings, &scene(&set))?;
    let ours = on_orrery(&home, &set);
    say(report, "orrery, bulk requests, synced", &ours);
    let theirs = on_postgres(&home, "postgres", &set, |postgres| postgres.insert(&set, CONNECTIONS));
    say(report, "PostgreSQL, a transaction of inserts", &theirs);
    let copied = on_postgres(&home, "postgres-copy", &set, |postgres| postgres.copy(&set));
    say(report, "PostgreSQL, one COPY", &copied);
    let ratio = ours.ok().zip(theirs.ok()).map(|(ours, theirs)| ours.items_a_second / theirs.items_a_second);
    report.target(Target::at_least("bulk-load, of PostgreSQL's inserts", 1.0, "x").measured(ratio));
    Ok(())
}

/// Named for its folder; what is done in it is loading.
fn scene(set: &Set) -> Scene {
    let load = Workload {
        name: NAME.to_owned(),
        about: String::new(),
        set: 0,
        connections: CONNECTIONS,
        act: Act::Create,
        p95: None,
    };
    Scene::new("bulk", vec![set.clone()], vec![load])
}

fn on_orrery(home: &Home, set: &Set) -> Result<Loaded, Error> {
    let folder = home.empty("orrery")?;
    let orrery = OnOrrery::start(&folder, &Options::new(dist_binary()?))?;
    orrery.create_database()?;
    watch(orrery.process_id(), &folder, set, || orrery.fill(set, CONNECTIONS))
}

fn on_postgres(
    home: &Home,
    name: &str,
    set: &Set,
    load: impl FnOnce(&OnPostgres) -> Result<(), Error>,
) -> Result<Loaded, Error> {
    let folder = home.empty(name)?;
    let postgres = OnPostgres::start(&folder)?;
    postgres.create_table(set)?;
    watch(postgres.process_id(), &folder, set, || load(&postgres))
}

/// The rate is of the load alone; what is written afterwards on its account counts as written.
fn watch(
    process: u32,
    folder: &Path,
    set: &Set,
    load: impl FnOnce() -> Result<(), Error>,
) -> Result<Loaded, Error> {
    let (before, stored_before) = (machine::written_bytes(process)?, machine::folder_bytes(folder));
    let began = Instant::now();
    load()?;
    let seconds = began.elapsed().as_secs_f64();
    machine::settle(process)?;
    let bytes = (set.items * set.item(0).text.len() as u64) as f64;
    Ok(Loaded {
        items_a_second: set.items as f64 / seconds,
        written: (machine::written_bytes(process)? - before) as f64 / bytes,
        stored: machine::folder_bytes(folder).saturating_sub(stored_before) as f64 / bytes,
    })
}

fn say(report: &mut Report, who: &str, loaded: &Result<Loaded, Error>) {
    let text = match loaded {
        Err(error) => format!("{who}: FAILED: {error}"),
        Ok(Loaded { items_a_second, written, stored }) => format!(
            "{who}: {items_a_second:.0} items/s; {written:.2} bytes written and {stored:.2} on disk for each byte of items"
        ),
    };
    report.say(NAME, &text);
}
