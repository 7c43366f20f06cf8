//! Alerts: what is in trouble, since when, and what was.
//!
//! ```text
//! reading above the rule ──> pending ── so for the rule's time ──> firing ── no longer so ──> resolved
//!                               └──────── no longer so ────────> nothing
//! ```
//!
//! A pure state machine: readings and the time come in, changes come out. It looks when it is told to.

pub mod reading;
pub mod rule;

use crate::limits;
use orrery_core::Timestamp;
use reading::{Place, Reading, Subject};
use rule::{Kind, Rule};
use serde_json::{Value, json};
use std::collections::{BTreeMap, VecDeque};

#[derive(Debug, Default)]
pub struct Alerts {
    active: BTreeMap<(Kind, Subject), Active>,
    /// The newest first.
    resolved: VecDeque<Resolved>,
}

#[derive(Clone, Debug, PartialEq)]
struct Active {
    since: Timestamp,
    /// When it became an alert; until then it is pending.
    fired: Option<Timestamp>,
    value: f64,
    above: f64,
}

#[derive(Clone, Debug, PartialEq)]
struct Resolved {
    kind: Kind,
    subject: Subject,
    since: Timestamp,
    resolved: Timestamp,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    Fired { kind: Kind, subject: Subject, value: f64 },
    Resolved { kind: Kind, subject: Subject },
}

impl Alerts {
    /// Takes what the rules read now.
    pub fn step(&mut self, rules: &[Rule], readings: &[Reading], now: Timestamp) -> Vec<Change> {
        let mut changes = Vec::new();
        let mut seen = BTreeMap::new();
        for reading in readings {
            let Some(rule) = rules.iter().find(|rule| rule.kind == reading.kind) else { continue };
            if reading.value > rule.above {
                seen.insert((reading.kind, reading.subject.clone()), (rule, reading.value));
            }
        }
        let over: Vec<_> = self.active.keys().filter(|key| !seen.contains_key(*key)).cloned().collect();
        for key in over {
            changes.extend(self.end(key, now));
        }
        for (key, (rule, value)) in seen {
            if self.active.len() >= limits::ALERTS_MAX && !self.active.contains_key(&key) {
                break;
            }
            let active = self.active.entry(key.clone()).or_insert(Active {
                since: now,
                fired: None,
                value,
                above: rule.above,
            });
            (active.value, active.above) = (value, rule.above);
            let is_due = now.millis() >= active.since.millis().saturating_add(rule.for_seconds * 1000);
            if active.fired.is_none() && is_due {
                active.fired = Some(now);
                changes.push(Change::Fired { kind: key.0, subject: key.1, value });
            }
        }
        changes
    }

    fn end(&mut self, key: (Kind, Subject), now: Timestamp) -> Option<Change> {
        let ended = self.active.remove(&key)?;
        let since = ended.fired?;
        let (kind, subject) = key;
        self.resolved.push_front(Resolved { kind, subject: subject.clone(), since, resolved: now });
        self.resolved.truncate(limits::ALERTS_RESOLVED_MAX);
        Some(Change::Resolved { kind, subject })
    }

    /// How many alerts of a kind there are now.
    pub fn firing(&self, kind: Kind) -> usize {
        self.active.iter().filter(|((it, _), active)| *it == kind && active.fired.is_some()).count()
    }

    /// The names of the rules that have alerts now.
    pub fn firing_names(&self) -> Vec<&'static str> {
        Kind::ALL.into_iter().filter(|kind| self.firing(*kind) > 0).map(Kind::name).collect()
    }

    pub fn shown(&self) -> Value {
        let active = self.active.iter().map(|((kind, subject), active)| {
            let mut shown = described(*kind, subject);
            shown["state"] = json!(if active.fired.is_some() { "firing" } else { "pending" });
            shown["since_ms"] = json!(active.fired.unwrap_or(active.since).millis());
            shown["value"] = json!(rounded(active.value));
            shown["above"] = json!(active.above);
            shown["unit"] = json!(kind.unit());
            shown["advice"] = json!(kind.advice());
            shown
        });
        let resolved = self.resolved.iter().map(|it| {
            let mut shown = described(it.kind, &it.subject);
            shown["state"] = json!("resolved");
            shown["since_ms"] = json!(it.since.millis());
            shown["resolved_ms"] = json!(it.resolved.millis());
            shown
        });
        active.chain(resolved).collect()
    }
}

fn rounded(value: f64) -> f64 {
    (value * 100.0).round() / 100.0
}

fn described(kind: Kind, subject: &Subject) -> Value {
    let mut shown = json!({ "rule": kind.name() });
    for (name, value) in parts(subject) {
        shown[name] = json!(value);
    }
    shown
}

/// What it concerns, from the whole to the part.
fn parts(subject: &Subject) -> Vec<(&'static str, &str)> {
    match subject {
        Subject::Documents(Place { database, container, class, partition }) => [
            ("database", Some(database.as_str())),
            ("container", container.as_deref()),
            ("operation", *class),
            ("partition", partition.as_deref()),
        ]
        .into_iter()
        .filter_map(|(name, value)| Some((name, value?)))
        .collect(),
        Subject::Storage(id) => vec![("account", &id.account), (id.service.name(), &id.name)],
    }
}

/// One line about whom it concerns.
pub fn whom(subject: &Subject) -> String {
    parts(subject).into_iter().map(|(_, part)| part).collect::<Vec<_>>().join(" / ")
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULE: Rule =
        Rule { kind: Kind::RequestUnits, above: 80.0, window_seconds: 60, for_seconds: 120, requests_min: 1 };

    fn of_partition(partition: Option<String>) -> Subject {
        let (database, container) = ("d".into(), Some("c".into()));
        Subject::Documents(Place { database, container, class: None, partition })
    }

    fn reading(value: f64) -> Reading {
        Reading { kind: Kind::RequestUnits, subject: of_partition(None), value }
    }

    /// What each reading, a minute after the one before, changes.
    fn check(readings: &[Option<f64>], expected: &str) {
        let mut alerts = Alerts::default();
        let mut told = Vec::new();
        for (minute, value) in readings.iter().enumerate() {
            let now = Timestamp::from_seconds(60 * minute as u64);
            let readings: Vec<Reading> = value.iter().map(|value| reading(*value)).collect();
            told.push(match &alerts.step(&[RULE], &readings, now)[..] {
                [] => "-",
                [Change::Fired { .. }] => "fired",
                [Change::Resolved { .. }] => "resolved",
                more => panic!("{more:?}"),
            });
        }
        assert_eq!(told.join(" "), expected);
    }

    #[test]
    fn an_alert_fires_once_after_its_time_and_resolves_once() {
        check(
            &[Some(81.0), Some(90.0), Some(85.0), Some(99.0), Some(80.0), Some(10.0)],
            "- - fired - resolved -",
        );
        check(&[Some(81.0), Some(90.0), Some(79.0), Some(90.0), Some(90.0), Some(90.0)], "- - - - - fired");
        check(&[Some(81.0), Some(81.0), Some(81.0), None, Some(81.0)], "- - fired resolved -");
        check(&[Some(80.0), Some(80.0), Some(80.0), Some(80.0)], "- - - -");
    }

    #[test]
    fn what_is_over_is_told_with_both_times_and_forgotten_in_the_end() {
        let mut alerts = Alerts::default();
        let rule = Rule { for_seconds: 0, ..RULE };
        for minute in 0..200 {
            let now = Timestamp::from_seconds(60 * minute);
            let readings = if minute % 2 == 0 { vec![reading(90.0)] } else { vec![] };
            alerts.step(&[rule], &readings, now);
        }
        let shown = alerts.shown();
        assert_eq!(shown.as_array().map(Vec::len), Some(limits::ALERTS_RESOLVED_MAX));
        assert_eq!(shown[0]["state"], "resolved");
        assert_eq!(
            (&shown[0]["since_ms"], &shown[0]["resolved_ms"]),
            (&json!(198 * 60_000), &json!(199 * 60_000))
        );
    }

    #[test]
    fn there_are_never_more_than_the_bound() {
        let mut alerts = Alerts::default();
        let readings: Vec<Reading> = (0..limits::ALERTS_MAX + 10)
            .map(|at| Reading { subject: of_partition(Some(at.to_string())), ..reading(90.0) })
            .collect();
        alerts.step(&[RULE], &readings, Timestamp::from_seconds(1));
        assert_eq!(alerts.shown().as_array().map(Vec::len), Some(limits::ALERTS_MAX));
    }

    #[test]
    fn an_alert_says_whom_it_is_about_in_the_words_of_its_service() {
        use crate::monitor::storage::resource::ResourceId;
        use orrery_catalog::storage::ServiceKind;
        let check = |subject: Subject, line: &str, shown: Value| {
            assert_eq!((whom(&subject).as_str(), described(Kind::Throttled, &subject)), (line, shown));
        };
        let id = ResourceId { service: ServiceKind::Queue, account: "a".into(), name: "turns".into() };
        let of_queue = json!({"rule": "throttled", "account": "a", "queue": "turns"});
        check(Subject::Storage(id), "a / turns", of_queue);
        let partition = json!({"rule": "throttled", "database": "d", "container": "c", "partition": "p"});
        check(of_partition(Some("p".into())), "d / c / p", partition);
    }
}
