//! The plan that undoes a plan: sides change places, steps go backwards, what was split is joined.
//!
//! A rule took items with a certain value of a member; whatever comes back to its container has that value. And what a rule
//! gave a certain value in the end is taken back by that value.

use crate::rule::{Condition, Rule, Shape};
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
    let undo = rule.steps.iter().rev().filter_map(Step::reversed);
    let ensure = rule.conditions.iter().filter_map(|condition| match condition {
        Condition::Equals { path, value } => Some(Step::Ensure { path: path.clone(), value: value.clone() }),
        Condition::Exists { .. } => None,
    });
    let shape = match &rule.shape {
        Shape::Whole => Shape::Whole,
        Shape::Split(split) => Shape::Join(split.clone()),
        Shape::Join(split) => Shape::Split(split.clone()),
    };
    let steps = undo.chain(ensure).collect();
    let last = rule.steps.iter().rev().map_while(|step| match step {
        Step::Ensure { path, value } => Some(Condition::Equals { path: path.clone(), value: value.clone() }),
        _ => None,
    });
    Rule { from: rule.to.clone(), to: rule.from.clone(), conditions: last.collect(), steps, shape }
}
