//! What was done, for people and for programs.

use super::carry_out::Fixtures;
use crate::terminal::{BAD, GOOD, NOTICE, Screen};
use orrery_blueprint::{Plan, Step, Verdict};
use serde_json::{Value, json};

/// `shop (development)`
pub fn heading(plan: &Plan) -> String {
    format!("{} ({})", plan.blueprint, plan.environment)
}

pub fn step(step: &Step, screen: &Screen) -> String {
    let line = format!("  {step}");
    match step.verdict.word() {
        "create" => screen.paint(GOOD, &line),
        "change" => screen.paint(NOTICE, &line),
        "refused" => screen.paint(BAD, &line),
        _ => line,
    }
}

pub fn notes(plan: &Plan) -> Vec<String> {
    plan.notes.iter().map(|note| format!("  note: {note}.")).collect()
}

/// `2 to create, 1 to change, 0 refused, 3 as declared`
pub fn summary(plans: &[&Plan], are_done: bool) -> String {
    let count = |word: &str| {
        let steps = plans.iter().flat_map(|plan| &plan.steps);
        steps.filter(|step| step.verdict.word() == word).count()
    };
    let (create, change) = (count("create"), count("change"));
    let refused = match count("refused") {
        0 => String::new(),
        refused => format!(", {refused} refused"),
    };
    match are_done {
        true => format!("{create} created, {change} changed, {} as declared", count("nothing")),
        false => format!("{create} to create, {change} to change{refused}, {} as declared", count("nothing")),
    }
}

pub fn fixtures(fixtures: Fixtures) -> String {
    format!("  {} example items inserted, {} there before", fixtures.inserted, fixtures.there)
}

pub fn json(plans: &[(Plan, Option<Fixtures>)], is_applied: bool) -> Value {
    let one = |(plan, fixtures): &(Plan, Option<Fixtures>)| {
        let mut shown = plan.to_json();
        if let Some(fixtures) = fixtures {
            shown["fixtures"] = json!({"inserted": fixtures.inserted, "there": fixtures.there});
        }
        shown
    };
    let differs =
        plans.iter().any(|(plan, _)| plan.steps.iter().any(|step| step.verdict != Verdict::Nothing));
    json!({"applied": is_applied, "differed": differs, "blueprints": plans.iter().map(one).collect::<Vec<_>>()})
}
