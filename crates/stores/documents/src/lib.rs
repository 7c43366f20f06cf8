//! The documents of a process: typed asynchronous operations, the one boundary that `api` and `apps` call (D12).
//!
//! Everything that must happen whoever asks is in here once: the catalog cache, transactions in the scope of a
//! partition, session LSNs, the lanes and memory of queries, background jobs.
//!
//! Absent: how commits are grouped and synced (`engine/txn`), and what a document is (`models/documents`).

mod background;
mod catalog_cache;
mod queries;
mod range_lsns;
mod scope;
mod store;
mod trimming;

pub use orrery_txn::{
    Committed, Engine, EngineError, JobError, Jobs, Measure, OpenError, Options as TxnOptions, Progress,
    Read, Snapshot, Sync, Txn, TxnManager, WriteError, log_failure,
};
pub use queries::{BrokeOff, MemoryUse, NotRun, QueryHost, Track, Waiting, on_a_thread};
pub use scope::Scope;
pub use store::Store;
