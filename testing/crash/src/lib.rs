//! Kills a real server under load and audits what it kept.
//!
//! ```text
//!   writers ──▶ history (what was asked, what was answered, when) ─┐
//!   readers, an asker ──▶ sightings, answers (what was seen, when) ┤
//!   a changer of the indexing policy                               │
//!   a follower of the change feed, through all rounds              │
//!   kill -9, `orrery check`, start again                           ├──▶ audit ──▶ violations
//!   feed, point reads, probes of unique keys, queries ─────────────┘
//! ```
//!
//! The same of [tables](tables) and of a [queue](queues), in the same rounds; and [consumers] of one queue, processes and tasks, that
//! are killed one by one while the server is killed under all of them.
//!
//! The auditor is a pure function over the two sides, so it is tested with histories that are wrong.
//! The rules: an acknowledged write is there unless a later or overlapping write of the same item took its
//! place; what a reader saw is as good as acknowledged; a write nobody answered is wholly there or wholly not;
//! nothing is there that nobody wrote; the session token's LSN never goes backwards; a query finds what the feed
//! shows, whatever of the indexes was being built when the end came; the change feed, followed over every kill, tells of each
//! change once and in order, and its changes make the items; a batch is wholly there or not at all. A message that was put is there
//! until it is deleted, has the text it was given last, and is held by its newest receipt alone.
//!
//! A seed decides what the writers do and when the kill comes. The machine's timing is not in the seed, so
//! the same seed makes the same kind of trouble, not the same interleaving.

mod ask;
mod asker;
pub mod audit;
mod batcher;
pub mod batches;
mod changer;
pub mod check;
pub mod consumers;
pub mod content;
pub mod follower;
pub mod history;
mod observe;
pub mod policy;
pub mod question;
pub mod queues;
mod reader;
mod rounds;
pub mod tables;
mod writer;

pub use rounds::{Ending, Failure, Options, Summary, run};
