//! What is wrong with the text of a filter. Positions are characters, from 0.

use crate::limits;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FilterError {
    /// `InvalidInput`, as all but the last
    #[error("The filter has more than {} bytes.", limits::FILTER_BYTES_MAX)]
    TooLong,
    #[error("The filter has more than {} levels at position {at}.", limits::FILTER_TREE_LEVELS_MAX)]
    TooDeep { at: usize },
    #[error("The filter ends at position {at}, but {expected} was expected.")]
    UnexpectedEnd { at: usize, expected: &'static str },
    #[error("Syntax error at position {at}: '{found}' was found, but {expected} was expected.")]
    Unexpected { at: usize, found: String, expected: &'static str },
    #[error("Syntax error at position {at}: a quote is missing at the end of the literal.")]
    Unterminated { at: usize },
    #[error("Syntax error at position {at}: '{literal}' is no valid {kind}.")]
    InvalidLiteral { at: usize, literal: String, kind: &'static str },
    /// `NotImplemented`
    #[error("The function '{function}' at position {at} is not implemented.")]
    NotImplemented { at: usize, function: String },
}

impl FilterError {
    /// Where it was found.
    pub fn position(&self) -> usize {
        match self {
            Self::TooLong => limits::FILTER_BYTES_MAX,
            Self::TooDeep { at } | Self::UnexpectedEnd { at, .. } | Self::Unexpected { at, .. } => *at,
            Self::Unterminated { at } | Self::InvalidLiteral { at, .. } => *at,
            Self::NotImplemented { at, .. } => *at,
        }
    }
}
