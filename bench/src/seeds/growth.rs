//! What becomes of the same question as its container grows.

use super::Measured;
use super::sets::growing;
use crate::Settings;
use crate::report::{Report, Target, rate};

/// A question may take twice as long of thirty times as many items.
const TIMES_MAX: f64 = 2.0;

/// Sets the rates at two sizes beside each other, for each question that was asked at both.
pub fn judge(measured: &[Measured], settings: &Settings, report: &mut Report) {
    let [small, large] = growing::compared(settings.tenth());
    for name in growing::NAMES {
        let rate_at = |size: &str, subject: &str| {
            let (_, rows) =
                measured.iter().find(|(workload, _)| workload.name == format!("{name}-{size}"))?;
            rate(rows, subject)
        };
        let times = |subject: &str| Some(rate_at(&small, subject)? / rate_at(&large, subject)?);
        let Some(ours) = times("orrery") else { continue };
        let theirs = times("PostgreSQL").map_or(String::new(), |times| format!("; PostgreSQL's {times:.2}"));
        report.say(
            name,
            &format!("from {small} to {large} items a question takes {ours:.2} times as long{theirs}"),
        );
        if name != growing::UNBOUNDED {
            let title = format!("{name}, {large} items beside {small}");
            report.target(Target::at_most(&title, TIMES_MAX, "x").measured(Some(ours)));
        }
    }
}
