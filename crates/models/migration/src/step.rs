//! One change of an item's members, and the change that undoes it: for every item, both together change nothing, or the first
//! refuses the item.

use crate::{Path, Refusal};
use orrery_value::Value;

#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// The member gets another name or place. Nothing happens to an item without it.
    Rename { from: Path, to: Path },
    /// The member, which is not there, gets a value.
    Set { path: Path, value: Value },
    /// The member, which has this value, goes.
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

/// A member that should have a certain value and has not.
pub(crate) fn is_not(item: &Value, path: &Path, value: &Value) -> String {
    match path.get(item) {
        Value::Undefined => format!("the member {path} is not there and should be {}", value.to_json()),
        found => format!("the member {path} is {} and should be {}", found.to_json(), value.to_json()),
    }
}
