//! The command line.

use crate::advise::AdviseFlags;
use crate::bench::BenchFlags;
use crate::blueprints::{self, ApplyFlags, InitFlags};
use crate::check::CheckFlags;
use crate::config::{Config, ServeFlags};
use crate::identity::{self, KeysFlags, RoleFlags, TokenFlags};
use crate::migrate::MigrateFlags;
use crate::monitor::verbs::{self, AlertsFlags, CostFlags, TopFlags};
use crate::notify::{self, DoctorFlags, NotifyFlags};
use crate::query::QueryFlags;
use crate::schemas::SchemaFlags;
use crate::{advise, bench, check, logging, migrate, query, schemas, script_worker, serve};
use clap::error::ErrorKind;
use clap::{Parser, Subcommand};
use std::process::ExitCode;

#[derive(Parser)]
#[command(
    name = "orrery",
    version,
    about = "The state layer of an agent platform: a document database that Azure SDKs talk to"
)]
struct Command {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    /// Start the server
    Serve(Box<ServeFlags>),
    /// Ask a running server, or explain a query without one
    Query(Box<QueryFlags>),
    /// Make a running server as a blueprint says: databases, containers, policies
    Apply(Box<ApplyFlags>),
    /// Write a blueprint to begin with
    Init(InitFlags),
    /// Go through the data folder of a stopped server and say whether its rows agree
    Check(CheckFlags),
    /// Say what could be better with the containers of a running server
    Advise(AdviseFlags),
    /// Say what the items of a container must look like
    Schema(SchemaFlags),
    /// Show the busiest containers, partitions and queries of a running server
    Top(TopFlags),
    /// Show what is in trouble on a running server, and what was
    Alerts(AlertsFlags),
    /// Show what the measured use of a month would cost
    Cost(CostFlags),
    /// Copy containers of a running server to another layout while they are used
    Migrate(Box<MigrateFlags>),
    /// Measure a running server with the workloads it was made for
    Bench(BenchFlags),
    /// Send notifications, look after them, try a policy
    Notify(Box<NotifyFlags>),
    /// Go over a running server and say what is wrong with it
    Doctor(Box<DoctorFlags>),
    /// Show the account's keys, or replace one while the server runs
    Keys(KeysFlags),
    /// Say who may do what with bearer tokens
    Role(RoleFlags),
    /// Mint a bearer token for development, which a server on loopback takes
    Token(TokenFlags),
    /// Run scripts for the server that started this
    #[command(hide = true, name = orrery_script::WORKER_VERB)]
    ScriptWorker,
}

/// Runs the verb; the error is a sentence for a person.
pub fn run() -> Result<ExitCode, String> {
    let command = match Command::try_parse() {
        Ok(command) => command,
        // Help and version are not errors; clap prints them and exits with 0.
        Err(shown) if !shown.use_stderr() => shown.exit(),
        Err(error) if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            return Err("say what to do, such as orrery serve; see orrery --help".to_owned());
        }
        Err(error) => return Err(first_sentence(&error.to_string())),
    };
    match command.verb {
        Verb::Serve(flags) => {
            let config = Config::read(*flags)?;
            logging::start(&config)?;
            serve::serve(config).map(|()| ExitCode::SUCCESS)
        }
        Verb::Query(flags) => query::query(*flags).map(|()| ExitCode::SUCCESS),
        Verb::Apply(flags) => blueprints::apply(&flags),
        Verb::Init(flags) => blueprints::init(&flags).map(|()| ExitCode::SUCCESS),
        Verb::Check(flags) => check::check(&flags),
        Verb::Schema(flags) => schemas::schema(&flags).map(|()| ExitCode::SUCCESS),
        Verb::Bench(flags) => bench::bench(&flags),
        Verb::Migrate(flags) => migrate::migrate(&flags),
        Verb::Notify(flags) => notify::notify(&flags),
        Verb::Doctor(flags) => notify::doctor(&flags),
        Verb::Keys(flags) => identity::keys(&flags).map(|()| ExitCode::SUCCESS),
        Verb::Role(flags) => identity::role(&flags).map(|()| ExitCode::SUCCESS),
        Verb::Token(flags) => identity::token(&flags).map(|()| ExitCode::SUCCESS),
        Verb::ScriptWorker => script_worker::work().map(|()| ExitCode::SUCCESS),
        Verb::Top(flags) => verbs::top(&flags).map(|()| ExitCode::SUCCESS),
        Verb::Alerts(flags) => verbs::alerts(&flags),
        Verb::Cost(flags) => verbs::cost(&flags).map(|()| ExitCode::SUCCESS),
        Verb::Advise(flags) => advise::advise(&flags).map(|()| ExitCode::SUCCESS),
    }
}

/// Clap explains over several lines; its first, and where to find more.
fn first_sentence(text: &str) -> String {
    let line =
        text.lines().find(|line| !line.trim().is_empty()).unwrap_or("the command line is not understood");
    format!("{}; see orrery --help", line.trim_start_matches("error: ").trim_end_matches('.'))
}
