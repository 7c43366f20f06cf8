//! The blobs of a process: typed asynchronous operations, the one boundary that `api` and `apps` call (D12).
//!
//! ```text
//! service.rs     settings of an account
//! containers.rs  create, list, change, lease, delete and restore containers
//! upload.rs      content that is put: bytes as they arrive, their MD5 and CRC64
//! writes.rs      put blobs, blocks, appended blocks and pages
//! reads.rs       properties, content in ranges, block lists, page ranges
//! changes.rs     properties, metadata, tags, leases, tiers, snapshots, deletes, protection
//! copies.rs      copies within the store, and from elsewhere
//! lists.rs       lists of blobs, and finding them by tags
//! inventory/     the rows of an inventory, and the files that they are written to
//! lifecycle/     the policy of an account, what it would do, and doing it
//! background.rs  dropped containers, what is due, old entries of the log, chunks without references
//! ```
//!
//! Everything that must happen whoever asks is in here once: finding the container and the settings of its account, moments and
//! ids, streaming content to the disk before the commit that refers to it. Reads are of the newest durable state.
//!
//! Absent: how commits are grouped and synced (`engine/txn`), chunk files (`engine/chunks`), what a blob is (`models/blobs`), and
//! every wire format (`api`).

mod background;
mod changes;
mod container_cache;
mod containers;
mod content_parts;
mod copies;
mod crc64;
mod error;
mod inventory;
mod lifecycle;
pub mod limits;
mod lists;
mod reads;
mod service;
mod store;
mod trimming;
mod upload;
mod writes;

pub use crc64::Crc64;
pub use error::Error;
pub use inventory::{InventoryRow, InventoryRows};
pub use lifecycle::{LifecycleCursor, LifecyclePlan, PlannedAction};
pub use orrery_blobs as model;
pub use reads::BlobReader;
pub use service::BlobService;
pub use store::{BlobStore, Options};
pub use upload::{ContentWriter, ExpectedHashes, Uploaded};
