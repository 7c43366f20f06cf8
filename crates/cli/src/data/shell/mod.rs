//! `orrery shell`: a prompt for queries and data verbs, with history and completion.
//!
//! ```text
//! statement   what a line asks for
//! names       what the account has, and what completion offers
//! ```
//!
//! Fed by a pipe it runs line after line without a prompt, and stops at the first that fails.

mod names;
mod statement;

use super::container::{self, Container};
use super::location::Location;
use super::verbs;
use crate::client::{Account, AccountFlags, Remote};
use crate::query::{self, Format};
use crate::terminal;
use clap::Args;
use names::Names;
use rustyline::error::ReadlineError;
use rustyline::history::FileHistory;
use rustyline::{CompletionType, Config, Editor};
use statement::Statement;
use std::io::{BufRead, IsTerminal};
use std::path::PathBuf;
use std::sync::Arc;

#[derive(Args)]
pub struct ShellFlags {
    /// Where to begin: a database or database/container
    #[arg(default_value = "", hide_default_value = true)]
    path: String,
    /// How to print rows; lines when fed by a pipe
    #[arg(long)]
    format: Option<Format>,
    /// Print rows as JSON, one on each line
    #[arg(long, conflicts_with = "format")]
    json: bool,
    #[command(flatten)]
    account: AccountFlags,
}

const LIST_ITEMS_MAX: usize = 100;
const HISTORY_LINES_MAX: usize = 10_000;

const HELP: &str = "\
SELECT …             query the container that is in use; ends where it is complete, or with a semicolon
use PATH             go to database or database/container; .. goes up
ls [PATH]            databases, containers or items
get ID | PATH        show an item, a container or a database
put {\"id\": …}        write an item into the container that is in use
rm ID                remove an item
format table|json|lines
help, exit
";

pub fn shell(flags: &ShellFlags) -> Result<(), String> {
    let is_terminal = std::io::stdin().is_terminal();
    let by_default = if is_terminal { Format::Table } else { Format::Lines };
    let format = if flags.json { Format::Lines } else { flags.format.unwrap_or(by_default) };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| format!("the network cannot be used: {error}"))?;
    let remote = runtime.block_on(container::connect(&flags.account))?;
    let account = flags.account.account()?;
    let mut shell = Shell { runtime, remote, account, at: Location::parse(&flags.path)?, format };
    shell.enter(Location::parse(&flags.path)?)?;
    if is_terminal { shell.interact() } else { shell.run_all(std::io::stdin().lock()) }
}

struct Shell {
    runtime: tokio::runtime::Runtime,
    remote: Arc<Remote>,
    account: Account,
    at: Location,
    format: Format,
}

/// Whether the shell goes on.
#[derive(Debug, PartialEq, Eq)]
enum Next {
    Line,
    Exit,
}

impl Shell {
    fn interact(&mut self) -> Result<(), String> {
        let config = Config::builder()
            .max_history_size(HISTORY_LINES_MAX)
            .and_then(|config| config.history_ignore_dups(true))
            .map_err(|error| error.to_string())?
            .completion_type(CompletionType::List)
            .auto_add_history(true)
            .build();
        let mut editor: Editor<Names, FileHistory> =
            Editor::with_config(config).map_err(|error| format!("the terminal cannot be used: {error}"))?;
        let history = history_file();
        if let Some(path) = &history {
            // The first run has none.
            let _ = editor.load_history(path);
        }
        println!(
            "Orrery at {}. help lists what can be said, Ctrl-D leaves.",
            self.account.host.address.authority()
        );
        loop {
            let names = self.names();
            editor.set_helper(Some(names));
            let line = match editor.readline(&format!("{}> ", self.at)) {
                Ok(line) => line,
                Err(ReadlineError::Interrupted) => continue,
                Err(ReadlineError::Eof) => break,
                Err(error) => return Err(format!("the terminal cannot be read: {error}")),
            };
            match self.run(&line) {
                Ok(Next::Line) => {}
                Ok(Next::Exit) => break,
                Err(sentence) => eprintln!("{sentence}"),
            }
        }
        if let Some(path) = &history {
            let kept = path.parent().map_or(Ok(()), std::fs::create_dir_all);
            let saved = kept.map_err(ReadlineError::Io).and_then(|()| editor.save_history(path));
            saved.map_err(|error| format!("the history cannot be kept in {}: {error}", path.display()))?;
        }
        Ok(())
    }

    /// Statements of a pipe; a query may go over several lines.
    fn run_all(&mut self, input: impl BufRead) -> Result<(), String> {
        let mut text = String::new();
        for line in input.lines() {
            let line = line.map_err(|error| format!("standard input cannot be read: {error}"))?;
            text.push_str(&line);
            if !statement::is_complete(&text) {
                text.push('\n');
                continue;
            }
            if self.run(&std::mem::take(&mut text))? == Next::Exit {
                return Ok(());
            }
        }
        self.run(&text).map(drop)
    }

    fn run(&mut self, text: &str) -> Result<Next, String> {
        let statement = statement::parse(text)?;
        match statement {
            Statement::Nothing => {}
            Statement::Exit => return Ok(Next::Exit),
            Statement::Help => terminal::print(HELP)?,
            Statement::Format(format) => self.format = format,
            Statement::Use(path) => self.enter(statement::resolve(&self.at, &path)?)?,
            Statement::List(path) => {
                let location = statement::resolve(&self.at, &path)?;
                let listed = verbs::list(&self.remote, &location, LIST_ITEMS_MAX, false);
                terminal::print(&self.runtime.block_on(listed)?)?;
            }
            Statement::Get(path) => {
                let location = statement::resolve(&self.at, &path)?;
                terminal::print(&self.runtime.block_on(verbs::show(&self.remote, &location, None))?)?;
            }
            Statement::Put(item) => {
                let (database, name) = self.container()?;
                self.runtime.block_on(async {
                    Container::open(&self.remote, database, name).await?.upsert(&item).await
                })?;
                eprintln!("1 item written");
            }
            Statement::Remove(path) => {
                let location = statement::resolve(&self.at, &path)?;
                if !matches!(location, Location::Item { .. }) {
                    return Err(format!(
                        "{location} is more than an item; leave the shell and use orrery rm"
                    ));
                }
                self.runtime.block_on(verbs::remove(&self.remote, &location, None))?;
                eprintln!("{location} removed");
            }
            Statement::Query(sql) => {
                let (database, name) = self.container()?;
                let printed = query::print_rows(&self.account, database, name, &sql, self.format);
                self.runtime.block_on(printed)?;
            }
        }
        Ok(Next::Line)
    }

    fn container(&self) -> Result<(&str, &str), String> {
        self.at.container().map_err(|_| "choose a container first: use database/container".to_owned())
    }

    /// Goes there if it is there.
    fn enter(&mut self, location: Location) -> Result<(), String> {
        match &location {
            Location::Account => {}
            Location::Item { .. } => return Err(format!("{location} is an item; get shows it")),
            other => drop(self.runtime.block_on(verbs::show(&self.remote, other, None))?),
        }
        self.at = location;
        Ok(())
    }

    fn names(&self) -> Names {
        self.runtime.block_on(Names::read(&self.remote, &self.at))
    }
}

/// `$XDG_STATE_HOME/orrery/history`, by default below `~/.local/state`.
fn history_file() -> Option<PathBuf> {
    let of = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let state = of("XDG_STATE_HOME").or_else(|| of("HOME").map(|home| home.join(".local/state")))?;
    Some(state.join("orrery/history"))
}
