//! `orrery query`: a query put to a running server, or explained without one.
//!
//! `--explain` shows what becomes of the text: tokens, tree, plan, and the plan of a client that asks several
//! ranges; and, if a container is named, the way that its server would take to the documents. Without it the query goes over the wire like an SDK's, page after page. The rows are all that goes
//! to standard output; what they cost goes to standard error.

mod access;
mod complaint;
mod endpoint;
mod explain;
mod functions;
mod pages;
mod parameter;
mod rows;

pub use endpoint::partition_key;
pub use rows::{Format, SYSTEM_PROPERTIES, compact};

use crate::blueprints::{self, Named};
use crate::client::{self, Account};
use crate::terminal::{self, Screen};
use clap::Args;
use endpoint::{Endpoint, Target};
use explain::Stages;
use pages::{Question, Totals, Trouble, Wish};
use parameter::Parameter;
use rows::{Layout, Printer};
use serde_json::{Map, Value};

#[derive(Args)]
pub struct QueryFlags {
    /// The query, such as 'SELECT * FROM c'; with --blueprint its name
    #[arg(required_unless_present = "functions")]
    sql: Option<String>,
    /// A parameter of the query; without =JSON it is undefined. With --blueprint NAME=TEXT, of the type that it says
    #[arg(long = "param", value_name = "@NAME=JSON")]
    parameters: Vec<String>,
    /// Ask a named query of this blueprint: a file, or the name of a built-in one
    #[arg(long, value_name = "FILE|NAME", requires = "sql")]
    blueprint: Option<String>,
    #[command(flatten)]
    stages: Stages,
    /// List the functions of the query language, and how many arguments each takes
    #[arg(long, conflicts_with = "sql")]
    functions: bool,
    #[command(flatten)]
    target: Target,
    /// Stop after so many rows
    #[arg(long, value_name = "ROWS")]
    max: Option<u64>,
    /// Rows to ask for in one page; the server decides if this is not given
    #[arg(long, value_name = "ROWS", value_parser = clap::value_parser!(u32).range(1..))]
    page_size: Option<u32>,
    /// Merge the rows of several partitions here, as against Azure, instead of asking the server to
    #[arg(long)]
    merge: bool,
    /// How to print the rows
    #[arg(long, default_value = "json")]
    format: Format,
    /// In a table, also show what the server adds to items: _rid, _self, _etag, _attachments, _ts
    #[arg(long)]
    system: bool,
    /// Print JSON and nothing else, not even what the query cost
    #[arg(long, conflicts_with = "format")]
    json: bool,
}

/// Runs the verb; the error is for a person, and may show a place in the query below its first line.
pub fn query(flags: QueryFlags) -> Result<(), String> {
    let Some(text) = &flags.sql else {
        return if flags.json {
            terminal::print_json(&functions::json())
        } else {
            terminal::print(&functions::list())
        };
    };
    let (text, parameters, named) = match &flags.blueprint {
        None => (text.clone(), parameter::parse_all(&flags.parameters)?, None),
        Some(blueprint) => {
            let named = blueprints::find_query(blueprint, text, &parameter::split_all(&flags.parameters)?)?;
            (named.sql.clone(), parameter::of_named(&named)?, Some(named))
        }
    };
    let asked = Asked { text, parameters, named };
    if flags.stages.are_wanted() {
        let shown = explained(&flags, &asked)?;
        return if flags.json {
            terminal::print_json(&as_json(&shown))
        } else {
            terminal::print(&explain::text(&shown))
        };
    }
    let endpoint = asked.endpoint(&flags.target)?.merging(flags.merge);
    let question = Question::new(&asked.text, &asked.parameters);
    let wish = Wish { rows_max: flags.max, page_rows: flags.page_size, layout: flags.layout() };
    match client::block_on(pages::print_all(&endpoint, &question, &wish))? {
        Ok(totals) => {
            if !flags.json {
                say(&totals);
            }
            Ok(())
        }
        Err(Trouble::Told(sentence)) => Err(sentence),
        Err(Trouble::Output(error)) => unless_nobody_reads(error),
    }
}

impl QueryFlags {
    fn layout(&self) -> Layout {
        let format = if self.json { Format::Json } else { self.format };
        Layout { format, screen: Screen::of_stdout(), shows_system: self.system }
    }
}

/// Stages by their names; a stage that prints JSON is JSON here too.
fn as_json(shown: &[(&'static str, String)]) -> Value {
    let value = |text: &str| serde_json::from_str(text).unwrap_or_else(|_| Value::from(text.trim_end()));
    let members = shown.iter().map(|(name, text)| ((*name).to_owned(), value(text)));
    Value::Object(members.collect::<Map<_, _>>())
}

/// Prints what a query gives over a container that is known already.
pub async fn print_rows(
    account: &Account,
    database: &str,
    container: &str,
    text: &str,
    format: Format,
) -> Result<(), String> {
    let endpoint = Endpoint::of_container(account.clone(), database, container);
    let layout = Layout { format, screen: Screen::of_stdout(), shows_system: false };
    let wish = Wish { rows_max: None, page_rows: None, layout };
    match pages::print_all(&endpoint, &Question::new(text, &[]), &wish).await {
        Ok(totals) => {
            say(&totals);
            Ok(())
        }
        Err(Trouble::Told(sentence)) => Err(sentence),
        Err(Trouble::Output(error)) => unless_nobody_reads(error),
    }
}

/// Rows as a table, for other verbs.
pub fn table(rows: &[String]) -> std::io::Result<String> {
    let mut out = Vec::new();
    let layout = Layout { format: Format::Table, screen: Screen::of_stdout(), shows_system: false };
    let mut printer = Printer::new(layout, &mut out);
    rows.iter().try_for_each(|row| printer.row(row))?;
    printer.end()?;
    Ok(String::from_utf8_lossy(&out).into_owned())
}

/// What is asked, whether it was written out or named.
struct Asked {
    text: String,
    parameters: Vec<Parameter>,
    named: Option<Named>,
}

impl Asked {
    fn endpoint(&self, target: &Target) -> Result<Endpoint, String> {
        match &self.named {
            None => Endpoint::parse(target),
            Some(named) => Endpoint::of_named(target, named),
        }
    }
}

fn explained(flags: &QueryFlags, asked: &Asked) -> Result<Vec<(&'static str, String)>, String> {
    let said = match flags.stages.ask_server(flags.target.is_named() || asked.named.is_some()) {
        false => None,
        true => {
            let endpoint = asked.endpoint(&flags.target)?;
            let question = Question::new(&asked.text, &asked.parameters);
            Some(client::block_on(access::ask(&endpoint, &question))??)
        }
    };
    explain::explain(&asked.text, &asked.parameters, &flags.stages, said.as_ref())
}

fn say(totals: &Totals) {
    let plural = |count: u64| if count == 1 { "" } else { "s" };
    let Totals { rows, pages, charge, indexes } = totals;
    eprintln!("{rows} row{}, {pages} page{}, {charge:.2} RU", plural(*rows), plural(*pages));
    if let Some(indexes) = indexes {
        eprintln!("index: {}", blueprints::index_use(indexes));
    }
}

/// `orrery query … | head` has seen enough; that is no failure.
fn unless_nobody_reads(error: std::io::Error) -> Result<(), String> {
    match error.kind() {
        std::io::ErrorKind::BrokenPipe => Ok(()),
        _ => Err(format!("the rows cannot be printed: {error}")),
    }
}
