//! Schemas of a container's items, in JSON Schema (draft 2020-12).
//!
//! ```text
//! definition   the mode (off, warn or enforce) and one schema, or several selected by a member; its row
//! schemas      the catalog's view of a container's schemas: the definition, compiled once, and its statistics
//! ```
//!
//! `models/json-schema` compiles a schema and checks an item against it.
//!
//! `item::prepare` requests the verdict on an item, outside all locks. `item::put`, through which every write
//! of an item goes, refuses or counts by it. If the container's schema has changed by the time of the commit,
//! the condition on the row `Alive` refuses the item, and it is checked again.

mod definition;
mod schemas;

pub use definition::{Definition, SchemaError, Validation};
pub use definition::{remove, set};
pub use orrery_json_schema::{Violation, Violations};
pub use schemas::{Report, Seen};
pub use schemas::{Schemas, Verdict};

pub(crate) use definition::stored;
pub(crate) use schemas::Picture;
