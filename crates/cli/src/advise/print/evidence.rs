//! The numbers behind a finding: as lines, and as JSON.

use super::numbers::{bytes, charge, count_of, grouped, percent};
use crate::advise::finding::{Finding, HotPartition, MissingComposite, UnusedPath, UnusedPaths};
use orrery_protocol::report::LargeItem;
use serde_json::{Value, json};

/// Lists are shortened for people; programs get all of them.
const LINES_MAX: usize = 12;

pub fn lines(finding: &Finding) -> Vec<String> {
    let all = match finding {
        Finding::UnusedPaths(found) => found.paths.iter().map(|path| unused_path(found, path)).collect(),
        Finding::MissingComposites(found) => found.iter().flat_map(missing_composite).collect(),
        Finding::LargeItems(found) => found.items.iter().map(large_item).collect(),
        Finding::CrossPartition(found) => vec![found.text.clone()],
        // The sentence has all the numbers.
        Finding::HotPartition(_) => Vec::new(),
    };
    clipped(all)
}

fn clipped(mut lines: Vec<String>) -> Vec<String> {
    let more = lines.len().saturating_sub(LINES_MAX);
    if more > 0 {
        lines.truncate(LINES_MAX);
        lines.push(format!("and {} more", grouped(more as u64)));
    }
    lines
}

fn unused_path(found: &UnusedPaths, path: &UnusedPath) -> String {
    format!(
        "{}  {} of the entries, in {} of {} items",
        path.path,
        percent(path.entries, found.entries),
        grouped(path.items),
        grouped(found.sampled),
    )
}

fn missing_composite(one: &MissingComposite) -> [String; 2] {
    let queries = count_of(one.queries, "query", "queries");
    [format!("({})  {queries}, {}", one.shown(), charge(one.charge)), format!("  {}", one.example)]
}

fn large_item(item: &LargeItem) -> String {
    let member = item
        .member
        .as_ref()
        .map(|member| format!(", {} of it in '{member}'", percent(item.member_bytes, item.bytes)));
    format!("{} in {}  {}{}", item.id, json!(item.key), bytes(item.bytes), member.unwrap_or_default())
}

pub fn json(finding: &Finding) -> Value {
    match finding {
        Finding::UnusedPaths(found) => unused_paths_json(found),
        Finding::MissingComposites(found) => found.iter().map(missing_composite_json).collect(),
        Finding::HotPartition(found) => hot_partition_json(found),
        Finding::LargeItems(found) => {
            json!({"items": found.items, "bytes_mean": found.bytes_mean, "member": found.member})
        }
        Finding::CrossPartition(found) => json!({
            "query": found.text, "queries": found.queries, "partitions": found.partitions,
            "charge_mean": found.charge_mean, "rows_mean": found.rows_mean, "filter": found.filter,
        }),
    }
}

fn unused_paths_json(found: &UnusedPaths) -> Value {
    let path = |path: &UnusedPath| json!({"path": path.path.to_string(), "items": path.items, "entries": path.entries});
    json!({
        "queries": found.queries, "items_sampled": found.sampled, "entries_sampled": found.entries,
        "paths": found.paths.iter().map(path).collect::<Value>(),
    })
}

fn missing_composite_json(one: &MissingComposite) -> Value {
    let MissingComposite { queries, charge, example, .. } = one;
    json!({"index": one.shown(), "queries": queries, "charge": charge, "example": example})
}

fn hot_partition_json(found: &HotPartition) -> Value {
    let mut shown = json!({"key": found.key, "partitions": found.partitions, "bytes_max": found.bytes_max});
    for share in &found.shares {
        shown[share.of.name()] = json!({"part": share.part, "whole": share.whole});
    }
    shown
}
