//! Many writes in one request, and small changes of an item, beside what PostgreSQL has for them.
//!
//! | scene | the server | PostgreSQL |
//! |---|---|---|
//! | `batches-create` | a transactional batch of 100 creates in one partition | a transaction of 100 inserts, sent at once |
//! | `batches-upsert` | a bulk request of 100 upserts in 100 partitions | one statement that upserts 100 rows |
//! | `batches-patch` | a patch: a number incremented, a member set | an UPDATE with `jsonb_set` |
//!
//! Items are those of the matrix, of 1 KB and without an index. Rates are items a second; times are of a request.

mod load;
mod on_orrery;
mod on_postgres;

use crate::Settings;
use crate::cell::Size;
use crate::error::Error;
use crate::report::{Heading, Report, Row, Target, part_of, rate};
use crate::rounds::{Run, in_turns};
use crate::sample::Sample;
use crate::subjects::{Orrery, Postgres, Subject as _};
use orrery_testing_client::{Options, dist_binary};
use std::time::Duration;

/// Items of one request.
const ITEMS: u64 = 100;
const SIZE: Size = Size::Kb1;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scene {
    Create,
    Upsert,
    Patch,
}

impl Scene {
    const ALL: [Self; 3] = [Self::Create, Self::Upsert, Self::Patch];

    const fn name(self) -> &'static str {
        match self {
            Self::Create => "batches-create",
            Self::Upsert => "batches-upsert",
            Self::Patch => "batches-patch",
        }
    }

    const fn about(self) -> &'static str {
        match self {
            Self::Create => "100 creates of one partition in one transaction, 8 connections",
            Self::Upsert => "100 upserts of 100 partitions in one request, 8 connections",
            Self::Patch => "a number incremented and a member set, 64 connections",
        }
    }

    const fn connections(self) -> usize {
        match self {
            Self::Create | Self::Upsert => 8,
            Self::Patch => 64,
        }
    }

    const fn items(self) -> u64 {
        match self {
            Self::Create | Self::Upsert => ITEMS,
            Self::Patch => 1,
        }
    }

    fn targets(self, rows: &[Row]) -> Vec<Target> {
        let beside = Target::at_least(&format!("{}, of PostgreSQL", self.name()), 1.0, "x");
        let mut targets = vec![beside.measured(part_of(rows, "PostgreSQL"))];
        if self == Self::Upsert {
            let fast = Target::at_least("batches-upsert, items", 20_000.0, "/s");
            targets.push(fast.measured(rate(rows, "orrery")));
        }
        targets
    }
}

/// Someone who can do the scenes.
trait Subject {
    fn name(&self) -> &'static str;
    fn run(&mut self, scene: Scene, span: Duration) -> Result<Sample, Error>;
}

pub fn run(settings: &Settings, report: &mut Report) -> Result<(), Error> {
    let scenes: Vec<Scene> = Scene::ALL.into_iter().filter(|scene| settings.wants(scene.name())).collect();
    if scenes.is_empty() {
        return Ok(());
    }
    let mut subjects: Vec<Box<dyn Subject>> = Vec::new();
    match start_orrery(settings) {
        Ok(orrery) => subjects.push(Box::new(orrery)),
        Err(error) => report.leave_out(&format!("batches: orrery: {error}")),
    }
    match start_postgres(settings) {
        Ok(postgres) => subjects.push(Box::new(postgres)),
        Err(error) => report.leave_out(&format!("batches: {error}")),
    }
    for scene in scenes {
        let rows = measure(&mut subjects, scene, settings);
        let (name, about) = (scene.name().to_owned(), scene.about().to_owned());
        let targets = scene.targets(&rows);
        report.add_seed(Heading { name, about, asked: Vec::new() }, rows, targets);
    }
    Ok(())
}

fn start_orrery(settings: &Settings) -> Result<on_orrery::OnOrrery, Error> {
    let mut orrery = Orrery::start(&settings.folder, &Options::new(dist_binary()?))?;
    orrery.fill(SIZE)?;
    on_orrery::OnOrrery::new(orrery)
}

fn start_postgres(settings: &Settings) -> Result<on_postgres::OnPostgres, Error> {
    let mut postgres = Postgres::start(&settings.folder)?;
    postgres.fill(SIZE)?;
    Ok(on_postgres::OnPostgres::new(postgres))
}

fn measure(subjects: &mut [Box<dyn Subject>], scene: Scene, settings: &Settings) -> Vec<Row> {
    let names: Vec<&'static str> = subjects.iter().map(|subject| subject.name()).collect();
    let runs = subjects.iter_mut().map(|subject| -> Run<'_> { Box::new(|span| subject.run(scene, span)) });
    let outcomes = in_turns(runs.collect(), settings).into_iter();
    let outcomes = outcomes.map(|outcome| outcome.times(scene.items() as f64));
    names.into_iter().zip(outcomes).map(|(subject, outcome)| Row { subject, outcome }).collect()
}
