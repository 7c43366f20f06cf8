//! JSON Schema (draft 2020-12) for items: compiles a schema within bounds, and checks items against it.
//!
//! ```text
//! bounds       limits on a schema's size, depth and work, checked before it is compiled
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
    /// `at` is its location in the request.
    pub fn new(at: &str, why: impl AsRef<str>) -> Self {
        let text = format!("{at}: {}", why.as_ref());
        Self(match text.char_indices().nth(limits::SCHEMA_REFUSAL_CHARS_MAX) {
            None => text,
            Some((end, _)) => format!("{}…", &text[..end]),
        })
    }
}
