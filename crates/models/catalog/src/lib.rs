//! The catalog: databases, containers, offers and everything else that is defined rather than stored as items.
//!
//! Plain functions over a transaction or a snapshot: time and etags come in as a [`Stamp`], rows go out as
//! puts. All changes run in the catalog's one scope, so they are serialized. Background work that a change
//! causes becomes a job; the model that owns the rows runs it.
//!
//! ```text
//! model.rs       the catalog in memory, which every request looks at
//! operations.rs  create, replace and delete databases and containers; replace offers
//! record.rs      how databases, containers and offers are stored
//! definition/    a container's definition: validated and normalised policies
//! indexing/      an indexing policy prepared for use, and its generations
//! ranges.rs      the physical partitions of a container
//! subresources/  users, permissions, scripts, client encryption keys: one mechanism for all of them
//! roles/         role definitions and assignments
//! schema/        JSON schemas that the items of a container must conform to
//! metering/      use, hour by hour
//! storage/       what tables, queues and blob containers have in common: names, access policies, service properties
//! change_log.rs  the log of changes to items and entities
//! scope.rs       which transactions exclude each other
//! jobs.rs        background work that a change of the catalog leaves
//! precondition.rs  `If-Match` and `If-None-Match`
//! row.rs         every key that the catalog stores
//! ```
//!
//! Absent: items, HTTP, threads, the disk.

pub mod change_log;
pub mod definition;
pub mod indexing;
pub mod jobs;
pub mod limits;
pub mod metering;
mod model;
mod operations;
mod precondition;
pub mod ranges;
mod record;
pub mod roles;
pub mod row;
pub mod schema;
pub mod scope;
pub mod storage;
pub mod subresources;

pub(crate) use operations::{find_database, load_container};

pub use model::{Catalog, Container, Database, Offer, OfferTarget};
pub use operations::{
    CatalogError, create_container, create_database, create_serverless_container, delete_container,
    delete_database, replace_container, replace_offer, settle_container,
};
pub use precondition::{Preconditions, TagMatch, Verdict};

use orrery_core::{ETag, Timestamp};

/// The inputs of a write from outside: the time, the etag of the new version, and the partition size limit.
#[derive(Clone, Copy, Debug)]
pub struct Stamp {
    pub now: Timestamp,
    pub etag: ETag,
    /// The maximum size of a logical partition.
    pub partition_bytes_max: u64,
}
