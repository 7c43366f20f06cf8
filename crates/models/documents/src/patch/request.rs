//! A patch as it arrives: `{"operations": […], "condition": "from c where …"}`, or the list alone.

use super::{Operation, PatchError};
use orrery_core::limits;
use orrery_value::{Value, raw};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PatchRequest {
    pub operations: Vec<Operation>,
    /// The condition's text, not looked at yet.
    pub condition: Option<String>,
}

impl PatchRequest {
    /// Reads text that a scan accepted.
    pub fn parse(text: &str) -> Result<Self, PatchError> {
        let text = text.trim_ascii();
        let (list, condition) = match text.as_bytes().first() {
            Some(b'[') => (text, None),
            Some(b'{') => (raw::member(text, "operations").unwrap_or_default(), condition(text)?),
            _ => return Err(PatchError::Request("the body is neither an object nor an array.")),
        };
        if !list.starts_with('[') {
            return Err(PatchError::Request("the member 'operations' is missing, or is not an array."));
        }
        let count = raw::elements(list).take(limits::PATCH_OPERATIONS_MAX + 1).count();
        if !(1..=limits::PATCH_OPERATIONS_MAX).contains(&count) {
            return Err(PatchError::Count(raw::elements(list).count()));
        }
        let each = raw::elements(list).enumerate();
        let operations = each.map(|(index, text)| Operation::parse(text, index)).collect::<Result<_, _>>()?;
        Ok(Self { operations, condition })
    }
}

/// `null` and an empty text are none.
fn condition(text: &str) -> Result<Option<String>, PatchError> {
    match raw::member(text, "condition").map(Value::read) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) if text.trim().is_empty() => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => Err(PatchError::Request("the member 'condition' is not a string.")),
    }
}
