//! `orrery migrate`: containers become others, while they are used.
//!
//! ```text
//! streams          each range of the source: copied once, then followed ─┐
//! units            which items belong together, here and there           ├─ reconcile: make one unit the same on both sides
//! verify, settle   both sides read and compared, what differs mended     ┘  agree: which side gives way, if both are written
//! run, state, record, base        where all of it goes on after a stop ─ changes: the server
//! ```
//!
//! What becomes of items is decided in `models/migration`, by pure functions. This is a client like any other: it needs
//! nothing of the server that SDKs do not use too.

mod agree;
mod base;
mod changes;
mod keep;
mod progress;
mod reconcile;
mod record;
mod report;
mod run;
mod settle;
mod state;
mod streams;
mod units;
mod verify;
mod world;

use crate::client::{AccountFlags, Remote};
use crate::limits;
use clap::{Args, ValueEnum};
use orrery_migration::{BUILT_IN, Plan, built_in};
use progress::Progress;
use record::Phase;
use run::Run;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;
use verify::Verdict;
use world::{Which, World};

#[derive(Args)]
pub struct MigrateFlags {
    /// A plan: a file, or the name of a built-in one; or status, verify or cleanup, and then the plan
    what: String,
    /// The plan, after status, verify or cleanup
    plan: Option<String>,
    #[command(flatten)]
    account: AccountFlags,
    /// The way back: from the plan's target to its source
    #[arg(long)]
    reverse: bool,
    /// Go on following changes until stopped
    #[arg(long)]
    follow: bool,
    /// Compare both sides, mend what differs, and end the migration
    #[arg(long)]
    finish: bool,
    /// With --finish: delete what the target has and the source does not
    #[arg(long)]
    prune: bool,
    /// Go on with a migration that was finished: the source rules again
    #[arg(long)]
    reopen: bool,
    /// With cleanup: items that no rule took go with their containers
    #[arg(long)]
    drop_left: bool,
    /// With --finish: how long the old containers stay, such as 7d, 12h or 30m [default: 7d]
    #[arg(long, value_parser = keep::parse)]
    keep: Option<Duration>,
    /// Whose writes appear on the other side [default: source]
    #[arg(long, value_enum)]
    dual_write: Option<DualWrite>,
    /// Ranges that are worked on at once [default: 4]
    #[arg(long)]
    workers: Option<usize>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum DualWrite {
    /// Writes to the source appear in the target
    Source,
    /// And writes to the target in the source
    Both,
}

const FOLLOW_PAUSE: Duration = Duration::from_millis(200);

const KEEP: Duration = Duration::from_secs(7 * 86_400);
const WORKERS: usize = 4;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verb {
    Run,
    Status,
    Verify,
    Cleanup,
}

impl Verb {
    fn name(self) -> &'static str {
        match self {
            Self::Run => "PLAN",
            Self::Status => "status",
            Self::Verify => "verify",
            Self::Cleanup => "cleanup",
        }
    }
}

impl MigrateFlags {
    fn is_both(&self) -> bool {
        self.dual_write == Some(DualWrite::Both)
    }

    fn verb(&self) -> Result<(Verb, &str), String> {
        let verbs = [Verb::Status, Verb::Verify, Verb::Cleanup];
        match (verbs.into_iter().find(|verb| verb.name() == self.what), &self.plan) {
            (Some(verb), Some(plan)) => Ok((verb, plan)),
            (Some(verb), None) => Err(format!("say of which plan: orrery migrate {} PLAN", verb.name())),
            (None, None) => Ok((Verb::Run, &self.what)),
            (None, Some(_)) => Err(format!("'{}' is none of status, verify and cleanup", self.what)),
        }
    }

    /// Whatever is said must mean something for the verb.
    fn check(&self, verb: Verb) -> Result<(), String> {
        let said: [(&str, bool, &[Verb]); 6] = [
            ("--follow", self.follow, &[Verb::Run]),
            ("--finish", self.finish, &[Verb::Run]),
            ("--reopen", self.reopen, &[Verb::Run]),
            ("--workers", self.workers.is_some(), &[Verb::Run]),
            ("--dual-write", self.dual_write.is_some(), &[Verb::Run, Verb::Verify]),
            ("--drop-left", self.drop_left, &[Verb::Cleanup]),
        ];
        let wrong = said.iter().find(|(_, is_said, verbs)| *is_said && !verbs.contains(&verb));
        if let Some((flag, _, verbs)) = wrong {
            let verbs: Vec<String> =
                verbs.iter().map(|verb| format!("orrery migrate {}", verb.name())).collect();
            return Err(format!("{flag} is for {}; leave it out here", verbs.join(" and ")));
        }
        let together = [
            (self.follow && self.finish, "--follow goes on and --finish ends the migration; say one of them"),
            (self.prune && !self.finish, "--prune is a part of --finish; add that, or leave --prune out"),
            (
                self.keep.is_some() && !self.finish,
                "--keep is a part of --finish; add that, or leave --keep out",
            ),
            (
                self.prune && self.is_both(),
                "with --dual-write both, what only the target has is brought to the source; leave --prune out",
            ),
        ];
        if let Some((_, why)) = together.iter().find(|(is_said, _)| *is_said) {
            return Err((*why).to_owned());
        }
        match self.workers {
            Some(workers) if workers == 0 || workers > limits::MIGRATION_WORKERS_MAX => {
                Err(format!("--workers is a number from 1 to {}", limits::MIGRATION_WORKERS_MAX))
            }
            _ => Ok(()),
        }
    }
}

/// Runs the verb; the error is a sentence for a person.
pub fn migrate(flags: &MigrateFlags) -> Result<ExitCode, String> {
    let (verb, plan) = flags.verb()?;
    flags.check(verb)?;
    let plan = plan_of(plan, flags.reverse)?;
    let account = flags.account.account()?;
    crate::client::block_on(async move {
        let remote = Remote::open(account).await?;
        let world = Arc::new(World::new(remote, plan, flags.is_both())?);
        match verb {
            Verb::Status => report::status(&world, flags.json).await,
            Verb::Verify => verify_now(&world, flags).await,
            Verb::Cleanup => keep::cleanup(&world, flags.drop_left, flags.json).await,
            Verb::Run => run_now(world, flags).await,
        }
    })?
}

fn plan_of(name: &str, is_reversed: bool) -> Result<Plan, String> {
    let plan = match built_in(name) {
        Some(plan) => plan,
        None => {
            let names: Vec<&str> = BUILT_IN.iter().map(|(name, _)| *name).collect();
            let text = std::fs::read_to_string(name).map_err(|error| {
                format!("the plan '{name}' cannot be read ({error}); built-in ones are {}", names.join(", "))
            })?;
            Plan::parse(name, &text)
        }
    };
    let plan = plan.map_err(|error| error.to_string())?;
    if is_reversed { plan.reversed().map_err(|error| error.to_string()) } else { Ok(plan) }
}

async fn verify_now(world: &Arc<World>, flags: &MigrateFlags) -> Result<ExitCode, String> {
    let verdict = settle::compared(world).await?;
    report::verdict(world, &verdict, flags.json)?;
    Ok(if verdict.is_same() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

async fn run_now(world: Arc<World>, flags: &MigrateFlags) -> Result<ExitCode, String> {
    let mut total = 0;
    for (container, is_root) in run::containers(&world, Which::Source)? {
        if is_root && world.database(Which::Source).definition(&container).await?.is_some() {
            total += world.database(Which::Source).count(&container).await?;
        }
    }
    let progress = Progress::begin(world.clone(), total);
    let outcome = tokio::select! {
        outcome = go(&world, flags) => outcome,
        _ = tokio::signal::ctrl_c() => Ok(None),
    };
    let took = progress.end();
    let verdict = outcome?;
    report::run(&world, verdict.as_ref(), took, flags.json)?;
    let is_well = verdict.as_ref().is_none_or(Verdict::is_same) && world.refused().is_empty();
    Ok(if is_well { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

async fn go(world: &Arc<World>, flags: &MigrateFlags) -> Result<Option<Verdict>, String> {
    let mut run = Run::open(world.clone(), flags.workers.unwrap_or(WORKERS), flags.reopen).await?;
    run.round().await?;
    run.enter(Phase::Following).await?;
    match (flags.finish, flags.follow) {
        (true, _) => finish(world, &mut run, flags).await.map(Some),
        (false, false) => Ok(None),
        (false, true) => loop {
            tokio::time::sleep(FOLLOW_PAUSE).await;
            run.round().await?;
        },
    }
}

async fn finish(world: &Arc<World>, run: &mut Run, flags: &MigrateFlags) -> Result<Verdict, String> {
    let verdict = settle::mended(world, run, flags.prune).await?;
    if verdict.is_same() {
        run.settle().await?;
        keep::finish(world, run, flags.keep.unwrap_or(KEEP)).await?;
    }
    Ok(verdict)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blueprints::built_in_blueprint;

    #[test]
    fn built_in_plans_have_the_partition_keys_of_the_blueprints() {
        let names = ["project-ascension", "agent-studio", "copilot"];
        let blueprints = names.map(|name| built_in_blueprint(name).expect(name));
        let mut compared = 0;
        for (name, _) in BUILT_IN {
            let plan = built_in(name).expect(name).expect(name);
            for side in [&plan.source, &plan.target] {
                let of_side = blueprints.iter().filter(|known| known.database_name() == side.database);
                for (blueprint, container) in
                    of_side.flat_map(|it| side.containers.iter().map(move |c| (it, c)))
                {
                    let Some(known) = blueprint.container(&container.name) else { continue };
                    let paths = known.definition.partition_key().paths().iter();
                    let paths: Vec<String> =
                        paths.map(|path| format!("/{}", path.segments().join("/"))).collect();
                    let planned: Vec<String> = container.key.iter().map(ToString::to_string).collect();
                    assert_eq!(planned, paths, "{name}: {}", container.name);
                    compared += 1;
                }
            }
        }
        assert!(compared >= 12, "{compared}");
    }
}
