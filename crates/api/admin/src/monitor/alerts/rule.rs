//! What is worth an alert, as `orrery.toml` says it.
//!
//! ```toml
//! [alerts.request_units]
//! above = 80
//! window_seconds = 60
//! for_seconds = 300
//! ```

use crate::limits;
use serde::Deserialize;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// Request units a second, in percent of what is provisioned.
    RequestUnits,
    /// Requests that were turned away with 429, in percent of all.
    Throttled,
    /// What 95 % of the requests took at most, in milliseconds; reads, writes and queries each.
    Latency,
    /// What a logical partition holds, in percent of what it may.
    PartitionStorage,
    /// For how long the first visible message of a queue has waited, in seconds.
    MessageWait,
    /// How often a message was got that is still in its queue.
    MessageGets,
}

impl Kind {
    pub const ALL: [Self; 6] = [
        Self::RequestUnits,
        Self::Throttled,
        Self::Latency,
        Self::PartitionStorage,
        Self::MessageWait,
        Self::MessageGets,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::RequestUnits => "request_units",
            Self::Throttled => "throttled",
            Self::Latency => "latency_p95",
            Self::PartitionStorage => "partition_storage",
            Self::MessageWait => "message_wait",
            Self::MessageGets => "message_gets",
        }
    }

    pub fn unit(self) -> &'static str {
        match self {
            Self::RequestUnits | Self::Throttled | Self::PartitionStorage => "%",
            Self::Latency => "ms",
            Self::MessageWait => "s",
            Self::MessageGets => "gets",
        }
    }

    /// What to do about it.
    pub fn advice(self) -> &'static str {
        match self {
            Self::RequestUnits => "Provision more, or raise the autoscale maximum.",
            Self::Throttled => "Look for a hot partition with orrery top, or provision more.",
            Self::Latency => {
                "Look at the queries with orrery top, and at the indexing policy with orrery advise."
            }
            Self::PartitionStorage => {
                "Choose a finer partition key, or a container of its own, before it is full."
            }
            Self::MessageWait => "Look whether the queue's consumers run, or add some.",
            Self::MessageGets => {
                "Its consumers fail on it: look at it with orrery queue peek, and move it to a queue of its own."
            }
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rule {
    pub kind: Kind,
    pub above: f64,
    /// The time that is looked at.
    pub window_seconds: u64,
    /// How long it must be so before it is an alert.
    pub for_seconds: u64,
    /// With fewer requests in the window nothing is said.
    pub requests_min: u64,
}

/// The table `alerts` of the configuration.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tables {
    #[serde(default)]
    request_units: Table,
    #[serde(default)]
    throttled: Table,
    #[serde(default)]
    latency_p95: Table,
    #[serde(default)]
    partition_storage: Table,
    #[serde(default)]
    message_wait: Table,
    #[serde(default)]
    message_gets: Table,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    enabled: Option<bool>,
    above: Option<f64>,
    window_seconds: Option<u64>,
    for_seconds: Option<u64>,
    requests_min: Option<u64>,
}

/// The seeds' thresholds (S3-53 to S3-55, S3-32), over a minute; and of queues, ten minutes without a consumer, and more gets
/// than Azure Functions try before they call a message poison.
const DEFAULTS: [Rule; 6] = [
    Rule { kind: Kind::RequestUnits, above: 80.0, window_seconds: 60, for_seconds: 60, requests_min: 1 },
    Rule { kind: Kind::Throttled, above: 1.0, window_seconds: 60, for_seconds: 60, requests_min: 20 },
    Rule { kind: Kind::Latency, above: 100.0, window_seconds: 60, for_seconds: 60, requests_min: 20 },
    Rule { kind: Kind::PartitionStorage, above: 80.0, window_seconds: 60, for_seconds: 0, requests_min: 0 },
    Rule { kind: Kind::MessageWait, above: 600.0, window_seconds: 60, for_seconds: 0, requests_min: 0 },
    Rule { kind: Kind::MessageGets, above: 5.0, window_seconds: 60, for_seconds: 0, requests_min: 0 },
];

/// The rules that hold: the defaults with what the configuration changes.
pub fn rules(tables: &Tables) -> Result<Vec<Rule>, String> {
    let mut rules = Vec::new();
    for rule in DEFAULTS {
        let table = match rule.kind {
            Kind::RequestUnits => &tables.request_units,
            Kind::Throttled => &tables.throttled,
            Kind::Latency => &tables.latency_p95,
            Kind::PartitionStorage => &tables.partition_storage,
            Kind::MessageWait => &tables.message_wait,
            Kind::MessageGets => &tables.message_gets,
        };
        if table.enabled != Some(false) {
            rules.push(table.over(rule)?);
        }
    }
    Ok(rules)
}

impl Table {
    fn over(&self, rule: Rule) -> Result<Rule, String> {
        let rule = Rule {
            above: self.above.unwrap_or(rule.above),
            window_seconds: self.window_seconds.unwrap_or(rule.window_seconds),
            for_seconds: self.for_seconds.unwrap_or(rule.for_seconds),
            requests_min: self.requests_min.unwrap_or(rule.requests_min),
            ..rule
        };
        let (name, max) = (rule.kind.name(), limits::ALERT_WINDOW_SECONDS_MAX);
        if !(1..=max).contains(&rule.window_seconds) {
            return Err(format!("alerts.{name}.window_seconds must be between 1 and {max}"));
        }
        if !(rule.above.is_finite() && rule.above >= 0.0) {
            return Err(format!("alerts.{name}.above must be a number that is not negative"));
        }
        Ok(rule)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Result<Vec<Rule>, String> {
        rules(&toml::from_str(text).map_err(|error| error.message().to_owned())?)
    }

    #[test]
    fn the_seeds_thresholds_hold_unless_the_file_says_otherwise() {
        let above = |rules: &[Rule]| rules.iter().map(|rule| rule.above).collect::<Vec<_>>();
        assert_eq!(above(&parsed("").expect("rules")), [80.0, 1.0, 100.0, 80.0, 600.0, 5.0]);
        let changed = parsed("[latency_p95]\nabove = 10\nfor_seconds = 0\n[throttled]\nenabled = false")
            .expect("rules");
        assert_eq!(above(&changed), [80.0, 10.0, 80.0, 600.0, 5.0]);
        assert_eq!(
            (changed[1].kind, changed[1].for_seconds, changed[1].window_seconds),
            (Kind::Latency, 0, 60)
        );
    }

    #[test]
    fn mistakes_are_sentences() {
        let check = |text: &str, fragment: &str| {
            let error = parsed(text).expect_err(text);
            assert!(error.contains(fragment), "{error}");
        };
        check("[latency]\nabove = 1", "unknown field `latency`");
        check("[throttled]\nwindow_seconds = 0", "alerts.throttled.window_seconds");
        check("[throttled]\nabove = -1", "alerts.throttled.above");
        check("[throttled]\nabove = nan", "alerts.throttled.above");
    }
}
