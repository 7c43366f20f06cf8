//! JSON Schema (draft 2020-12) for items: a schema is compiled within bounds, and an item is held against it.
//!
//! ```text
//! bounds       what a schema may ask for, found out before it is compiled: its size, its depth, its work
//! validator    one compiled schema, and the violations of one item
//! ```
//!
//! A crate of its own, optimised for size: the library is generic, and a crate that is optimised for speed compiles all
//! of it again. So no type of `jsonschema` is in this interface.

mod bounds;
pub mod limits;
mod validator;

pub use bounds::escaped;
pub use validator::{Validator, Violation, Violations};

/// Why a schema cannot be used, and where in it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct InvalidSchema(String);

impl InvalidSchema {
    /// `at` says where it is in what was given.
    pub fn new(at: &str, why: impl AsRef<str>) -> Self {
        let text = format!("{at}: {}", why.as_ref());
        Self(match text.char_indices().nth(limits::SCHEMA_REFUSAL_CHARS_MAX) {
            None => text,
            Some((end, _)) => format!("{}…", &text[..end]),
        })
    }
}
