//! The command line.

use crate::built_in_services::ServiceFiles;
use crate::config::{Config, Settings};
use crate::{logging, script_worker, serve};
use anstream::{AutoStream, ColorChoice};
use clap::{CommandFactory as _, Parser, Subcommand};
use orrery_cli::advise::{self, AdviseFlags};
use orrery_cli::bench::{self, BenchFlags};
use orrery_cli::blueprints::{self, ApplyFlags, InitFlags};
use orrery_cli::data::{self, ExportFlags, GetFlags, ImportFlags, LsFlags, PutFlags, RmFlags, ShellFlags};
use orrery_cli::doctor::{self, DoctorFlags};
use orrery_cli::identity::{KeysFlags, RoleFlags, keys, role};
use orrery_cli::manual::{self, CompletionsFlags, ManFlags};
use orrery_cli::migrate::{self, MigrateFlags};
use orrery_cli::monitor::{self, AlertsFlags, CostFlags, TopFlags};
use orrery_cli::query::{self, QueryFlags};
use orrery_cli::schema::{self, SchemaFlags};
use orrery_cli::storage::{self, AccountVerbFlags, QueueFlags, TableFlags};
use orrery_offline::check::{self, CheckFlags};
use orrery_offline::notify::{self, NotifyFlags};
use orrery_offline::token::{self, TokenFlags};
use std::ffi::OsString;
use std::io::Write as _;
use std::process::ExitCode;

#[derive(Parser)]
#[command(
    name = "orrery",
    version,
    about = "Documents, tables and queues in one binary that the Azure SDKs talk to",
    max_term_width = 100
)]
struct Command {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    /// Start the server
    Serve(Box<Settings>),
    /// Run a query on a server, or explain it without one
    Query(Box<QueryFlags>),
    /// List databases, containers or items
    Ls(LsFlags),
    /// Show an item, or the definition of a container
    Get(GetFlags),
    /// Write items
    Put(PutFlags),
    /// Remove an item, a container or a database
    Rm(RmFlags),
    /// Read a file of JSON lines, JSON, CSV or Parquet into a container
    Import(ImportFlags),
    /// Write all items of a container to a file
    Export(ExportFlags),
    /// A prompt for queries and data, with history and completion
    Shell(ShellFlags),
    /// Look at the tables of a storage account, query and write their entities
    Table(Box<TableFlags>),
    /// Look at the queues of a storage account, put and receive messages
    Queue(Box<QueueFlags>),
    /// Add storage accounts to a running server, list them, replace their keys
    Account(Box<AccountVerbFlags>),
    /// Create databases, containers and policies as a blueprint declares them
    Apply(Box<ApplyFlags>),
    /// Write a blueprint to begin with
    Init(InitFlags),
    /// Check the data folder of a stopped server: indexes, sizes, unique keys
    Check(CheckFlags),
    /// Advise on indexes, partitions and large items of a running server
    Advise(AdviseFlags),
    /// Set, show or remove the schema of a container
    Schema(SchemaFlags),
    /// Show the busiest containers, partitions and queries of a running server
    Top(TopFlags),
    /// Show the alerts of a running server; exit code 1 while one fires
    Alerts(AlertsFlags),
    /// Show what the measured use of a month would cost in Azure
    Cost(CostFlags),
    /// Copy containers to another layout or partition key while they are used
    Migrate(Box<MigrateFlags>),
    /// Measure a running server with the workloads of the example blueprints
    Bench(BenchFlags),
    /// Send notifications, look after them, try a policy
    Notify(Box<NotifyFlags>),
    /// Examine a running server and say what is wrong; exit code 1 if anything is
    Doctor {
        #[command(flatten)]
        flags: Box<DoctorFlags>,
        #[command(flatten)]
        files: ServiceFiles,
    },
    /// Show the account's keys, or replace one while the server runs
    Keys(KeysFlags),
    /// Define roles and assign them to those who come with bearer tokens
    Role(RoleFlags),
    /// Mint a bearer token for development, for a server on loopback
    Token(TokenFlags),
    /// Run scripts for the server that started this
    #[command(hide = true, name = orrery_script::WORKER_VERB)]
    ScriptWorker,
    /// Print the completion script of a shell
    Completions(CompletionsFlags),
    /// Print the manual page, or write those of all verbs
    Man(ManFlags),
}

/// Runs the verb; the error is a sentence for a person.
pub fn run() -> Result<ExitCode, String> {
    let command = match Command::try_parse() {
        Ok(command) => command,
        Err(refused) => return Ok(refuse(&refused)),
    };
    let done = |()| ExitCode::SUCCESS;
    match command.verb {
        Verb::Serve(flags) => {
            let config = Config::read(*flags)?;
            logging::start(&config)?;
            serve::serve(config).map(done)
        }
        Verb::Query(flags) => query::query(*flags).map(done),
        Verb::Ls(flags) => data::ls(&flags).map(done),
        Verb::Get(flags) => data::get(&flags).map(done),
        Verb::Put(flags) => data::put(&flags).map(done),
        Verb::Rm(flags) => data::rm(&flags).map(done),
        Verb::Import(flags) => data::import(&flags),
        Verb::Export(flags) => data::export(&flags).map(done),
        Verb::Shell(flags) => data::shell(&flags).map(done),
        Verb::Table(flags) => storage::table(&flags).map(done),
        Verb::Queue(flags) => storage::queue(&flags).map(done),
        Verb::Account(flags) => storage::account(&flags).map(done),
        Verb::Apply(flags) => blueprints::apply(&flags),
        Verb::Init(flags) => blueprints::init(&flags).map(done),
        Verb::Check(flags) => check::check(&flags),
        Verb::Schema(flags) => schema::schema(&flags).map(done),
        Verb::Bench(flags) => bench::bench(&flags),
        Verb::Migrate(flags) => migrate::migrate(&flags),
        Verb::Notify(flags) => notify::notify(&flags),
        Verb::Doctor { flags, files } => doctor::doctor(&flags, files.check()?),
        Verb::Keys(flags) => keys(&flags).map(done),
        Verb::Role(flags) => role(&flags).map(done),
        Verb::Token(flags) => token::token(&flags).map(done),
        Verb::Top(flags) => monitor::top(&flags).map(done),
        Verb::ScriptWorker => script_worker::work().map(done),
        Verb::Alerts(flags) => monitor::alerts(&flags),
        Verb::Cost(flags) => monitor::cost(&flags).map(done),
        Verb::Advise(flags) => advise::advise(&flags).map(done),
        Verb::Completions(flags) => manual::completions::<Command>(&flags).map(done),
        Verb::Man(flags) => manual::man::<Command>(&flags).map(done),
    }
}

/// Prints help, version or what is wrong, as clap words it; the pointer at its end is to the help of the verb.
fn refuse(refused: &clap::Error) -> ExitCode {
    if !refused.use_stderr() {
        let _ = refused.print();
        return ExitCode::SUCCESS;
    }
    let verb = verb_of(&Command::command(), std::env::args_os().skip(1));
    let styled = refused.render();
    let stderr = std::io::stderr();
    let text = match AutoStream::choice(&stderr) {
        ColorChoice::Never => pointed(&styled.to_string(), &verb),
        _ => pointed(&styled.ansi().to_string(), &verb),
    };
    let _ = stderr.lock().write_all(text.as_bytes());
    ExitCode::from(2)
}

/// `orrery notify send`, as far as the arguments name verbs.
fn verb_of(command: &clap::Command, arguments: impl Iterator<Item = OsString>) -> String {
    let (mut at, mut path) = (command, command.get_name().to_owned());
    for argument in arguments {
        let Some(next) = argument.to_str().and_then(|name| at.find_subcommand(name)) else { continue };
        path = format!("{path} {}", next.get_name());
        at = next;
    }
    path
}

/// Clap ends with `For more information, try '--help'.`
fn pointed(text: &str, verb: &str) -> String {
    match text.rfind("For more information") {
        None => text.to_owned(),
        Some(at) => format!("{}For more information, try '{verb} --help'.\n", &text[..at]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn walk(command: &clap::Command, path: &str, visit: &mut impl FnMut(&str, &clap::Command)) {
        visit(path, command);
        for verb in command.get_subcommands().filter(|verb| !verb.is_hide_set()) {
            walk(verb, &format!("{path} {}", verb.get_name()), visit);
        }
    }

    #[test]
    fn every_verb_and_every_flag_has_a_help_text() {
        Command::command().debug_assert();
        let mut blank = Vec::new();
        let mut internal = Vec::new();
        walk(&Command::command(), "orrery", &mut |path, command| {
            let is_blank = |text: Option<&clap::builder::StyledStr>| {
                text.is_none_or(|text| text.to_string().trim().is_empty())
            };
            if is_blank(command.get_about()) {
                blank.push(path.to_owned());
            }
            for argument in command.get_arguments() {
                let help = argument.get_help().map(ToString::to_string).unwrap_or_default();
                if help.trim().is_empty() {
                    blank.push(format!("{path} {}", argument.get_id()));
                }
                if help.to_lowercase().contains("seed") {
                    internal.push(format!("{path} {}", argument.get_id()));
                }
            }
        });
        assert_eq!(blank, Vec::<String>::new(), "without a help text");
        assert_eq!(internal, Vec::<String>::new(), "with words that users do not know");
    }

    /// A script, a page, and a server that runs until it is stopped; programs learn its ports from `--ports-file`.
    const WITHOUT_JSON: [&str; 3] = ["orrery serve", "orrery completions", "orrery man"];

    #[test]
    fn every_verb_can_answer_in_json() {
        let mut without = Vec::new();
        let mut command = Command::command();
        command.build();
        walk(&command, "orrery", &mut |path, command| {
            let is_leaf = command.get_subcommands().next().is_none();
            let is_help = path.split(' ').any(|word| word == "help");
            let has_json = command.get_arguments().any(|argument| argument.get_id() == "json");
            if is_leaf && !is_help && !has_json && !WITHOUT_JSON.contains(&path) {
                without.push(path.to_owned());
            }
        });
        assert_eq!(without, Vec::<String>::new());
    }

    #[test]
    fn the_pointer_is_to_the_help_of_the_verb() {
        let check = |line: &str, expected: &str| {
            let words = line.split(' ').map(OsString::from);
            assert_eq!(verb_of(&Command::command(), words), expected, "{line}");
        };
        check("serv", "orrery");
        check("apply --nonsense", "orrery apply");
        check("notify --json send --user", "orrery notify send");
        let text = "error: x\n\nFor more information, try '--help'.\n";
        assert_eq!(
            pointed(text, "orrery apply"),
            "error: x\n\nFor more information, try 'orrery apply --help'.\n"
        );
    }
}
