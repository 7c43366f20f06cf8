//! Kills a real server under load and audits what it kept.
//!
//! ```text
//!   writers ──▶ history (what was asked, what was answered, when) ─┐
//!   readers ──▶ sightings (what was seen, when) ──────────────────┤
//!   kill -9, start again                                           ├──▶ audit ──▶ violations
//!   read feed, point reads, probes of unique keys ────────────────┘
//! ```
//!
//! The auditor is a pure function over the two sides, so it is tested with histories that are wrong.
//! The rules: an acknowledged write is there unless a later or overlapping write of the same item took its
//! place; what a reader saw is as good as acknowledged; a write nobody answered is wholly there or wholly not;
//! nothing is there that nobody wrote; the session token's LSN never goes backwards.
//!
//! A seed decides what the writers do and when the kill comes. The machine's timing is not in the seed, so
//! the same seed makes the same kind of trouble, not the same interleaving.

pub mod audit;
pub mod content;
pub mod history;
mod observe;
mod reader;
mod rounds;
mod writer;

pub use rounds::{Ending, Failure, Options, Summary, run};
