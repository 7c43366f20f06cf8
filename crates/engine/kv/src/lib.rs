//! The ordered transactional store under every model.
//!
//! An [`Engine`] keeps five [`Space`]s of ordered keys and takes one kind of write: an atomic list of puts.
//! [`Db`] makes of it what the models need: batches with conditions and version stamps, a log whose
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
mod log;
mod memory;
mod overflow;
mod overlay;
mod read;
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
pub use tally::Tally;
pub use tip::Tip;
pub use txn::Txn;

/// The ordered key spaces. Few and shared, because each costs the engine a memtable and a set of files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Space {
    /// Databases, containers, counters, background work; the tip.
    Meta = 0,
    /// Items.
    Documents = 1,
    /// Everything that is derived from items and found by value: unique keys, expiry, indexes.
    Index = 2,
    /// The log of changes, one stream a container.
    Log = 3,
    /// Large texts: each written once, under the commit that brought it.
    Texts = 4,
}

impl Space {
    pub const COUNT: usize = 5;
    pub const ALL: [Space; Self::COUNT] =
        [Space::Meta, Space::Documents, Space::Index, Space::Log, Space::Texts];

    pub const fn name(self) -> &'static str {
        match self {
            Space::Meta => "meta",
            Space::Documents => "documents",
            Space::Index => "index",
            Space::Log => "log",
            Space::Texts => "texts",
        }
    }
}
