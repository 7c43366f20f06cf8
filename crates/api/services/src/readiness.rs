//! The services' part of `/readyz`: the checks of each, under its name.

use orrery_kit::service::{Check, Service, Verdict};
use serde_json::{Map, Value, json};
use std::sync::Arc;

#[derive(Clone, Debug, PartialEq)]
pub struct Readiness {
    /// Whether any check found a problem. Requests are served regardless.
    pub is_degraded: bool,
    /// `{"<service>": {"checks": […], "troubles": […], "missing": […]}}`; null without services.
    pub services: Value,
}

impl Readiness {
    pub fn of(services: &[Arc<dyn Service>]) -> Self {
        let checked: Vec<(&str, Vec<Check>)> =
            services.iter().map(|service| (service.name(), service.health())).collect();
        let is_degraded =
            checked.iter().flat_map(|(_, checks)| checks).any(|check| check.verdict != Verdict::Ok);
        let told: Map<String, Value> =
            checked.iter().map(|(name, checks)| ((*name).to_owned(), told(checks))).collect();
        let services = if services.is_empty() { Value::Null } else { Value::Object(told) };
        Self { is_degraded, services }
    }
}

/// `checks` is for `orrery doctor`; `troubles` is a summary of the problems, and `missing` is the part of them that is
/// intentional.
fn told(checks: &[Check]) -> Value {
    let lines = checks.iter().map(
        |check| json!({ "about": check.about, "verdict": check.verdict.word(), "sentence": check.sentence }),
    );
    let sentences = |is: fn(Verdict) -> bool| -> Vec<&str> {
        let found = checks.iter().filter(|check| is(check.verdict));
        found.map(|check| check.sentence.as_str()).collect()
    };
    json!({
        "checks": lines.collect::<Vec<_>>(),
        "troubles": sentences(|verdict| verdict != Verdict::Ok),
        "missing": sentences(|verdict| verdict == Verdict::Look),
    })
}
