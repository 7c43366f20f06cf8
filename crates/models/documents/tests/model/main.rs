//! What the model does to its rows, shown over the memory engine.
//!
//! `world` is a store with one writer and a clock that stands still; `audit` goes through every stored row
//! and says whether they agree. Each other file shows the facts of one subject.

#![expect(clippy::unwrap_used, reason = "a helper of a test that cannot go on panics, as the test does")]

mod audit;
mod batching;
mod bodies;
mod catalog;
mod changes;
mod changes_model;
mod checking;
mod children;
mod expiring;
mod feed;
mod fixtures;
mod insertion_order;
mod partitions;
mod patching;
mod preconditions;
mod purging;
mod rebuilding;
mod rules;
mod searching;
mod surveying;
mod sweeping;
mod trimming;
mod unique;
mod world;
mod writing;
