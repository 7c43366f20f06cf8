//! Schemas of a container: what its items must look like, in JSON Schema (draft 2020-12).
//!
//! ```text
//! definition   what a container is told: off, warn or enforce; one schema, or several told apart by a member
//! schemas      what the catalog's picture of a container has: the definition, compiled once, and its tally
//! tally        how many items were checked since, how many were wrong, and the last of those
//! record       the row
//! operations   set and remove; in the catalog's scope
//! ```
//!
//! A schema itself is compiled, and an item held against it, in `models/json-schema`.
//!
//! `item::prepare` asks for the verdict on an item, outside all locks. `item::put`, which every write of an item ends in,
//! refuses or counts by it. An item that was prepared under another schema than the container has when the commit is made
//! is refused by the condition on the row `Alive`, and decided again.

mod definition;
mod schemas;

pub use definition::{Definition, SchemaError, Validation};
pub use definition::{remove, set};
pub use orrery_json_schema::{Violation, Violations};
pub use schemas::{Report, Seen};
pub use schemas::{Schemas, Verdict};

pub(crate) use definition::stored;
pub(crate) use schemas::Picture;
