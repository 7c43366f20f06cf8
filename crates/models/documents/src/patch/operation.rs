//! One operation of a patch, checked as far as it can be without an item.

use super::{PatchError, Reason, pointer};
use orrery_value::{Number, Value, raw};

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
