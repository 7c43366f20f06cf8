//! The final report, for people or as JSON.

use super::record::Phase;
use super::state::{self, RunState, Stage, write_hash};
use super::streams::waiting;
use super::verify::Verdict;
use super::world::{Which, World};
use crate::limits;
use orrery_migration::{ItemKey, Sum};
use serde_json::{Value as Json, json};
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

fn json_of(verdict: &Verdict) -> Json {
    let side = |sum: &Sum| json!({"items": sum.items, "hash": write_hash(sum.hash)});
    json!({
        "same": verdict.is_same(), "partitions": verdict.partitions, "left": verdict.left,
        "expected": side(&verdict.expected), "target": side(&verdict.found), "settled": verdict.settled,
        "missing": named(verdict.missing.keys()), "extra": named(&verdict.extra),
        "different": named(verdict.different.keys()), "twice": named(&verdict.twice),
        "differences": verdict.differences(), "more": verdict.has_more,
    })
}

fn named<'a>(keys: impl IntoIterator<Item = &'a ItemKey>) -> Vec<String> {
    keys.into_iter().take(limits::MIGRATION_NAMED_MAX).map(ItemKey::to_string).collect()
}

fn text_of(verdict: &Verdict) -> String {
    let (items, partitions) = (verdict.expected.items, verdict.partitions);
    let mut text = match verdict.is_same() {
        true => format!(
            "the same: {items} items in {partitions} partitions, content {}\n",
            write_hash(verdict.expected.hash)
        ),
        false => format!("not the same: {items} items expected, {} found\n", verdict.found.items),
    };
    if verdict.settled > 0 {
        text.push_str(&format!(
            "{} of them were written meanwhile and compared by themselves\n",
            verdict.settled
        ));
    }
    if verdict.left > 0 {
        text.push_str(&format!("{} items are taken by no rule and stay where they are\n", verdict.left));
    }
    let lists: [(&str, Vec<&ItemKey>); 4] = [
        ("missing", verdict.missing.keys().collect()),
        ("different", verdict.different.keys().collect()),
        ("extra", verdict.extra.iter().collect()),
        ("wanted by several", verdict.twice.iter().collect()),
    ];
    for (what, keys) in lists {
        keys.iter()
            .take(limits::MIGRATION_NAMED_MAX)
            .for_each(|key| text.push_str(&format!("{what}: {key}\n")));
        if keys.len() > limits::MIGRATION_NAMED_MAX {
            text.push_str(&format!("{what}: {} more\n", keys.len() - limits::MIGRATION_NAMED_MAX));
        }
    }
    if !verdict.extra.is_empty() {
        text.push_str("what only the target has is kept; --finish --prune deletes it\n");
    }
    text
}

pub async fn status(world: &World, is_json: bool) -> Result<ExitCode, String> {
    let name = &world.plan.name;
    let run = RunState::found(world).await?.record;
    let mut ranges = Vec::new();
    for state in state::ranges(world, Which::Source).await? {
        let waiting = waiting(world, &state).await?;
        let (stage, position) = match state.stage {
            Stage::Copy { position } => ("copying", position),
            Stage::Follow { position, .. } => ("following", Some(position)),
        };
        ranges.push(json!({
            "container": state.container, "range": state.range, "stage": stage, "position": position,
            "waiting": waiting,
        }));
    }
    if is_json {
        let mut status = json!({
            "migration": name, "phase": run.phase.name(), "dualWrite": run.dual_write(), "ranges": ranges,
            "finishedAt": null, "keepSeconds": null,
        });
        if let Phase::Finished { at, keep_seconds } = run.phase {
            status["finishedAt"] = json!(at);
            status["keepSeconds"] = json!(keep_seconds);
        }
        return print(&status.to_string()).map(|()| ExitCode::SUCCESS);
    }
    let mut text = format!("{name}: {}\n", run.phase.name());
    ranges.iter().for_each(|range| text.push_str(&line(range)));
    print(text.trim_end()).map(|()| ExitCode::SUCCESS)
}

fn line(range: &Json) -> String {
    let part = |name: &str| range[name].as_str().unwrap_or("the beginning").trim_matches('"').to_owned();
    let waiting = match range["waiting"].as_u64() {
        None => "what changed since is not kept any more, so the next run looks at all of it".to_owned(),
        Some(0) => "nothing is waiting".to_owned(),
        Some(page) if page >= limits::MIGRATION_PAGE_ITEMS_MAX as u64 => {
            format!("{page} changes or more are waiting")
        }
        Some(few) => format!("{few} changes are waiting"),
    };
    let (container, range, stage, position) =
        (part("container"), part("range"), part("stage"), part("position"));
    format!("  {container} range {range}: {stage} at {position}, {waiting}\n")
}

pub fn print(text: &str) -> Result<(), String> {
    crate::terminal::print(&format!("{text}\n"))
}
