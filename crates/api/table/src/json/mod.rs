//! Entities and tables as JSON: what clients send, and what they get at the level of detail they ask for.
//!
//! ```text
//! level.rs    how much an answer says: `odata=nometadata`, `minimalmetadata`, `fullmetadata`
//! read.rs     the body of a write: properties, and annotations before or after them
//! scalar.rs   one value: its JSON and its type, in
//! write.rs    entities and tables, out
//! ```

mod level;
mod read;
mod scalar;
mod write;

pub use level::{Level, UnsupportedFormat, check_content_type};
pub use read::{InvalidBody, read_entity, read_table_name};
pub use write::{Answer, Shown, entities, entity, table, tables};

#[cfg(test)]
mod cases;
