//! Databases, containers and items: what they are and what may be done to them.
//!
//! Plain functions over a transaction or a snapshot: time, tags and ordinals come in as a [`Stamp`], rows
//! go out as puts. Nothing here knows HTTP, threads or the disk.
//!
//! ```text
//! catalog/      databases, containers, offers: the rows in `meta`, and the picture of them in memory
//! children/     users, permissions, scripts, client encryption keys: one mechanism for all of them
//! definition/   what a container is told to be: validated and normalised policies
//! batch/        several operations on items in one transaction
//! item/         an item's row, preparing one outside the lock, the operations on it, feeds
//! changes/      the log of changes, read as the change feed and trimmed
//! metering/     what was used, hour by hour
//! guid.rs       the text of tags and activity ids
//! patch/        changing an item's text by a list of operations
//! partition.rs  how much a logical partition holds
//! ranges.rs     the physical partitions of a container
//! schema/       what the items of a container must look like, where that is said
//! roles/        who may do what to which data, beside the account's keys
//! expiry.rs     time to live: when an item is gone, and removing what is
//! purge.rs      removing every item of a partition
//! sweep.rs      removing the rows of a dropped container
//! row.rs        every key that is stored
//! ```

pub mod batch;
pub mod catalog;
pub mod changes;
pub mod charge;
pub mod children;
pub mod definition;
pub mod expiry;
pub mod index;
pub mod item;
pub mod metering;
pub mod partition;
pub mod patch;
pub mod purge;
pub mod ranges;
pub mod roles;
pub mod row;
pub mod schema;
pub mod sweep;

use orrery_core::{ETag, Timestamp};

/// What the world adds to a write: the moment, the tag of the version it makes, and the bound it keeps to.
#[derive(Clone, Copy, Debug)]
pub struct Stamp {
    pub now: Timestamp,
    pub etag: ETag,
    /// What one logical partition may hold.
    pub partition_bytes_max: u64,
}
