//! `orrery bench blueprints`: the workloads of the example blueprints on a running server, with their amounts of data.
//!
//! ```text
//! blueprints ─ applied to databases of their own ─▶ sets, loaded in bulk ─▶ workloads ─▶ p50 and p95 beside the targets
//! ```
//!
//! Containers, policies and queries are those of the blueprints. It is a client like any other, over one machine's network at
//! best: what it says is what an application would see. The load generator beside other databases is `bench/` of the repository.

mod draw;
mod load;
mod measure;
mod print;
mod sets;
mod workloads;

use crate::blueprints::{built_in_blueprint, stand_up};
use crate::client::{Account, AccountFlags, Database, Remote};
use clap::{Args, Subcommand};
use load::Place;
use measure::Measured;
use orrery_blueprint::Blueprint;
use orrery_core::DatabaseName;
use orrery_migration::Container;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;
use workloads::{ALL, Workload};

#[derive(Args)]
pub struct BenchFlags {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// The workloads of the example blueprints, at their scale or a part of it
    #[command(alias = "seeds")]
    Blueprints(BlueprintsFlags),
}

#[derive(Args)]
struct BlueprintsFlags {
    #[command(flatten)]
    account: AccountFlags,
    /// The part of the data that is loaded, from 0.001 to 1 (all of it, 4 GB); a container has its least number of items all the same
    #[arg(long, default_value_t = 0.01, value_parser = scale)]
    scale: f64,
    /// Only these, such as read-workflow,pending-events
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
    /// Seconds that each is measured for
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..=600))]
    seconds: u64,
    /// Drop what was loaded with this scale, and measure nothing
    #[arg(long)]
    clean: bool,
    /// Exit code 1 if a target is missed
    #[arg(long)]
    check: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

fn scale(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(scale) if (0.001..=1.0).contains(&scale) => Ok(scale),
        _ => Err(format!("'{text}' is not a number from 0.001 to 1")),
    }
}

/// Runs the verb; the error is a sentence for a person.
pub fn bench(flags: &BenchFlags) -> Result<ExitCode, String> {
    let What::Blueprints(flags) = &flags.what;
    if let Some(unknown) = flags.only.iter().find(|id| ALL.iter().all(|workload| workload.id != **id)) {
        let known: Vec<&str> = ALL.iter().map(|workload| workload.id).collect();
        return Err(format!("there is no workload '{unknown}'; there are {}", known.join(", ")));
    }
    let account = flags.account.account()?;
    crate::client::block_on(run(flags, account))?
}

async fn run(flags: &BlueprintsFlags, account: Account) -> Result<ExitCode, String> {
    let wanted: Vec<&Workload> = ALL
        .iter()
        .filter(|workload| flags.only.is_empty() || flags.only.iter().any(|id| id == workload.id))
        .collect();
    let remote = Arc::new(Remote::open(flags.account.account()?).await?);
    if flags.clean {
        return clean(&remote, &wanted, flags.scale, flags.json).await;
    }
    let mut rows: Vec<(&Workload, u64, Measured)> = Vec::new();
    for workload in wanted {
        let blueprint = blueprint(workload, flags.scale)?;
        if rows.iter().all(|(known, ..)| known.set.blueprint != workload.set.blueprint) {
            stand_up(&account, &blueprint).await?;
        }
        let place = Arc::new(place(&remote, &blueprint, workload)?);
        let items = load::load(&place, workload.set, flags.scale).await?;
        let span = Duration::from_secs(flags.seconds);
        let measured = measure::measure(&place, &blueprint, workload, items, span)
            .await
            .map_err(|error| format!("{}: {error}", workload.id))?;
        if !flags.json {
            if rows.is_empty() {
                print::line(&print::heading())?;
            }
            print::line(&print::row(workload, items, &measured))?;
        }
        rows.push((workload, items, measured));
    }
    if flags.json {
        print::line(&print::json(flags.scale, &rows).to_string())?;
    }
    let is_missed = rows.iter().any(|(workload, _, measured)| !print::is_met(workload, measured));
    Ok(if flags.check && is_missed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// The design in a database of its own for each scale, so that nobody's data is touched and a load can be gone on with.
fn blueprint(workload: &Workload, scale: f64) -> Result<Blueprint, String> {
    let blueprint = built_in_blueprint(workload.set.blueprint)?;
    let name = format!("bench-{scale}-{}", blueprint.database_name());
    let database = DatabaseName::parse(&name).map_err(|error| format!("'{name}': {error}"))?;
    Ok(Blueprint { database: Some(database), ..blueprint })
}

fn place(remote: &Arc<Remote>, blueprint: &Blueprint, workload: &Workload) -> Result<Place, String> {
    let name = workload.set.container;
    let missing = || format!("the blueprint '{}' has no container '{name}'", blueprint.name);
    let definition = &blueprint.container(name).ok_or_else(missing)?.definition;
    let paths = definition.partition_key().paths().iter();
    let key = paths.map(|path| orrery_migration::Path::parse(&format!("/{}", path.segments().join("/"))));
    let key = key.collect::<Result<_, _>>().map_err(|error| error.to_string())?;
    let container = Container { name: name.to_owned(), key, definition: serde_json::Value::Null };
    Ok(Place { remote: remote.clone(), database: blueprint.database_name().to_owned(), container })
}

async fn clean(remote: &Remote, wanted: &[&Workload], scale: f64, is_json: bool) -> Result<ExitCode, String> {
    for workload in wanted {
        let name = blueprint(workload, scale)?.database_name().to_owned();
        Database { remote, name: &name }.drop_all().await?;
    }
    if is_json {
        print::line(&serde_json::json!({ "cleaned": true }).to_string())?;
    }
    Ok(ExitCode::SUCCESS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_workload_is_of_a_blueprint_that_has_what_it_needs() {
        for workload in &ALL {
            let blueprint = blueprint(workload, 0.01).expect(workload.id);
            assert!(blueprint.database_name().starts_with("bench-0.01-"), "{}", blueprint.database_name());
            assert!(blueprint.container(workload.set.container).is_some(), "{}", workload.id);
            if let workloads::Act::Ask { query, parameters, .. } = &workload.act {
                let query = blueprint.query(query).expect(workload.id);
                assert_eq!(query.container, workload.set.container, "{}", workload.id);
                let given = parameters(1).into_iter().map(|(name, text)| (name.to_owned(), text));
                query.bind(&given.collect()).expect(workload.id);
            }
        }
    }

    #[test]
    fn a_scale_is_a_part_of_the_whole() {
        assert_eq!(scale("0.05"), Ok(0.05));
        for text in ["0", "2", "-1", "x", "NaN"] {
            assert!(scale(text).is_err(), "{text}");
        }
    }
}
