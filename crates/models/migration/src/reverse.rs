//! The plan that undoes a plan: sides change places, steps go backwards, what was split is joined. Undone twice it is the plan again.

use crate::rule::{Rule, Shape};
use crate::{Plan, PlanError, Step, checks};

pub fn reversed(plan: &Plan) -> Result<Plan, PlanError> {
    let rules = plan.rules.iter().map(reversed_rule).collect();
    let name = match plan.name.strip_suffix("-reversed") {
        Some(name) => name.to_owned(),
        None => format!("{}-reversed", plan.name),
    };
    let reversed = Plan {
        name,
        source: plan.target.clone(),
        target: plan.source.clone(),
        rules,
        fingerprint: !plan.fingerprint,
    };
    checks::check(&reversed).map_err(|error| PlanError(format!("the plan cannot be reversed: {error}")))?;
    Ok(reversed)
}

fn reversed_rule(rule: &Rule) -> Rule {
    let shape = match &rule.shape {
        Shape::Whole => Shape::Whole,
        Shape::Split(split) => Shape::Join(split.clone()),
        Shape::Join(split) => Shape::Split(split.clone()),
    };
    Rule {
        from: rule.to.clone(),
        to: rule.from.clone(),
        takes: rule.gives.clone(),
        gives: rule.takes.clone(),
        steps: rule.steps.iter().rev().map(Step::reversed).collect(),
        shape,
    }
}
