//! The table, for people and as JSON.

use super::measure::Measured;
use super::workloads::Workload;
use serde_json::{Value, json};

pub fn heading() -> String {
    format!(
        "{:<19} {:<42} {:>9} {:>8} {:>9} {:>9}  {}",
        "", "", "items", "a second", "p50 ms", "p95 ms", "p95 should be"
    )
}

pub fn row(workload: &Workload, items: u64, measured: &Measured) -> String {
    let whose = if workload.is_of_design { "" } else { ", our own" };
    format!(
        "{:<19} {:<42} {:>9} {:>8.0} {:>9.2} {:>9.2}  < {} ms{whose}: {}",
        workload.id,
        workload.about,
        items,
        measured.rate,
        measured.p50_millis,
        measured.p95_millis,
        workload.target_millis,
        if is_met(workload, measured) { "met" } else { "missed" },
    )
}

pub fn is_met(workload: &Workload, measured: &Measured) -> bool {
    measured.requests > 0 && measured.p95_millis < workload.target_millis
}

pub fn json(scale: f64, rows: &[(&Workload, u64, Measured)]) -> Value {
    let row = |(workload, items, measured): &(&Workload, u64, Measured)| {
        json!({
            "id": workload.id, "about": workload.about, "items": items, "requests": measured.requests,
            "perSecond": measured.rate, "p50Millis": measured.p50_millis, "p95Millis": measured.p95_millis,
            "targetMillis": workload.target_millis, "ofDesign": workload.is_of_design,
            "met": is_met(workload, measured),
        })
    };
    json!({"scale": scale, "workloads": rows.iter().map(row).collect::<Vec<_>>()})
}

pub fn line(text: &str) -> Result<(), String> {
    crate::terminal::print(&format!("{text}\n"))
}
