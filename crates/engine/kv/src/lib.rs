//! The ordered transactional store under every model.
//!
//! An [`Engine`] keeps ordered key spaces, which models declare as [`SpaceSpec`]s, and takes one kind of write: an atomic
//! list of puts. [`Db`] makes of it what the models need: batches with conditions and version stamps, a log whose
//! entries are chained by checksums, and snapshots that show only what is durable. A [`Txn`] is how a
//! model writes: plain reads and puts, which become a [`Batch`] at the end.
//!
//! Left out on purpose: threads, queues and locks between writers. `engine/txn` owns those.

mod batch;
mod cache;
#[cfg(feature = "contract")]
pub mod contract;
mod db;
mod engine;
mod error;
pub mod limits;
mod log;
mod memory;
mod overflow;
mod overlay;
mod read;
mod space;
mod tally;
mod tip;
mod txn;

pub use batch::{Batch, Condition, Expect, Mark, Put, StampedBatch};
pub use db::{Db, Outcome, Snapshot};
pub use engine::{Engine, Measure, Purpose, Sync};
pub use error::Error;
pub use log::{LogRecord, unverified_before, verify_log};
pub use memory::{Fault, MemoryEngine};
pub use overflow::overflow_key;
pub use overlay::{Overlay, overlaid};
pub use read::{KeyRange, Order, Read, Row, Rows};
pub use space::{CachePolicy, Compression, Layout, META, Memtable, Space, SpaceSet, SpaceSpec};
pub use tally::Tally;
pub use tip::Tip;
pub use txn::Txn;
