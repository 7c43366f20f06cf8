//! The seeds' workloads at the seeds' scale, beside PostgreSQL with `jsonb` and the indexes that match the container's policy.
//!
//! ```text
//!   sets       what items there are, one file a container; each drawn from its number, so that both hold the same
//!   scene      sets that are there together, and the workloads on them
//!   home       the folder of a scene; with --keep it is found again
//!   holder     orrery over HTTP, PostgreSQL over its socket: both load the sets, answer, and run workloads
//! ```
//!
//! Before a question is measured both answer it, and the answers must agree. The server is loaded without syncing,
//! stopped, and started anew with its defaults; both have put away what they were loaded with before the first round.

mod bulk;
mod creates;
mod draw;
mod fill;
mod growth;
mod holder;
mod home;
mod on_orrery;
mod on_postgres;
mod progress;
mod scene;
mod set;
mod sets;
mod workload;

pub use draw::mix;
pub use fill::fill;
pub use set::{Item, Set};

use crate::Settings;
use crate::error::Error;
use crate::report::{Heading, Report, Row, Target, p95_millis, part_of};
use crate::rounds::{Run, in_turns};
use holder::{Holder, agree};
use home::Home;
use on_orrery::OnOrrery;
use on_postgres::OnPostgres;
use scene::Scene;
use workload::{Act, Workload};

/// A workload and what each holder did of it.
type Measured = (Workload, Vec<Row>);

pub fn run(settings: &Settings, report: &mut Report) -> Result<(), Error> {
    let tenth = settings.tenth();
    let scenes = [
        sets::workflows::scene(tenth),
        sets::memories::scene(tenth),
        sets::metrics::scene(tenth),
        sets::audit::scene(tenth),
        sets::events::scene(tenth),
        sets::notifications::scene(tenth),
        sets::growing::scene(tenth),
    ];
    for mut scene in scenes {
        scene.workloads.retain(|workload| settings.wants(&workload.name));
        if scene.workloads.is_empty() {
            continue;
        }
        if let Err(error) = play(&mut scene, settings, report) {
            report.leave_out(&format!("{}: {error}", scene.name));
        }
    }
    creates::run(settings, report)?;
    bulk::run(settings, report)
}

fn play(scene: &mut Scene, settings: &Settings, report: &mut Report) -> Result<(), Error> {
    let home = Home::open(settings, scene)?;
    let mut holders: Vec<Box<dyn Holder>> = vec![Box::new(OnOrrery::open(&home, &scene.sets)?)];
    match OnPostgres::open(&home, &scene.sets) {
        Ok(postgres) => holders.push(Box::new(postgres)),
        Err(error) => report.leave_out(&format!("{}: {error}", scene.name)),
    }
    compare(&holders, scene)?;
    let mut measured = Vec::new();
    for workloads in scene.workloads.chunks(scene.side_by_side) {
        for (workload, rows) in measure(&holders, scene, workloads, settings) {
            report.add_seed(heading(&workload), rows.clone(), targets(&workload, &rows));
            measured.push((workload, rows));
        }
    }
    growth::judge(&measured, settings, report);
    Ok(())
}

/// Asks every question once before anything is measured.
fn compare(holders: &[Box<dyn Holder>], scene: &mut Scene) -> Result<(), Error> {
    for workload in &mut scene.workloads {
        let set = &scene.sets[workload.set];
        if let Act::Ask(question) = &mut workload.act {
            let agreed = agree(holders, set, question);
            agreed.map_err(|error| Error::Unexpected(format!("{}: {error}", workload.name)))?;
        }
    }
    Ok(())
}

/// Workloads that take turns with each other, each on every holder.
fn measure(
    holders: &[Box<dyn Holder>],
    scene: &Scene,
    workloads: &[Workload],
    settings: &Settings,
) -> Vec<Measured> {
    let mut runs: Vec<Run<'_>> = Vec::new();
    for workload in workloads {
        let set = &scene.sets[workload.set];
        runs.extend(
            holders.iter().map(|holder| -> Run<'_> { Box::new(|span| holder.run(set, workload, span)) }),
        );
    }
    let mut outcomes = in_turns(runs, settings).into_iter();
    let mut rows = || {
        let outcomes = holders.iter().zip(&mut outcomes);
        outcomes.map(|(holder, outcome)| Row { subject: holder.name(), outcome }).collect()
    };
    workloads.iter().map(|workload| (workload.clone(), rows())).collect()
}

fn heading(workload: &Workload) -> Heading {
    Heading { name: workload.name.clone(), about: workload.about.clone(), asked: workload.asked() }
}

fn targets(workload: &Workload, rows: &[Row]) -> Vec<Target> {
    let beside = Target::at_least(&format!("{}, of PostgreSQL", workload.name), 1.0, "x");
    let own = workload.target(p95_millis(rows, "orrery"));
    own.into_iter().chain([beside.measured(part_of(rows, "PostgreSQL"))]).collect()
}
