//! A rule: the items of a container that it accepts, and their transformation.
//!
//! It has two sides. The items it accepts have certain members, and so have the items it produces; the
//! reverse rule accepts the latter and produces the former. An item whose result would not satisfy the other
//! side is refused, because it could not be reversed.

use crate::canonical::without_system;
use crate::plan::Container;
use crate::split::{Split, id_of};
use crate::{Path, Refusal};
use orrery_value::Value;

#[derive(Clone, Debug, PartialEq)]
pub struct Rule {
    pub from: String,
    pub to: String,
    /// The condition on accepted items.
    pub takes: Vec<Condition>,
    /// The condition on produced items.
    pub gives: Vec<Condition>,
    pub steps: Vec<Step>,
    pub shape: Shape,
}

/// The condition on one side of a rule.
#[derive(Clone, Debug, PartialEq)]
pub enum Condition {
    Equals { path: Path, value: Value },
    Exists { path: Path, wanted: bool },
}

#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// One item becomes one item.
    Whole,
    /// One item becomes an item and its children.
    Split(Split),
    /// An item and its children become one item.
    Join(Split),
}

/// The result of a rule: an item, and its children if any.
#[derive(Clone, Debug, PartialEq)]
pub struct Migrated {
    pub root: Value,
    pub children: Vec<Value>,
}

/// The parent that a child refers to.
#[derive(Clone, Debug, PartialEq)]
pub struct Parent {
    pub id: String,
    pub partition: Vec<Value>,
}

/// The values that the children of one parent share.
#[derive(Clone, Debug, PartialEq)]
pub struct Siblings {
    pub shared: Vec<(Path, Value)>,
    pub partition: Vec<Value>,
}

impl Condition {
    pub fn holds(&self, item: &Value) -> bool {
        match self {
            Self::Equals { path, value } => path.get(item) == value,
            Self::Exists { path, wanted } => path.is_in(item) == *wanted,
        }
    }

    /// A missing member with only one valid value gets that value.
    fn ensure(&self, item: &mut Value) -> Result<(), Refusal> {
        match self {
            Self::Equals { path, value } if !path.is_in(item) => path.put(item, value.clone()),
            Self::Equals { .. } | Self::Exists { .. } => Ok(()),
        }
    }

    fn check(&self, item: &Value) -> Result<(), Refusal> {
        let why = match self {
            _ if self.holds(item) => return Ok(()),
            Self::Equals { path, value } => is_not(item, path, value),
            Self::Exists { path, wanted: true } => {
                format!("it would have no member {path}, without which no rule takes it back")
            }
            Self::Exists { path, wanted: false } => {
                format!("it would have the member {path}, with which no rule takes it back")
            }
        };
        Err(Refusal(why))
    }
}

impl Rule {
    pub fn can_take(&self, container: &str, item: &Value) -> bool {
        self.from == container && self.takes.iter().all(|condition| condition.holds(item))
    }

    pub fn can_give(&self, container: &str, item: &Value) -> bool {
        let is_part = matches!(&self.shape, Shape::Split(split) if split.container == container);
        is_part || self.to == container && self.gives.iter().all(|condition| condition.holds(item))
    }

    /// Transforms an item. An item that would lose its id keeps it.
    pub fn apply(&self, root: &Value, children: &[Value]) -> Result<Migrated, Refusal> {
        let had = id_of(root).to_owned();
        let mut root = without_system(root.clone());
        if let Shape::Join(split) = &self.shape {
            split.join(&mut root, children)?;
        }
        self.steps.iter().try_for_each(|step| step.apply(&mut root))?;
        match root.member("id") {
            Value::String(_) => {}
            Value::Undefined => Path::parse("/id").expect("a path").put(&mut root, Value::String(had))?,
            _ => return Err(Refusal("its new id is not a text".to_owned())),
        }
        // Parts may repeat a member added here.
        self.gives.iter().try_for_each(|condition| condition.ensure(&mut root))?;
        let children = match &self.shape {
            Shape::Split(split) => split.split(&mut root)?,
            Shape::Whole | Shape::Join(_) => Vec::new(),
        };
        self.gives.iter().try_for_each(|condition| condition.check(&root))?;
        Ok(Migrated { root, children })
    }

    pub fn split(&self) -> Option<&Split> {
        match &self.shape {
            Shape::Split(split) | Shape::Join(split) => Some(split),
            Shape::Whole => None,
        }
    }

    /// The parent that a child refers to, if any. `parents` is the container of the parents.
    pub fn parent_of(&self, child: &Value, parents: &Container) -> Option<Parent> {
        let carry = &self.split()?.carry;
        let carried = |wanted: &Path| {
            let (path, _) = carry.iter().find(|(_, from)| from == wanted)?;
            Some(path.get(child)).filter(|value| !value.is_undefined())
        };
        let Value::String(id) = carried(&Path::parse("/id").ok()?)? else { return None };
        let partition = parents.key.iter().map(|path| carried(path).cloned());
        Some(Parent { id: id.clone(), partition: partition.collect::<Option<_>>()? })
    }

    /// The members that all children of a parent share, and their partition.
    pub fn children_of(&self, parent: &Value, children: &Container) -> Option<Siblings> {
        let carry = &self.split()?.carry;
        let shared = carry.iter().map(|(to, from)| (to.clone(), from.get(parent).clone()));
        let shared: Vec<(Path, Value)> = shared.collect();
        let value = |path: &Path| shared.iter().find(|(to, _)| to == path).map(|(_, value)| value.clone());
        let partition = children.key.iter().map(value).collect::<Option<Vec<_>>>()?;
        Some(Siblings { shared, partition })
    }
}

// A change of an item's members, and its inverse: for every item, both together change nothing, or the first
// refuses the item.

#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// Renames or moves the member. Items without it are unchanged.
    Rename { from: Path, to: Path },
    /// Adds a missing member with a value.
    Set { path: Path, value: Value },
    /// Removes a member that has this value.
    Remove { path: Path, value: Value },
}

impl Step {
    pub fn apply(&self, item: &mut Value) -> Result<(), Refusal> {
        match self {
            Self::Rename { from, to } => rename(item, from, to),
            Self::Set { path, value } => path.put(item, value.clone()),
            Self::Remove { path, value } if path.get(item) == value => {
                path.take(item);
                Ok(())
            }
            Self::Remove { path, value } => Err(Refusal(is_not(item, path, value))),
        }
    }

    pub fn reversed(&self) -> Self {
        match self.clone() {
            Self::Rename { from, to } => Self::Rename { from: to, to: from },
            Self::Set { path, value } => Self::Remove { path, value },
            Self::Remove { path, value } => Self::Set { path, value },
        }
    }
}

fn rename(item: &mut Value, from: &Path, to: &Path) -> Result<(), Refusal> {
    if to.is_in(item) {
        return Err(Refusal(format!("the member {to} is there already, so {from} cannot take its place")));
    }
    match from.take(item) {
        Some(value) => to.put(item, value),
        None => Ok(()),
    }
}

/// The member should have a certain value but does not.
pub(crate) fn is_not(item: &Value, path: &Path, value: &Value) -> String {
    match path.get(item) {
        Value::Undefined => format!("the member {path} is not there and should be {}", value.to_json()),
        found => format!("the member {path} is {} and should be {}", found.to_json(), value.to_json()),
    }
}
