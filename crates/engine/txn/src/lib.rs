//! Transactions over the ordered store. Knows rows and scopes, and nothing of what either means.
//!
//! ```text
//! manager.write(scope, |txn| …)
//!   stripe of the scope   one writer at a time; reads go pending → newest durable snapshot
//!   queue                 the batch gets its LSN and joins the stripe's pending puts; the stripe is free
//!   committer             drains the queue: one engine write, one sync, publishes; then answers.
//!                         A lone writer commits on its own thread instead
//! ```
//!
//! So writers of one scope follow each other at the speed of memory and share syncs (D1), and no reader sees what a
//! crash could take away (D2): an answer that rests on a pending write waits for its sync too.
//!
//! Invariants: a stripe is never held across an `.await`; a transaction that built on one that failed is
//! run again (the epoch); LSNs are given and committed in the same order.
//!
//! Absent: what a container, a table or a queue is (the models make the scopes), and which jobs run (the stores
//! register theirs).

mod background;
mod block_on;
mod error;
mod group_commit;
mod health;
mod jobs;
pub mod limits;
mod manager;
mod optimistic;
mod periodic;
mod queue;
mod recent_commits;
mod scope;
mod scope_watch;
mod stripe;
mod watchdog;

pub use background::Background;
pub use error::{OpenError, WriteError};
pub use health::log_failure;
pub use jobs::{JobError, Jobs, Progress};
pub use manager::{Committed, Options, TxnManager};
pub use orrery_kv::{Engine, Error as EngineError, Measure, Read, Snapshot, Sync, Txn};
pub use periodic::Periodic;
pub use scope::{NewestLsn, Scope};
