//! Creates of items with few and with many indexed values, beside the raw engine with the same puts and PostgreSQL
//! with as many indexes.

use super::holder::Holder;
use super::home::Home;
use super::on_orrery::OnOrrery;
use super::on_postgres::OnPostgres;
use super::scene::Scene;
use super::set::Set;
use super::sets::paths;
use super::workload::{Act, Workload};
use crate::Settings;
use crate::cell::{Cell, Operation, Size};
use crate::error::Error;
use crate::report::{Heading, Report, Row, Target, part_of};
use crate::rounds::{Run, in_turns};
use crate::subjects::{Engine, Style, Subject as _};

const CONNECTIONS: usize = 64;
/// Items that are there before; as many as the engine is filled with.
const ITEMS: u64 = Size::Kb1.set_items();
/// What is indexed of every item besides the paths of its policy: `id` and `_ts`.
const ENTRIES_ALWAYS: usize = 2;
const ENGINE: &str = "engine, threads";

pub fn run(settings: &Settings, report: &mut Report) -> Result<(), Error> {
    for set in [paths::set::<8>(ITEMS), paths::set::<30>(ITEMS)] {
        let name = format!("create-{}-paths", set.indexes.len());
        if settings.wants(&name)
            && let Err(error) = measure(&name, set, settings, report)
        {
            report.leave_out(&format!("{name}: {error}"));
        }
    }
    Ok(())
}

fn measure(name: &str, set: Set, settings: &Settings, report: &mut Report) -> Result<(), Error> {
    let indexed = set.indexes.len();
    let workload = Workload {
        name: name.to_owned(),
        about: format!("1 KB, {indexed} indexed paths, durable, over {CONNECTIONS} connections"),
        set: 0,
        connections: CONNECTIONS,
        act: Act::Create,
        p95: None,
    };
    let scene = Scene::new("creates", vec![set], vec![workload]);
    let (set, workload) = (&scene.sets[0], &scene.workloads[0]);
    let home = Home::open(settings, &scene)?;
    let mut holders: Vec<Box<dyn Holder>> = vec![Box::new(OnOrrery::open(&home, &scene.sets)?)];
    match OnPostgres::open(&home, &scene.sets) {
        Ok(postgres) => holders.push(Box::new(postgres)),
        Err(error) => report.leave_out(&format!("{name}: {error}")),
    }
    let mut engines = engines(settings, indexed + ENTRIES_ALWAYS)?;

    let mut names: Vec<&'static str> = holders.iter().map(|holder| holder.name()).collect();
    names.extend(engines.iter().map(|engine| engine.name()));
    let cell = Cell::new(Operation::Create, Size::Kb1, CONNECTIONS);
    let on_holders =
        holders.iter().map(|holder| -> Run<'_> { Box::new(|span| holder.run(set, workload, span)) });
    let on_engines =
        engines.iter_mut().map(|engine| -> Run<'_> { Box::new(move |span| engine.run(cell, span)) });
    let outcomes = in_turns(on_holders.chain(on_engines).collect(), settings);
    let rows = names.into_iter().zip(outcomes);
    let rows: Vec<Row> = rows.map(|(subject, outcome)| Row { subject, outcome }).collect();

    let target = |name: &str, bound, subject| {
        Target::at_least(&format!("{}, {name}", workload.name), bound, "x").measured(part_of(&rows, subject))
    };
    let targets = vec![
        target("of the engine with the same puts", 0.6, ENGINE),
        target("of PostgreSQL with as many indexes", 1.0, "PostgreSQL"),
    ];
    let heading = Heading { name: workload.name.clone(), about: workload.about.clone(), asked: Vec::new() };
    report.add_seed(heading, rows, targets);
    Ok(())
}

/// Both styles of the engine, filled, whose items have so many entries each.
fn engines(settings: &Settings, entries: usize) -> Result<[Engine; 2], Error> {
    let open = |style| {
        let mut engine = Engine::open(&settings.folder, style, entries)?;
        engine.fill(Size::Kb1)?;
        Ok::<Engine, Error>(engine)
    };
    Ok([open(Style::Threads)?, open(Style::Groups)?])
}
