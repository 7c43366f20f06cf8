//! Queries over a collection with indexes: the same rows as without, whichever way is taken, and as few documents
//! read as can be.

mod access_paths;
mod agreement;
mod collection;
mod entry_values;
mod paging;
mod queries;
mod reads;
mod resuming;

#[path = "../support/memory.rs"]
#[allow(dead_code, reason = "the collection here is another one")]
mod memory;
#[path = "../naive/mod.rs"]
#[allow(dead_code, reason = "only its queries are used here, and only some of its answers")]
mod naive;
