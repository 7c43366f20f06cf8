//! Patches: a list of small changes to one item's text (wire guide §14).
//!
//! ```text
//! body ─ request ─> operations, condition        parsed once, outside the lock
//! item's text ─ edit, one operation after the other ─> new text ─ item::prepare ─> as any replace
//! ```
//!
//! Text in, text out: what no operation names keeps its bytes, so members keep their order and numbers their digits.
//! Nothing here stores anything or knows who may write what; the paths that nobody may patch are in `guard`.

use crate::item::is_system;
use crate::limits;
pub use condition::Condition;
use orrery_catalog::definition::PartitionKeyDefinition;
use orrery_core::limits::NESTING_LEVELS_MAX;
use orrery_value::{Number, Value, raw};

mod condition;
mod edit;
mod pointer;

/// The text after all operations, in their order; the first that cannot be done is told.
pub fn apply(operations: &[Operation], text: &str) -> Result<String, PatchError> {
    let mut text = text.to_owned();
    for (index, operation) in operations.iter().enumerate() {
        text = edit::apply(operation, &text).map_err(|reason| operation.refused(index, reason))?;
    }
    Ok(text)
}

// One operation of a patch, checked as far as it can be without an item.

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operation {
    pub kind: OperationKind,
    /// The segments of the path, at least one.
    pub path: Vec<String>,
}

/// Values are raw text of JSON that was scanned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OperationKind {
    /// Adds or replaces a member; inserts into an array.
    Add {
        value: String,
    },
    /// Adds or replaces a member; replaces an element of an array.
    Set {
        value: String,
    },
    /// Replaces what must be there.
    Replace {
        value: String,
    },
    Remove,
    /// Adds to a number; a member that is missing becomes the value.
    Increment {
        by: Number,
    },
    Move {
        from: Vec<String>,
    },
}

/// How much of a path a sentence repeats.
const PATH_SHOWN_CHARS: usize = 128;

impl Operation {
    /// Reads the text of one operation, which a scan accepted; `index` is its place in the list.
    pub(super) fn parse(text: &str, index: usize) -> Result<Self, PatchError> {
        let string = |name: &str| match raw::member(text, name).map(Value::read) {
            Some(Value::String(text)) => Some(text),
            _ => None,
        };
        let (op, path) = (string("op"), string("path"));
        let refused = |reason| refused(index, op.as_deref().unwrap_or("?"), path.as_deref(), reason);
        let (Some(named), Some(written)) = (&op, &path) else { return Err(refused(Reason::Shape)) };
        let value = || raw::member(text, "value").map(str::to_owned).ok_or_else(|| refused(Reason::NoValue));
        let kind = match named.to_ascii_lowercase().as_str() {
            "add" => OperationKind::Add { value: value()? },
            "set" => OperationKind::Set { value: value()? },
            "replace" => OperationKind::Replace { value: value()? },
            "remove" => OperationKind::Remove,
            "incr" | "increment" => {
                let by = Number::parse(&value()?).ok_or_else(|| refused(Reason::ValueNotNumber))?;
                OperationKind::Increment { by }
            }
            "move" => {
                let from = string("from").and_then(|from| pointer::parse(&from).ok());
                OperationKind::Move { from: from.ok_or_else(|| refused(Reason::NoSource))? }
            }
            _ => return Err(refused(Reason::Unknown)),
        };
        let path = pointer::parse(written).map_err(refused)?;
        Ok(Self { kind, path })
    }

    pub(super) fn refused(&self, index: usize, reason: Reason) -> PatchError {
        let path: String = self.path.iter().map(|part| format!("/{}", escaped(part))).collect();
        refused(index, self.name(), Some(&path), reason)
    }

    fn name(&self) -> &'static str {
        match self.kind {
            OperationKind::Add { .. } => "add",
            OperationKind::Set { .. } => "set",
            OperationKind::Replace { .. } => "replace",
            OperationKind::Remove => "remove",
            OperationKind::Increment { .. } => "incr",
            OperationKind::Move { .. } => "move",
        }
    }
}

fn escaped(segment: &str) -> String {
    segment.replace('~', "~0").replace('/', "~1")
}

fn refused(index: usize, op: &str, path: Option<&str>, reason: Reason) -> PatchError {
    let op: String = op.chars().take(16).collect();
    let shown = match path {
        None => op,
        Some(path) => format!("{op} '{}'", path.chars().take(PATH_SHOWN_CHARS).collect::<String>()),
    };
    PatchError::Operation { number: index + 1, shown, reason }
}

// A patch as it arrives: `{"operations": […], "condition": "from c where …"}`, or the list alone.

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

// Why a patch cannot be done: the operation's place in the list, and what is wrong with it.

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PatchError {
    #[error("The patch is not valid: {0}")]
    Request(&'static str),
    #[error("The patch has {0} operations; it may have 1 to {max}.", max = limits::PATCH_OPERATIONS_MAX)]
    Count(usize),
    /// `shown` names the operation and its path; numbers begin with 1.
    #[error("For Operation({number}), {shown}: {reason}")]
    Operation { number: usize, shown: String, reason: Reason },
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Reason {
    #[error("it is not an object with the members 'op' and 'path'.")]
    Shape,
    #[error("there is no such operation; choose add, set, replace, remove, incr or move.")]
    Unknown,
    #[error("the path is not a JSON pointer: it begins with '/', and '~' stands only in '~0' and '~1'.")]
    Path,
    #[error("the path is longer than {max} segments.", max = NESTING_LEVELS_MAX)]
    PathTooLong,
    #[error("the member 'value' is missing.")]
    NoValue,
    #[error("the member 'value' is not a number.")]
    ValueNotNumber,
    #[error("the member 'from' is not a JSON pointer to what is to be moved.")]
    NoSource,
    #[error("the path leads through '{0}', which is not there; paths are not created on the way.")]
    NoParent(String),
    #[error("the path leads into a value that is neither an object nor an array.")]
    NotAContainer,
    #[error("there is nothing at the path.")]
    Missing,
    #[error("there is nothing at the path it moves from.")]
    SourceMissing,
    #[error("'{0}' is not an index of the array; use a number without leading zeros, or '-' for its end.")]
    Index(String),
    #[error("the index {index} lies outside the array, which has {length} elements.")]
    OutOfRange { index: usize, length: usize },
    #[error("the value at the path is not a number.")]
    NotANumber,
    #[error("the sum is beyond what a number can hold.")]
    Overflow,
    #[error("a value cannot be moved into itself.")]
    IntoItself,
    #[error("'{0}' is written by the service and cannot be patched.")]
    System(String),
    #[error("the id of an item cannot be patched.")]
    Id,
    #[error("the partition key of an item cannot be patched.")]
    PartitionKey,
}

// Paths that no patch may name: the id, the partition key, and what the service writes.

/// Refuses the first operation that changes what cannot be changed. A path above a partition key's is let through:
/// whether the key changes is seen in the result.
pub fn check_paths(operations: &[Operation], key: &PartitionKeyDefinition) -> Result<(), PatchError> {
    for (index, operation) in operations.iter().enumerate() {
        let from = match &operation.kind {
            OperationKind::Move { from } => Some(from),
            _ => None,
        };
        for path in from.into_iter().chain([&operation.path]) {
            check_path(path, key).map_err(|reason| operation.refused(index, reason))?;
        }
    }
    Ok(())
}

fn check_path(path: &[String], key: &PartitionKeyDefinition) -> Result<(), Reason> {
    if let [first, ..] = path
        && is_system(first)
    {
        return Err(Reason::System(first.clone()));
    }
    if matches!(path, [only] if only == "id") {
        return Err(Reason::Id);
    }
    if key.paths().iter().any(|own| own.segments() == path) {
        return Err(Reason::PartitionKey);
    }
    Ok(())
}
