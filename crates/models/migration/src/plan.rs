//! A plan: two sides, each a set of containers of a database, and the rules from one to the other.

use crate::rule::{Migrated, Rule, Shape};
use crate::split::id_of;
use crate::{Path, PlanError, Split, Step, file};
use orrery_protocol::ascii_json;
use orrery_value::Value;
use std::collections::HashSet;

#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    pub name: String,
    pub source: Side,
    pub target: Side,
    pub rules: Vec<Rule>,
    /// The hash of the file: a migration resumes only with the plan that it began with.
    pub fingerprint: u128,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Side {
    pub database: String,
    pub containers: Vec<Container>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Container {
    pub name: String,
    /// The paths of the partition key.
    pub key: Vec<Path>,
    /// The definition with which it is created if missing.
    pub definition: serde_json::Value,
}

/// The identity of an item in a container.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ItemKey {
    pub container: String,
    /// In the form of partition-key headers.
    pub partition: String,
    pub id: String,
}

/// The role of a source item in a plan.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Role<'a> {
    Root(&'a Rule),
    /// A part of another item's result.
    Child(&'a Rule),
    /// No rule accepts it.
    Left,
}

impl Plan {
    /// Parses a file's text; `name` represents the file in errors.
    pub fn parse(name: &str, text: &str) -> Result<Self, PlanError> {
        file::parse(text).map_err(|error| PlanError(format!("{name}: {error}")))
    }

    /// The plan that undoes this one.
    pub fn reversed(&self) -> Result<Self, PlanError> {
        reversed(self)
    }

    /// The origin of each item produced by a rule of this plan.
    pub fn placed(&self, rule: &Rule, made: Migrated) -> Vec<(ItemKey, Value)> {
        let named =
            |name: &str| self.target.container(name).expect("a checked plan has the containers it names");
        let mut placed = vec![(named(&rule.to).key_of(&made.root), made.root)];
        if let Shape::Split(split) = &rule.shape {
            let container = named(&split.container);
            placed.extend(made.children.into_iter().map(|child| (container.key_of(&child), child)));
        }
        placed
    }

    pub fn role(&self, container: &str, item: &Value) -> Role<'_> {
        let is_child =
            |rule: &&Rule| matches!(&rule.shape, Shape::Join(split) if split.container == container);
        if let Some(rule) = self.rules.iter().find(is_child) {
            return Role::Child(rule);
        }
        self.rules.iter().find(|rule| rule.can_take(container, item)).map_or(Role::Left, Role::Root)
    }

    /// Whether a rule may have produced this target item; other items are foreign.
    pub fn can_give(&self, container: &str, item: &Value) -> bool {
        self.rules.iter().any(|rule| rule.can_give(container, item))
    }
}

impl Side {
    pub fn container(&self, name: &str) -> Option<&Container> {
        self.containers.iter().find(|container| container.name == name)
    }
}

impl Container {
    pub fn partition_of(&self, item: &Value) -> Vec<Value> {
        self.key.iter().map(|path| path.get(item).clone()).collect()
    }

    pub fn key_of(&self, item: &Value) -> ItemKey {
        ItemKey::new(&self.name, &self.partition_of(item), id_of(item))
    }
}

impl ItemKey {
    pub fn new(container: &str, partition: &[Value], id: &str) -> Self {
        let component = |value: &Value| match value {
            Value::Undefined | Value::Array(_) | Value::Object(_) => "{}".to_owned(),
            plain => plain.to_json(),
        };
        let partition = format!("[{}]", partition.iter().map(component).collect::<Vec<_>>().join(","));
        Self { container: container.to_owned(), partition: ascii_json(&partition), id: id.to_owned() }
    }
}

impl std::fmt::Display for ItemKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {} {}", self.container, self.partition, self.id)
    }
}

// Checks of a plan as a whole: names exist, each item matches one rule, children can find their parents.

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

/// A container that rules both read and write.
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

// The reverse plan: the sides change places, steps run backwards, split items are joined. Reversing twice
// gives the original plan.

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
    check(&reversed).map_err(|error| PlanError(format!("the plan cannot be reversed: {error}")))?;
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
