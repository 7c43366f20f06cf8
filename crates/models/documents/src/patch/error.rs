//! Why a patch cannot be done: the operation's place in the list, and what is wrong with it.

use orrery_core::limits;

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
    #[error("the path is longer than {max} segments.", max = limits::NESTING_LEVELS_MAX)]
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
