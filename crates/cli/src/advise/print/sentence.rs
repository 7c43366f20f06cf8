//! One sentence per finding: the fact and the advice.

use super::numbers::{bytes, charge, count, count_of, grouped, percent};
use crate::advise::finding::{
    CrossPartition, Finding, HotPartition, LargeItems, MissingComposite, Share, UnusedPaths,
};
use serde_json::json;

pub fn of(finding: &Finding) -> String {
    match finding {
        Finding::UnusedPaths(found) => unused_paths(found),
        Finding::MissingComposites(found) => missing_composites(found),
        Finding::HotPartition(found) => hot_partition(found),
        Finding::LargeItems(found) => large_items(found),
        Finding::CrossPartition(found) => cross_partition(found),
    }
}

fn unused_paths(found: &UnusedPaths) -> String {
    let entries: u64 = found.paths.iter().map(|path| path.entries).sum();
    format!(
        "Unused paths: {} of the index entries are at {} where none of {} looked. Leave them out of the index.",
        percent(entries, found.entries),
        count(found.paths.len() as u64, "path"),
        count_of(found.queries, "query", "queries"),
    )
}

fn missing_composites(found: &[MissingComposite]) -> String {
    let queries = found.iter().map(|one| one.queries).sum();
    let cost = found.iter().map(|one| one.charge).sum();
    format!(
        "Missing composite {}: {} that cost {} would have used {}. Add {}.",
        if found.len() == 1 { "index" } else { "indexes" },
        count_of(queries, "query", "queries"),
        charge(cost),
        if found.len() == 1 { "it" } else { "them" },
        if found.len() == 1 { "it" } else { "those that matter: each costs an entry with each write" },
    )
}

fn hot_partition(found: &HotPartition) -> String {
    let share =
        |Share { of, part, whole }: &Share| format!("{} of the {}", percent(*part, *whole), of.name());
    let shares: Vec<String> = found.shares.iter().map(share).collect();
    let full = found.bytes_max.map(|max| format!(", and may hold {}", bytes(max))).unwrap_or_default();
    let todo = match found.partition_key {
        Some(_) => "A new container with a deeper key would divide it.",
        None => "A new container with another key would divide it.",
    };
    format!(
        "Hot partition: {} has {}, one of {}{full}. {todo}",
        json!(found.key),
        listed(&shares),
        count(found.partitions, "partition"),
    )
}

/// `a, b and c`
fn listed(parts: &[String]) -> String {
    match parts {
        [first @ .., last] if !first.is_empty() => format!("{} and {last}", first.join(", ")),
        parts => parts.concat(),
    }
}

fn large_items(found: &LargeItems) -> String {
    let largest = found.items.first().map_or(0, |item| item.bytes);
    let todo = match &found.member {
        Some(member) => {
            format!("Most of it is in '{member}': keep that elsewhere, or in an item of its own.")
        }
        None => "Divide them into items that are read on their own.".to_owned(),
    };
    format!("Large items: up to {}, where {} is the mean. {todo}", bytes(largest), bytes(found.bytes_mean))
}

fn cross_partition(found: &CrossPartition) -> String {
    format!(
        "Cross-partition query: {} times over all {}, {} and {} rows each. Name the partition in the request, or filter by {}.",
        grouped(found.queries),
        count(found.partitions, "partition"),
        charge(found.charge_mean),
        rows(found.rows_mean),
        found.filter,
    )
}

fn rows(mean: f64) -> String {
    if mean < 10.0 { format!("{mean:.1}") } else { grouped(mean.round() as u64) }
}
