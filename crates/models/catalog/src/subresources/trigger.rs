//! A trigger, typed: when it runs, and for which operations.

use super::definition::word;
use super::{Kind, Subresource};
use crate::definition::DefinitionError;
use serde_json::{Map, Value};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trigger {
    pub time: TriggerTime,
    pub operation: TriggerOperation,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TriggerTime {
    Pre,
    Post,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TriggerOperation {
    All,
    Create,
    Update,
    Delete,
    Replace,
    Upsert,
}

const TIMES: [(&str, TriggerTime); 2] = [("Pre", TriggerTime::Pre), ("Post", TriggerTime::Post)];
const OPERATIONS: [(&str, TriggerOperation); 6] = [
    ("All", TriggerOperation::All),
    ("Create", TriggerOperation::Create),
    ("Update", TriggerOperation::Update),
    ("Delete", TriggerOperation::Delete),
    ("Replace", TriggerOperation::Replace),
    ("Upsert", TriggerOperation::Upsert),
];

impl Trigger {
    pub(super) fn parse(members: &Map<String, Value>) -> Result<Self, DefinitionError> {
        let time = word(members, "triggerType", &TIMES)?;
        Ok(Self { time, operation: word(members, "triggerOperation", &OPERATIONS)? })
    }

    /// `None` for a child of another kind.
    pub fn of(child: &Subresource) -> Option<Self> {
        Some(child).filter(|child| child.kind == Kind::Trigger).and_then(|it| Self::parse(&it.members).ok())
    }
}
