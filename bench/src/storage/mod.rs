//! Tables and queues, beside Azurite and PostgreSQL.
//!
//! ```text
//! scene        what is done: inserts, reads, pages and groups of entities; puts and completed gets of messages
//! payload      the entity and the message, the same for all
//! request      requests as bytes, signed with the key of the development account
//! on_http      the server and Azurite: one load, as both speak one protocol; azurite gets and starts the latter
//! on_postgres  a table of rows, and a queue as PostgreSQL's users build it
//! backlog      what a get costs when many messages wait
//! ```
//!
//! What an operation is expected to write, with the entity and the message of [`payload`], from the rows of the formats
//! (`docs/formats/tables.md`, `docs/formats/queues.md`):
//!
//! ```text
//!                     rows                                                              bytes    syncs alone
//! insert an entity    the entity (key 25, record 908), its log entry (some 60)          1,000    1
//! group of 100        the same a hundred times, in one commit                           100 kB   1
//! read, page of 100   none                                                              0        0
//! put a message       body (17 + 537), visibility (25 + 29), the count (some 30)        640      1
//! get it              visibility removed (25) and put at another place (54)             80       1
//! delete it           visibility and body removed (42), the count (some 30)             75       1
//! ```
//!
//! So one connection does as many writes a second as the disk does syncs, and 64 share each sync: they are bound by the
//! processor, as creates of items are. A page is bound by the 100 kB that it sends.
//!
//! Azurite is as its users have it: everything in memory, written to files every few seconds, nothing synced.

mod azurite;
mod backlog;
mod courier;
mod entities;
mod on_http;
mod on_postgres;
mod payload;
mod request;
mod scene;
mod stock;

use crate::Settings;
use crate::error::Error;
use crate::report::{Heading, Report, Row};
use crate::rounds::{Run, in_turns};
use crate::sample::Sample;
use crate::subjects::OTHER_BUILD;
use on_http::OnHttp;
use on_postgres::OnPostgres;
use orrery_testing_client::dist_binary;
use scene::Scene;
use std::fmt;
use std::path::Path;
use std::time::Duration;

/// What stands above the results.
pub const ABOUT: &str = "Entities of 1 KB with eight properties, messages of 512 bytes, each request signed (ahead, but \
    for deletes of messages). The server and PostgreSQL answer a write when it is synced; Azurite when it is in memory. \
    Rates of groups are entities a second. Client and subjects share all cores.\n";

/// Someone who has tables and queues.
trait Subject {
    fn name(&self) -> &'static str;

    /// What it has used so far.
    fn spent(&self) -> Result<Spent, Error>;

    /// Makes what a run of the scene uses up.
    fn prepare(&mut self, scene: Scene, span: Duration) -> Result<(), Error>;

    fn run(&mut self, scene: Scene, span: Duration) -> Result<Sample, Error>;
}

pub fn run(settings: &Settings, report: &mut Report) -> Result<(), Error> {
    let scenes: Vec<Scene> =
        Scene::all().into_iter().filter(|scene| settings.wants(&scene.to_string())).collect();
    if !scenes.is_empty() {
        let mut subjects = start(settings, report);
        for scene in scenes {
            let (rows, costs) = measure(&mut subjects, scene, settings);
            let targets = scene.targets(&rows);
            let heading = Heading { name: scene.to_string(), about: scene.about(), asked: Vec::new() };
            report.add_storage(heading, rows, targets);
            report.say(&scene.to_string(), &costs);
        }
    }
    backlog::run(settings, report)
}

/// All that this machine has. What is missing is said once and left out.
fn start(settings: &Settings, report: &mut Report) -> Vec<Box<dyn Subject>> {
    let folder = &settings.folder;
    let mut subjects: Vec<Box<dyn Subject>> = Vec::new();
    let mut take = |name: &str, started: Result<Box<dyn Subject>, Error>| match started {
        Ok(subject) => subjects.push(subject),
        Err(error) => report.leave_out(&format!("tables and queues, {name}: {error}")),
    };
    take("orrery", start_orrery(folder));
    if let Some(binary) = &settings.beside {
        // A build from before there were tables does not know their ports.
        take(OTHER_BUILD, OnHttp::orrery(OTHER_BUILD, folder, binary).and_then(filled));
    }
    take("Azurite", azurite::start(folder).and_then(filled));
    take("PostgreSQL", OnPostgres::start(folder).map(|postgres| -> Box<dyn Subject> { Box::new(postgres) }));
    subjects
}

fn start_orrery(folder: &Path) -> Result<Box<dyn Subject>, Error> {
    OnHttp::orrery("orrery", folder, &dist_binary()?).and_then(filled)
}

fn filled(subject: OnHttp) -> Result<Box<dyn Subject>, Error> {
    subject.fill()?;
    Ok(Box::new(subject))
}

/// Bytes given to the disk, and processor time where it is that of processes which stay.
#[derive(Clone, Copy, Debug, Default)]
struct Spent {
    bytes: u64,
    seconds: Option<f64>,
}

/// What a subject spent in all its runs of a scene.
#[derive(Clone, Copy, Debug, Default)]
struct Cost {
    done: u64,
    spent: Spent,
}

impl Cost {
    fn add(&mut self, done: u64, from: Spent, to: Spent) {
        self.done += done;
        self.spent.bytes += to.bytes - from.bytes;
        let seconds = from.seconds.zip(to.seconds).map(|(from, to)| to - from);
        self.spent.seconds = seconds.map(|seconds| self.spent.seconds.unwrap_or_default() + seconds);
    }
}

impl fmt::Display for Cost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let done = self.done.max(1) as f64;
        write!(f, "{:.0} bytes to the disk", self.spent.bytes as f64 / done)?;
        match self.spent.seconds {
            Some(seconds) => write!(f, " and {:.0} µs of the processor", seconds * 1e6 / done),
            None => Ok(()),
        }
    }
}

/// The rows, and a sentence about what an operation cost each of them.
fn measure(subjects: &mut [Box<dyn Subject>], scene: Scene, settings: &Settings) -> (Vec<Row>, String) {
    let names: Vec<&'static str> = subjects.iter().map(|subject| subject.name()).collect();
    let mut costs = vec![Cost::default(); names.len()];
    let runs = subjects.iter_mut().zip(&mut costs).map(|(subject, cost)| -> Run<'_> {
        Box::new(move |span| {
            subject.prepare(scene, span)?;
            let before = subject.spent()?;
            let sample = subject.run(scene, span)?;
            cost.add(sample.done * scene.items(), before, subject.spent()?);
            Ok(sample)
        })
    });
    let outcomes = in_turns(runs.collect(), settings).into_iter();
    let outcomes = outcomes.map(|outcome| outcome.times(scene.items() as f64));
    let rows = names.iter().zip(outcomes).map(|(subject, outcome)| Row { subject, outcome }).collect();
    let told = names.iter().zip(&costs).map(|(name, cost)| format!("{name} {cost}"));
    (rows, format!("each cost: {}", told.collect::<Vec<_>>().join("; ")))
}
