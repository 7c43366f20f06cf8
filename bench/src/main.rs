//! The benchmark: the server beside a bare HTTP server, PostgreSQL and its own engine, on this machine, now.
//!
//! ```text
//! cargo run --profile dist -p orrery-bench -- [--quick] [--only NAME] [--keep] [--write]
//! ```
//!
//! [`matrix`] runs the same workloads on every subject in interleaved rounds, so that a noisy minute hits all
//! of them; [`batches`] sends many writes in one request, and patches; [`query`] asks about many items at once, beside
//! PostgreSQL; [`seeds`] does what the seeds do, at their scale and with their indexes; [`procedure`] runs a stored
//! procedure; [`notify`] sends events through the notification service; [`storage`] works with tables and queues, beside Azurite and
//! PostgreSQL; [`single`] measures what only the server has (start, memory, reopening, cores). [`report`] sets each number
//! beside its target. The client is one thread with prebuilt requests, because it shares the cores with what it measures;
//! what it costs is in every subject's number alike.

mod batches;
mod cell;
mod drive;
mod error;
mod item;
mod machine;
mod matrix;
mod notify;
mod procedure;
mod query;
mod report;
mod rounds;
mod sample;
mod seeds;
mod single;
mod storage;
mod subjects;

use clap::{Parser, Subcommand};
use error::Error;
use report::Report;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

/// Measures the server beside what it can be compared with.
#[derive(Clone, Parser)]
pub struct Arguments {
    #[command(subcommand)]
    command: Option<Hidden>,
    /// Fewer, shorter rounds and smaller sets: minutes become seconds, and the numbers rough.
    #[arg(long)]
    quick: bool,
    /// Only measurements whose name contains this, or one of these with commas between: `read`, `create-1kb-c64`,
    /// `batches`, `query`, `seeds`, `growth`, `paths`, `bulk`, `procedure`, `notify`, `tables`, `queues`, `queue-backlog`, `hot`, `changes`, `feed`, `start`, `reopen`, `cores`.
    #[arg(long)]
    only: Option<String>,
    /// Writes bench/RESULTS.md.
    #[arg(long)]
    write: bool,
    /// Where the subjects keep their data; must be on the disk that is to be measured.
    #[arg(long, default_value_os_t = std::env::temp_dir())]
    folder: PathBuf,
    /// Another build of the server, such as the one before a change, that runs the same workloads and queries in turn.
    #[arg(long, value_name = "BINARY")]
    beside: Option<PathBuf>,
    /// Keeps what `seeds` and `growth` load below the folder, and uses what an earlier run kept there.
    #[arg(long)]
    keep: bool,
}

#[derive(Clone, Subcommand)]
enum Hidden {
    /// The bare HTTP server that the server is compared with; started by the benchmark itself.
    #[command(hide = true)]
    Bare { replies: PathBuf, port_file: PathBuf },
}

/// How much is measured.
#[derive(Clone, Debug)]
pub struct Settings {
    pub rounds: usize,
    pub warm_up: Duration,
    pub span: Duration,
    pub starts: usize,
    pub reopen_bytes: u64,
    /// How many items the queries look at.
    pub query_items: u64,
    pub only: Option<String>,
    pub folder: PathBuf,
    pub keep: bool,
    pub quick: bool,
    /// Another build of the server, measured in turn with this one.
    pub beside: Option<PathBuf>,
}

impl Settings {
    fn new(arguments: &Arguments) -> Self {
        let (only, folder, keep) = (arguments.only.clone(), arguments.folder.clone(), arguments.keep);
        let beside = arguments.beside.clone();
        let millis = Duration::from_millis;
        if arguments.quick {
            let (warm_up, span) = (millis(200), millis(700));
            return Self {
                rounds: 3,
                warm_up,
                span,
                starts: 5,
                reopen_bytes: 128 << 20,
                query_items: 20_000,
                only,
                folder,
                keep,
                quick: true,
                beside,
            };
        }
        let (warm_up, span) = (millis(500), millis(2000));
        Self {
            rounds: 5,
            warm_up,
            span,
            starts: 10,
            reopen_bytes: 1 << 30,
            query_items: 100_000,
            only,
            folder,
            keep,
            quick: false,
            beside,
        }
    }

    /// Whether a measurement of this name was asked for.
    pub fn wants(&self, name: &str) -> bool {
        self.only.as_ref().is_none_or(|only| only.split(',').any(|part| name.contains(part)))
    }

    /// What the sizes of the large sets are divided by.
    pub fn tenth(&self) -> u64 {
        if self.quick { 10 } else { 1 }
    }
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let outcome = match &arguments.command {
        Some(Hidden::Bare { replies, port_file }) => subjects::bare_server(replies, port_file),
        None => bench(&arguments),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn bench(arguments: &Arguments) -> Result<(), Error> {
    let settings = Settings::new(arguments);
    let mut report = Report::new(&settings);
    println!("{}", report.machine);
    matrix::run(&settings, &mut report)?;
    batches::run(&settings, &mut report)?;
    query::run(&settings, &mut report)?;
    seeds::run(&settings, &mut report)?;
    procedure::run(&settings, &mut report)?;
    notify::run(&settings, &mut report)?;
    storage::run(&settings, &mut report)?;
    single::run(&settings, &mut report)?;
    println!("{}", report.targets_text());
    if arguments.write {
        let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("RESULTS.md");
        std::fs::write(&path, report.markdown()).map_err(|e| Error::Io("RESULTS.md cannot be written", e))?;
        println!("written to {}", path.display());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_chooses_by_parts_of_names() {
        let settings = |only: &str| Settings::new(&Arguments::parse_from(["bench", "--only", only]));
        assert!(settings("growth").wants("growth-page-1m"));
        assert!(settings("paths,bulk").wants("bulk-load"));
        assert!(!settings("paths,bulk").wants("growth-page-1m"));
    }
}
