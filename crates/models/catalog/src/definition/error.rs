//! Why a definition is refused.

use orrery_core::InvalidName;
use serde_json::Value;

/// The variants are what a caller can do about it; the text says which part of the body is meant.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DefinitionError {
    /// The container's id is not a name.
    #[error(transparent)]
    InvalidName(#[from] InvalidName),
    /// Something in the body is wrong; send a different one.
    #[error("{0}")]
    Invalid(String),
    /// The body is well formed, but asks for a change that an existing container cannot make.
    #[error("{0}")]
    Forbidden(String),
}

/// The typed form of a part of a definition, and the JSON that shows it.
pub(super) type Parsed<T> = Result<(T, Value), DefinitionError>;

pub(super) fn invalid(message: impl Into<String>) -> DefinitionError {
    DefinitionError::Invalid(message.into())
}

/// A member of the wrong type, or one that is missing; the service says no more than the first half.
pub(super) fn wrong_input(message: impl AsRef<str>) -> DefinitionError {
    invalid(format!("One of the specified inputs is invalid: {}", message.as_ref()))
}
