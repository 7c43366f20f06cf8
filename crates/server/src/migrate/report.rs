//! What is printed at the end, for people or as JSON.

use super::run::containers;
use super::state::{self, RangeState, Stage, write_hash};
use super::verify::Verdict;
use super::world::{Which, World};
use orrery_core::limits;
use orrery_migration::ItemKey;
use serde_json::{Value as Json, json};
use std::io::Write;
use std::process::ExitCode;
use std::sync::atomic::Ordering;
use std::time::Duration;

pub fn run(world: &World, verdict: Option<&Verdict>, took: Duration, is_json: bool) -> Result<(), String> {
    let count = |count: &std::sync::atomic::AtomicU64| count.load(Ordering::Relaxed);
    let (copied, followed) = (count(&world.counts.copied), count(&world.counts.followed));
    let rate = (copied + followed) as f64 / took.as_secs_f64().max(0.001);
    if is_json {
        return print(
            &json!({
                "migration": world.plan.name, "copied": copied, "followed": followed,
                "seconds": took.as_secs_f64(), "itemsPerSecond": rate.round(),
                "refused": world.refused(), "finished": verdict.is_some_and(Verdict::is_same),
                "verdict": verdict.map(json_of),
            })
            .to_string(),
        );
    }
    let seconds = took.as_secs_f64();
    let mut text =
        format!("{copied} items copied, {followed} changes followed in {seconds:.1} s ({rate:.0}/s)\n");
    for refused in world.refused() {
        text.push_str(&format!("refused: {refused}\n"));
    }
    match verdict {
        None => text.push_str("not finished: go on with --follow, end with --finish\n"),
        Some(verdict) => text.push_str(&text_of(verdict)),
    }
    print(text.trim_end())
}

pub fn verdict(world: &World, verdict: &Verdict, is_json: bool) -> Result<(), String> {
    match is_json {
        true => print(&json!({"migration": world.plan.name, "verdict": json_of(verdict)}).to_string()),
        false => print(text_of(verdict).trim_end()),
    }
}

fn named(keys: &[ItemKey]) -> Vec<String> {
    keys.iter().take(limits::MIGRATION_NAMED_MAX).map(ItemKey::to_string).collect()
}

fn json_of(verdict: &Verdict) -> Json {
    let side = |sum: &orrery_migration::Sum| json!({"items": sum.items, "hash": write_hash(sum.hash)});
    json!({
        "same": verdict.is_same(), "partitions": verdict.partitions,
        "expected": side(&verdict.source), "target": side(&verdict.target),
        "missing": named(&verdict.missing), "extra": named(&verdict.extra), "different": named(&verdict.different),
        "differences": verdict.missing.len() + verdict.extra.len() + verdict.different.len(),
    })
}

fn text_of(verdict: &Verdict) -> String {
    let (items, partitions) = (verdict.source.items, verdict.partitions);
    if verdict.is_same() {
        let hash = write_hash(verdict.source.hash);
        return format!("the same: {items} items in {partitions} partitions, content {hash}\n");
    }
    let mut text = format!("not the same: {items} items expected, {} found\n", verdict.target.items);
    for (what, keys) in
        [("missing", &verdict.missing), ("extra", &verdict.extra), ("different", &verdict.different)]
    {
        named(keys).iter().for_each(|key| text.push_str(&format!("{what}: {key}\n")));
        if keys.len() > limits::MIGRATION_NAMED_MAX {
            text.push_str(&format!("{what}: {} more\n", keys.len() - limits::MIGRATION_NAMED_MAX));
        }
    }
    text
}

pub async fn status(world: &World, is_json: bool) -> Result<ExitCode, String> {
    let name = &world.plan.name;
    let run = state::read_run(world).await?.ok_or_else(|| format!("there is no migration '{name}' here"))?;
    let mut ranges = Vec::new();
    for (container, _) in containers(world, Which::Source)? {
        if world.database(Which::Source).definition(&container).await?.is_none() {
            continue;
        }
        for (range, _) in world.database(Which::Source).ranges(&container).await? {
            let Some(state) = RangeState::read(world, Which::Source, &container, &range).await? else {
                continue;
            };
            let (stage, position) = match state.stage {
                Stage::Copy { position } => ("copying", position),
                Stage::Follow { position, .. } => ("following", Some(position)),
            };
            ranges
                .push(json!({"container": container, "range": range, "stage": stage, "position": position}));
        }
    }
    if is_json {
        print(
            &json!({
                "migration": name, "phase": run["phase"], "dualWrite": run["dualWrite"], "ranges": ranges,
                "finishedAt": run["finishedAt"], "keepSeconds": run["keepSeconds"],
            })
            .to_string(),
        )?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut text = format!("{name}: {}\n", run["phase"].as_str().unwrap_or("unknown"));
    for range in &ranges {
        let part = |name: &str| range[name].as_str().unwrap_or("the beginning").to_owned();
        text.push_str(&format!(
            "  {} range {}: {} at {}\n",
            part("container"),
            part("range"),
            part("stage"),
            part("position")
        ));
    }
    print(text.trim_end())?;
    Ok(ExitCode::SUCCESS)
}

fn print(text: &str) -> Result<(), String> {
    writeln!(std::io::stdout().lock(), "{text}")
        .map_err(|error| format!("the outcome cannot be printed: {error}"))
}
