//! Queries over a collection with indexes: the same rows as without, whichever way is taken, and as few documents
//! read as can be.

mod agreement;
mod cells;
mod collection;
mod paging;
mod questions;
mod reads;
mod resuming;
mod ways;

#[path = "../support/memory.rs"]
#[allow(dead_code, reason = "the collection here is another one")]
mod memory;
#[path = "../naive/mod.rs"]
#[allow(dead_code, reason = "only its questions are asked here, and its answers to some")]
mod naive;
