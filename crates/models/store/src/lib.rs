//! Transactions over all models: the boundary that everything above uses.
//!
//! ```text
//! store.write(scope, |txn| …)
//!   stripe of the scope   one writer at a time; reads go pending → newest durable snapshot
//!   queue                 the batch gets its LSN and joins the stripe's pending puts; the stripe is free
//!   committer             drains the queue: one engine write, one sync, publishes; then answers
//! ```
//!
//! So writers of one partition follow each other at the speed of memory and share syncs (D1), and no reader
//! sees what a crash could take away (D2): an answer that rests on a pending write waits for its sync too.
//!
//! Invariants: a stripe is never held across an `.await`; a transaction that built on one that failed is
//! run again (the epoch); LSNs are given and committed in the same order.

mod background;
mod catalog;
mod committer;
mod long;
mod newest;
mod queries;
mod queue;
mod scope;
mod store;
mod stripe;
mod trimming;
mod trouble;
mod watch;
mod watchdog;

pub use background::Progress;
pub use orrery_kv::{Engine, Error as EngineError, Measure, Read, Snapshot, Sync, Txn};
pub use queries::{BrokeOff, MemoryUse, NotRun, QueryHost, Track, Waiting, on_a_thread};
pub use scope::Scope;
pub use store::{Committed, OpenError, Options, Store, WriteError};
pub use trouble::log_failure;
