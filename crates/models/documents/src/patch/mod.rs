//! Patches: a list of small changes to one item's text (wire guide §14).
//!
//! ```text
//! body ─ request ─> operations, condition        parsed once, outside the lock
//! item's text ─ edit, one operation after the other ─> new text ─ item::prepare ─> as any replace
//! ```
//!
//! Text in, text out: what no operation names keeps its bytes, so members keep their order and numbers their digits.
//! Nothing here stores anything or knows who may write what; the paths that nobody may patch are in `guard`.

mod condition;
mod edit;
mod error;
mod guard;
mod operation;
mod pointer;
mod request;

pub use condition::Condition;
pub use error::{PatchError, Reason};
pub use guard::check_paths;
pub use operation::{Operation, OperationKind};
pub use request::PatchRequest;

/// The text after all operations, in their order; the first that cannot be done is told.
pub fn apply(operations: &[Operation], text: &str) -> Result<String, PatchError> {
    let mut text = text.to_owned();
    for (index, operation) in operations.iter().enumerate() {
        text = edit::apply(operation, &text).map_err(|reason| operation.refused(index, reason))?;
    }
    Ok(text)
}
