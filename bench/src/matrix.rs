//! Every workload on every subject, in interleaved rounds.

use crate::Settings;
use crate::cell::{Cell, Operation, Size};
use crate::error::Error;
use crate::report::{Report, Row};
use crate::rounds::{Run, in_turns};
use crate::subjects::{Bare, Engine, OTHER_BUILD, Orrery, Postgres, Style, Subject};
use orrery_testing_client::{Options, dist_binary};
use std::path::PathBuf;

pub fn run(settings: &Settings, report: &mut Report) -> Result<(), Error> {
    let cells: Vec<Cell> = Cell::all().into_iter().filter(|cell| settings.wants(&cell.to_string())).collect();
    if cells.is_empty() {
        return Ok(());
    }
    let sizes: Vec<Size> =
        Size::ALL.into_iter().filter(|size| cells.iter().any(|cell| cell.size == *size)).collect();
    let mut subjects = start(settings, &sizes, report)?;
    for cell in cells {
        let rows = measure(&mut subjects, cell, settings);
        report.add_cell(cell, rows);
    }
    Ok(())
}

/// All subjects that this machine has, filled. What is missing is said once and left out.
fn start(settings: &Settings, sizes: &[Size], report: &mut Report) -> Result<Vec<Box<dyn Subject>>, Error> {
    let mut subjects: Vec<Box<dyn Subject>> = Vec::new();
    let mut replies = None;
    match dist_binary().map_err(Error::from).and_then(|binary| start_orrery(settings, binary)) {
        Ok(orrery) => {
            replies = Some(orrery.replies()?);
            subjects.push(Box::new(orrery));
        }
        Err(error) => report.leave_out(&format!("orrery: {error}")),
    }
    if replies.is_none() {
        report.leave_out("bare hyper answers replies of our own making, since there are none to imitate");
    }
    subjects.push(Box::new(Bare::start(replies.as_ref())?));
    if let Some(binary) = &settings.beside {
        let other = Orrery::start(&settings.folder, &Options::new(binary.clone()))?;
        subjects.push(Box::new(other.named(OTHER_BUILD)));
    }
    match Postgres::start(&settings.folder) {
        Ok(postgres) => subjects.push(Box::new(postgres)),
        Err(error) => report.leave_out(&error.to_string()),
    }
    for style in [Style::Threads, Style::Groups] {
        subjects.push(Box::new(Engine::open(&settings.folder, style, 0)?));
    }
    // The server was filled already, because its replies were wanted.
    let unfilled = subjects.iter_mut().skip(usize::from(replies.is_some()));
    for subject in unfilled {
        for size in sizes {
            subject.fill(*size)?;
        }
    }
    Ok(subjects)
}

fn start_orrery(settings: &Settings, binary: PathBuf) -> Result<Orrery, Error> {
    let mut orrery = Orrery::start(&settings.folder, &Options::new(binary))?;
    for size in Size::ALL {
        orrery.fill(size)?;
    }
    Ok(orrery)
}

fn measure(subjects: &mut [Box<dyn Subject>], cell: Cell, settings: &Settings) -> Vec<Row> {
    let (mut names, mut runs): (Vec<&'static str>, Vec<Run<'_>>) = (Vec::new(), Vec::new());
    for subject in subjects.iter_mut().filter(|subject| is_meaningful(subject.name(), cell)) {
        names.push(subject.name());
        runs.push(Box::new(move |span| subject.run(cell, span)));
    }
    let rows = names.into_iter().zip(in_turns(runs, settings));
    rows.map(|(subject, outcome)| Row { subject, outcome }).collect()
}

/// Groups differ from threads only where there is something to group.
fn is_meaningful(subject: &str, cell: Cell) -> bool {
    subject != "engine, groups" || (cell.connections > 1 && cell.operation != Operation::Read)
}
