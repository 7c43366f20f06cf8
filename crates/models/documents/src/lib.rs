//! Items: what they are and what may be done to them.
//!
//! Plain functions over a transaction or a snapshot: time, tags and ordinals come in as a [`Stamp`], rows
//! go out as puts. Nothing here knows HTTP, threads or the disk.
//!
//! ```text
//! batch/        several operations on items in one transaction
//! item/         an item's row, preparing one outside the lock, the operations on it, feeds
//! changes/      the log of changes, read as the change feed and trimmed
//! patch/        changing an item's text by a list of operations
//! partition.rs  how much a logical partition holds
//! expiry.rs     time to live: when an item is gone, and removing what is
//! purge.rs      removing every item of a partition
//! sweep.rs      removing the rows of a dropped container
//! row.rs        every key that is stored
//! spaces.rs     the spaces they are in
//! ```

pub mod batch;
pub mod changes;
pub mod charge;
pub mod expiry;
pub mod index;
pub mod item;
pub mod limits;
pub mod partition;
pub mod patch;
pub mod purge;
pub mod row;
pub mod spaces;
pub mod sweep;

// Transitional: users of the catalog import `orrery_catalog` itself.
pub use orrery_catalog as catalog;
pub use orrery_catalog::{Stamp, definition, metering, ranges, roles, schema, subresources};
