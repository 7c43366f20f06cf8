//! Entities: their keys and properties, the record that is stored, and what is made of two when they are merged.
//!
//! ```text
//! key.rs       PartitionKey and RowKey, checked
//! name.rs      names of properties
//! builder.rs   an entity from its properties, checked against the limits
//! record.rs    the stored form, read in place
//! merge.rs     two records made one
//! ```

mod builder;
mod key;
mod merge;
mod name;
mod record;

pub use builder::{Entity, EntityBuilder, InvalidEntity};
pub(crate) use builder::{check_whole, counted_bytes};
pub use key::{EntityKey, InvalidKey, KeyProperty, KeyText};
pub(crate) use merge::merge;
pub use name::{PARTITION_KEY, ROW_KEY, TIMESTAMP, is_property_name};
pub(crate) use name::{continues_name, starts_name};
pub use record::{EntityRow, Properties};
pub(crate) use record::{Record, with_timestamp};
