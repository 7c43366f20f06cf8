//! What must hold of a plan as a whole: names that exist, one way for each item, children that can find their parents.

use crate::rule::{Rule, Shape};
use crate::{Path, Plan, PlanError, Split};
use std::collections::HashSet;

pub fn check(plan: &Plan) -> Result<(), PlanError> {
    for rule in &plan.rules {
        check_rule(plan, rule)?;
    }
    if let Some(name) = both_sides(plan) {
        return Err(PlanError(format!(
            "the container '{name}' of '{}' would be read and written at once; migrate to one of another name",
            plan.source.database
        )));
    }
    let always = plan.rules.iter().filter(|rule| rule.takes.is_empty());
    let mut seen = HashSet::new();
    for name in always.map(|rule| &rule.from) {
        let later = plan.rules.iter().skip_while(|rule| rule.from != *name || !rule.takes.is_empty()).skip(1);
        if !seen.insert(name) || later.into_iter().any(|rule| rule.from == *name) {
            return Err(PlanError(format!(
                "a rule takes all items of '{name}', so that a later one for it never gets any; put conditions on it, or leave one out"
            )));
        }
    }
    Ok(())
}

/// A container that rules read and that they write too.
fn both_sides(plan: &Plan) -> Option<&str> {
    if plan.source.database != plan.target.database {
        return None;
    }
    let parts = |rule: &'_ Rule| rule.split().map(|split| split.container.clone());
    let is_join = |rule: &&Rule| matches!(rule.shape, Shape::Join(_));
    let read = plan.rules.iter().map(|rule| rule.from.clone());
    let read: HashSet<String> = read.chain(plan.rules.iter().filter(is_join).filter_map(parts)).collect();
    let made = plan.rules.iter().find(|rule| {
        read.contains(&rule.to)
            || matches!(&rule.shape, Shape::Split(split) if read.contains(&split.container))
    });
    made.map(|rule| rule.to.as_str())
}

fn check_rule(plan: &Plan, rule: &Rule) -> Result<(), PlanError> {
    let named = |side: &crate::Side, name: &str, which: &str| match side.container(name) {
        Some(container) => Ok(container.clone()),
        None => {
            Err(PlanError(format!("a rule names the container '{name}', which the {which} does not have")))
        }
    };
    let from = named(&plan.source, &rule.from, "source")?;
    let to = named(&plan.target, &rule.to, "target")?;
    match &rule.shape {
        Shape::Whole => Ok(()),
        Shape::Split(split) => {
            check_split(split, &to.key, &named(&plan.target, &split.container, "target")?.key)
        }
        Shape::Join(split) => {
            check_split(split, &from.key, &named(&plan.source, &split.container, "source")?.key)
        }
    }
}

fn check_split(split: &Split, parent: &[Path], child: &[Path]) -> Result<(), PlanError> {
    let id = Path::parse("/id")?;
    if !split.id.contains("{index}") {
        return Err(PlanError(format!("the id '{}' of parts must have {{index}} in it", split.id)));
    }
    let is_carried = |path: &&Path| split.carry.iter().any(|(_, from)| from == *path);
    if let Some(missing) = std::iter::once(&id).chain(parent).find(|path| !is_carried(path)) {
        return Err(PlanError(format!(
            "parts in '{}' must repeat {missing} of their item, to find it again; add it to carry",
            split.container
        )));
    }
    let is_set = |path: &&Path| split.carry.iter().any(|(to, _)| to == *path);
    match child.iter().find(|path| !is_set(path)) {
        Some(missing) => Err(PlanError(format!(
            "the partition key {missing} of '{}' must be a member that parts repeat of their item; add it to carry",
            split.container
        ))),
        None => Ok(()),
    }
}
