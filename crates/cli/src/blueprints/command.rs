//! `orrery apply`: makes a running server as blueprints say, or says how it differs.

use super::accounts::RemoteAccounts;
use super::carry_out::{self, Fixtures};
use super::server::Server;
use super::{files, print};
use crate::client::{self, Account, ServerFlags, Services};
use crate::terminal::{self, Screen};
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use orrery_blueprint::{Blueprint, Environment, Plan, Step, Variables, Verdict, plan};
use orrery_core::Env;
use std::process::ExitCode;

#[derive(Args)]
pub struct ApplyFlags {
    /// Files (.yaml, .tf, .json of ARM), folders of them, names of built-in blueprints, or all
    #[arg(required = true, value_name = "FILE|NAME")]
    what: Vec<String>,
    #[command(flatten)]
    server: ServerFlags,
    /// Leave the schemas out, for a server whose services port cannot be reached
    #[arg(long)]
    without_schemas: bool,
    /// The environment whose throughput is asked for
    #[arg(long = "env", value_name = "ENVIRONMENT", default_value = "development", value_parser = environment())]
    environment: Environment,
    /// A variable of Terraform or a parameter of ARM; may be repeated
    #[arg(long = "var", value_name = "NAME=VALUE", value_parser = variable)]
    variables: Vec<(String, String)>,
    /// Change nothing; say what differs, with exit code 1 if anything does
    #[arg(long)]
    check: bool,
    /// Insert the example items and entities that are not there
    #[arg(long, conflicts_with = "check")]
    fixtures: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// The environments that a blueprint may be applied for.
pub fn environment() -> impl TypedValueParser<Value = Environment> {
    let names = PossibleValuesParser::new(["development", "staging", "production"]);
    names.try_map(|name| name.parse::<Environment>())
}

fn variable(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err(format!("'{text}' is not like name=value")),
    }
}

/// Runs the verb: 0 if the server is as declared, 1 if it differs or a step is refused; the error is a sentence.
pub fn apply(flags: &ApplyFlags) -> Result<ExitCode, String> {
    let blueprints = files::blueprints(&flags.what, &Variables::new(flags.variables.iter().cloned()))?;
    let account = flags.server.account()?;
    let has_schemas =
        blueprints.iter().flat_map(|one| &one.containers).any(|container| container.schema.is_some());
    client::block_on(async {
        let services = match has_schemas && !flags.without_schemas {
            false => None,
            true => Some(flags.server.services_of(&account).await.map_err(|error| {
                format!("{error} (the schemas go to the services port; --without-schemas leaves them out)")
            })?),
        };
        run(flags, &blueprints, &account, services).await
    })?
}

async fn run(
    flags: &ApplyFlags,
    blueprints: &[Blueprint],
    account: &Account,
    services: Option<Services>,
) -> Result<ExitCode, String> {
    let env = Env::system().map_err(|error| error.to_string())?;
    let mut server = Server::open(account, services, env.clone()).await?;
    if blueprints.iter().any(|blueprint| !blueprint.storage.is_empty()) {
        let accounts = RemoteAccounts::of(&flags.server, account, env).await?;
        server = server.with_storage(Box::new(accounts));
    }
    let mut plans = Vec::new();
    for blueprint in blueprints {
        let observed = server.observe(blueprint).await?;
        plans.push((plan(blueprint, flags.environment, &observed), None));
    }
    let is_refused = plans.iter().any(|(plan, _): &(Plan, _)| plan.is_refused());
    // Nothing is begun that is known not to end.
    if flags.check || is_refused {
        let is_done = plans.iter().all(|(plan, _)| plan.is_done());
        say(flags, &plans, false)?;
        return Ok(if is_done { ExitCode::SUCCESS } else { ExitCode::from(1) });
    }
    let (mut out, screen) = (Out { is_json: flags.json }, Screen::of_stdout());
    let mut done: Vec<(Plan, Option<Fixtures>)> = Vec::new();
    for (blueprint, (plan, _)) in blueprints.iter().zip(&plans) {
        out.line(&print::heading(plan))?;
        for note in print::notes(plan) {
            out.line(&note)?;
        }
        let mut told = Ok(());
        let tell = |step: &Step| {
            if told.is_ok() {
                told = out.line(&print::step(step, &screen));
            }
        };
        let taken = carry_out::apply(&mut server, blueprint, flags.environment, tell).await?;
        told?;
        if taken.is_refused() {
            done.push((taken, None));
            continue;
        }
        let fixtures = match flags.fixtures {
            false => None,
            true => Some(carry_out::insert_fixtures(&mut server, blueprint).await?),
        };
        if let Some(fixtures) = fixtures {
            out.line(&print::fixtures(fixtures))?;
        }
        done.push((taken, fixtures));
    }
    let is_refused = done.iter().any(|(plan, _)| plan.is_refused());
    if is_refused || flags.json {
        say(flags, &done, !is_refused)?;
    } else {
        out.line(&print::summary(&done.iter().map(|(plan, _)| plan).collect::<Vec<_>>(), true))?;
    }
    Ok(if is_refused { ExitCode::from(1) } else { ExitCode::SUCCESS })
}

/// Makes a server as one blueprint says, without its schemas; nothing is told but why it cannot be.
pub async fn stand_up(account: &Account, blueprint: &Blueprint) -> Result<(), String> {
    let env = Env::system().map_err(|error| error.to_string())?;
    let mut server = Server::open(account, None, env).await?;
    let plan = carry_out::apply(&mut server, blueprint, Environment::Development, |_| {}).await?;
    match plan.steps.iter().find(|step| matches!(step.verdict, Verdict::Refused(_))) {
        Some(refused) => Err(refused.to_string()),
        None => Ok(()),
    }
}

/// One that comes with the binary.
pub fn built_in_blueprint(name: &str) -> Result<Blueprint, String> {
    let found = files::blueprints(&[name.to_owned()], &Variables::default())?;
    found.into_iter().next().ok_or_else(|| format!("there is no blueprint '{name}'"))
}

/// Whole plans.
fn say(flags: &ApplyFlags, plans: &[(Plan, Option<Fixtures>)], is_applied: bool) -> Result<(), String> {
    if flags.json {
        return terminal::print_json(&print::json(plans, is_applied));
    }
    let (mut out, screen) = (Out { is_json: false }, Screen::of_stdout());
    for (plan, _) in plans {
        out.line(&print::heading(plan))?;
        for line in
            print::notes(plan).into_iter().chain(plan.steps.iter().map(|step| print::step(step, &screen)))
        {
            out.line(&line)?;
        }
    }
    out.line(&print::summary(&plans.iter().map(|(plan, _)| plan).collect::<Vec<_>>(), is_applied))
}

/// Standard output; with JSON wanted, lines for people are left out.
struct Out {
    is_json: bool,
}

impl Out {
    fn line(&mut self, line: &str) -> Result<(), String> {
        if self.is_json {
            return Ok(());
        }
        terminal::print(&format!("{line}\n"))
    }
}
