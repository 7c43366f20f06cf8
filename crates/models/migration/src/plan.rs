//! A plan: two sides, each some containers of a database, and the rules that lead from one to the other.

use crate::rule::{Made, Rule, Shape};
use crate::split::id_of;
use crate::{Path, PlanError, file, reverse};
use orrery_protocol::ascii_json;
use orrery_value::Value;

#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    pub name: String,
    pub source: Side,
    pub target: Side,
    pub rules: Vec<Rule>,
    /// Of what the file says: a migration goes on only with the plan that it began with.
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
    /// As it is made if it is not there.
    pub definition: serde_json::Value,
}

/// What names an item in a container.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ItemKey {
    pub container: String,
    /// As partition-key headers write it.
    pub partition: String,
    pub id: String,
}

/// What an item of the source is for a plan.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Role<'a> {
    Root(&'a Rule),
    /// A part of what another item becomes.
    Child(&'a Rule),
    /// No rule takes it.
    Left,
}

impl Plan {
    /// Of a file's text; `name` stands for the file in what is said about it.
    pub fn parse(name: &str, text: &str) -> Result<Self, PlanError> {
        file::parse(text).map_err(|error| PlanError(format!("{name}: {error}")))
    }

    /// The plan that undoes this one.
    pub fn reversed(&self) -> Result<Self, PlanError> {
        reverse::reversed(self)
    }

    /// Where each item goes that a rule of this plan made.
    pub fn placed(&self, rule: &Rule, made: Made) -> Vec<(ItemKey, Value)> {
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

    /// Whether an item of the target may come of a rule; others are somebody else's.
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
