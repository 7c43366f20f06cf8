//! `orrery check`: goes through a data folder that no server holds, and says where its rows disagree.
//!
//! It opens the folder as `serve` does, checks of its end included, reads every file of tables against its checksum, follows
//! the log from the first entry that was not trimmed, and writes nothing of its own.

use crate::limits;
use crate::schema_check;
use crate::spaces::SPACES;
use clap::Args;
use orrery_cli::terminal;
use orrery_core::Lsn;
use orrery_documents::catalog::{Catalog, Container};
use orrery_documents::index::{self, Checked, LogOwners};
use orrery_kv::{Db, Read, Sync};
use orrery_kv_fjall::{FjallEngine, Folder, NoteCopy, Options, read_copies};
use orrery_tables::{changes, sweep, table};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

#[derive(Args)]
pub struct CheckFlags {
    /// The data folder of a server that is stopped
    data: PathBuf,
    /// Also hold every item against the schema of its container, and name those that do not match
    #[arg(long)]
    schemas: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Prints what it finds, a line each; the exit code is 1 if that is anything.
pub fn check(flags: &CheckFlags) -> Result<ExitCode, String> {
    let mut report = Report::default();
    let db = open(&flags.data, &mut report)?;
    let snapshot = db.snapshot();
    let catalog = Catalog::default().refreshed(&*snapshot).map_err(|error| error.to_string())?;
    report.read(&*snapshot, db.durable_lsn(), &catalog);
    let mut told = Told { is_json: flags.json, mismatches: Vec::new() };
    report.lines.iter().for_each(|line| told.line(line));
    told.line(&report.summary());
    let mismatched = if flags.schemas { check_schemas(&*snapshot, &catalog, &mut told)? } else { 0 };
    let is_well = report.lines.is_empty() && mismatched == 0;
    if flags.json {
        terminal::print_json(&json!({
            "agrees": is_well,
            "containers": report.containers, "items": report.items, "indexEntries": report.entries,
            "faults": report.lines, "itemsMismatched": mismatched, "mismatches": told.mismatches,
        }))?;
    }
    Ok(if is_well { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Prints lines as they come, or keeps the first of them for JSON.
struct Told {
    is_json: bool,
    mismatches: Vec<String>,
}

impl Told {
    /// Nobody may be reading it.
    fn line(&self, line: &str) {
        if !self.is_json {
            let _ = terminal::print(&format!("{line}\n"));
        }
    }

    fn mismatch(&mut self, line: String) {
        self.line(&line);
        if self.is_json && self.mismatches.len() < limits::CHECK_MISMATCHES_MAX {
            self.mismatches.push(line);
        }
    }
}

/// How many items do not match the schemas of their containers; each is told.
fn check_schemas(state: &dyn Read, catalog: &Catalog, told: &mut Told) -> Result<u64, String> {
    let (mut containers, mut mismatched) = (0, 0);
    for container in catalog.all_containers().filter(|container| container.schemas().is_some()) {
        containers += 1;
        let checked = schema_check::check_items(state, container, |line| told.mismatch(line));
        mismatched += checked.map_err(|error| format!("{}: {error}", container.path()))?;
    }
    let plural = |count: u64| if count == 1 { "" } else { "s" };
    let has = format!("{containers} container{} with a schema", plural(containers));
    told.line(&match mismatched {
        0 => format!("every item matches: {has}"),
        count => format!("{count} item{} not matching in {has}", plural(count)),
    });
    Ok(mismatched)
}

/// A folder that is not there is a mistake, and none is made. Reports what is wrong with files that did not keep it from
/// being opened.
fn open(path: &Path, report: &mut Report) -> Result<Db, String> {
    if !path.join("FORMAT").is_file() {
        return Err(format!("{} is not an orrery data folder", path.display()));
    }
    let folder = Folder::open(path).map_err(|error| error.to_string())?;
    if folder.has_two_notes() {
        let copies =
            read_copies(path).map_err(|error| format!("the notes of promises cannot be read: {error}"))?;
        let harmed = copies.iter().filter(|(_, copy)| !matches!(copy, NoteCopy::Whole(_)));
        report.lines.extend(harmed.map(|(name, copy)| format!("the file {name} {copy}")));
    }
    let engine =
        FjallEngine::open(folder, &SPACES, &Options::default()).map_err(|error| error.to_string())?;
    report.lines.extend(engine.verify().faults);
    Db::open(Box::new(engine), Sync::Data).map_err(|error| error.to_string())
}

/// Tables keep their changes in the log as containers do, under numbers of the same row.
fn log_owners(state: &dyn Read) -> Result<LogOwners, orrery_kv::Error> {
    let swept = sweep::jobs(state)?.into_iter().map(|number| (number, None));
    let mut owners: LogOwners = swept.collect();
    for table in table::all(state)? {
        owners.insert(table.number(), Some(changes::horizon(state, table.number())?));
    }
    Ok(owners)
}

#[derive(Default)]
struct Report {
    containers: u64,
    items: u64,
    entries: u64,
    /// A sentence for each kind of fault of each container.
    lines: Vec<String>,
}

impl Report {
    fn read(&mut self, state: &dyn Read, tip: Lsn, catalog: &Catalog) {
        for container in catalog.all_containers() {
            self.add(container, index::check_container(state, container));
        }
        let tables = match log_owners(state) {
            Ok(tables) => tables,
            Err(error) => return self.lines.push(error.to_string()),
        };
        for findings in [index::check_owners(state, catalog, &tables), index::check_texts(state, &tables)] {
            match findings {
                Ok(findings) => self.lines.extend(findings.iter().map(ToString::to_string)),
                Err(error) => self.lines.push(error.to_string()),
            }
        }
        match index::check_logs(state, tip, &tables) {
            Ok(faults) => self.lines.extend(faults),
            Err(error) => self.lines.push(error.to_string()),
        }
    }

    fn add(&mut self, container: &Container, checked: Result<Checked, orrery_kv::Error>) {
        self.containers += 1;
        match checked {
            Ok(Checked { items, entries, findings }) => {
                self.items += items;
                self.entries += entries;
                let path = container.path();
                self.lines.extend(findings.iter().map(|finding| format!("{path}: {finding}")));
            }
            Err(error) => self.lines.push(format!("{}: {error}", container.path())),
        }
    }

    fn summary(&self) -> String {
        let plural = |count: u64| if count == 1 { "" } else { "s" };
        let Self { containers, items, entries, lines } = self;
        let (many, entry) = (plural(*containers), if *entries == 1 { "entry" } else { "entries" });
        let went =
            format!("{containers} container{many}, {items} item{}, {entries} index {entry}", plural(*items));
        match lines.len() as u64 {
            0 => format!("everything agrees: {went}"),
            count => format!("{count} kind{} of fault in {went}", plural(count)),
        }
    }
}
