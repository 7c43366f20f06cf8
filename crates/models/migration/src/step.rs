//! One change of an item's members, and the change that undoes it.

use crate::{Path, Refusal};
use orrery_value::Value;

#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// The member gets another name or place. Nothing happens to an item without it.
    Rename { from: Path, to: Path },
    /// The member, which is not there, gets a value.
    Set { path: Path, value: Value },
    /// The member, which has this value or is not there, goes.
    Remove { path: Path, value: Value },
    /// The member has this value afterwards; it has it already, or is not there.
    Ensure { path: Path, value: Value },
}

impl Step {
    pub fn apply(&self, item: &mut Value) -> Result<(), Refusal> {
        match self {
            Self::Rename { from, to } => rename(item, from, to),
            Self::Set { path, value } => path.put(item, value.clone()),
            Self::Remove { path, value } => {
                differs(item, path, value)?;
                path.take(item);
                Ok(())
            }
            Self::Ensure { path, value } => {
                differs(item, path, value)?;
                if path.is_in(item) { Ok(()) } else { path.put(item, value.clone()) }
            }
        }
    }

    /// `None`: nothing is to be undone.
    pub fn reversed(&self) -> Option<Self> {
        match self.clone() {
            Self::Rename { from, to } => Some(Self::Rename { from: to, to: from }),
            Self::Set { path, value } => Some(Self::Remove { path, value }),
            Self::Remove { path, value } => Some(Self::Ensure { path, value }),
            Self::Ensure { .. } => None,
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

fn differs(item: &Value, path: &Path, value: &Value) -> Result<(), Refusal> {
    let found = path.get(item);
    if found.is_undefined() || found == value {
        return Ok(());
    }
    Err(Refusal(format!("the member {path} is {} and should be {}", found.to_json(), value.to_json())))
}
