//! Tables and entities: what they are, how they change, and how filters find them.
//!
//! Plain functions over a transaction or a snapshot: time comes in as a [`Stamp`], rows go out as puts. Nothing here knows
//! HTTP, threads or the disk.
//!
//! ```text
//! edm/            values of properties and their types
//! entity/         an entity: its key, its properties, the record that is stored
//! version.rs      Timestamp, ETag and If-Match
//! table/          definitions of tables
//! operations.rs   insert, merge, replace and delete; a point read
//! group.rs        entity group transactions
//! filter/         `$filter`: parsed and evaluated
//! plan/           from a filter to ranges of keys
//! query.rs        a page of a query
//! changes.rs      the log of changes, and trimming it
//! size.rs         how much a table holds
//! sweep.rs        removing the rows of a dropped table
//! utf16.rs        the order of texts
//! row.rs          every key that is stored
//! spaces.rs       the space that entities are in
//! ```

pub mod changes;
pub mod edm;
pub mod entity;
pub mod filter;
#[doc(hidden)]
pub mod fuzz;
pub mod group;
pub mod limits;
pub mod operations;
pub mod plan;
pub mod query;
pub mod row;
mod size;
pub mod spaces;
pub mod sweep;
pub mod table;
mod utf16;
pub mod version;

pub use edm::{DateTime, DateTimeRef, EdmType, Guid, Ticks, Value, ValueRef};
pub use entity::{
    Entity, EntityBuilder, EntityKey, EntityRow, InvalidEntity, InvalidKey, KeyProperty, KeyText,
};
pub use filter::{Filter, FilterError};
pub use group::{GroupError, GroupTransaction, InvalidGroup};
pub use operations::{EntityError, EntityOperation, Stamp, Written};
pub use query::{KeyBounds, Position, Query, QueryPage, Scanned};
pub use size::{TableSize, size};
pub use table::{Table, TableError};
pub use version::{IfMatch, etag};
