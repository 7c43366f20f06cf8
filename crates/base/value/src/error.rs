//! Errors in JSON text, each with the byte offset.

use orrery_core::limits::NESTING_LEVELS_MAX;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum JsonError {
    #[error("at byte {at}: not UTF-8")]
    Utf8 { at: usize },
    #[error("at byte {at}: expected {what}")]
    Expected { at: usize, what: &'static str },
    #[error("at byte {at}: text after the end of the value")]
    Trailing { at: usize },
    #[error("at byte {at}: a control character in a string must be escaped")]
    ControlCharacter { at: usize },
    #[error("at byte {at}: not a valid escape")]
    Escape { at: usize },
    #[error("at byte {at}: the number is too large for a double")]
    NumberTooLarge { at: usize },
    #[error("at byte {at}: more than {NESTING_LEVELS_MAX} levels of nesting")]
    TooDeep { at: usize },
    #[error("at byte {at}: the object already has a member named {name:?}")]
    DuplicateName { at: usize, name: String },
    #[error("the text is {bytes} bytes, more than can be addressed")]
    TooLong { bytes: usize },
    #[error("expected an object")]
    NotAnObject,
}
