//! Order-preserving keys, and the hashing of partition keys.
//!
//! A key is a sequence of parts, encoded by [`KeyBuf`] and decoded by [`KeyReader`]; comparing two keys
//! bytewise compares their parts in turn. An [`Epk`] is the position of a partition key value in a
//! container's key space, computed exactly as by Cosmos DB and its clients.
//!
//! This crate knows no kinds of rows: each model defines the parts of its keys.

mod epk;
#[doc(hidden)]
pub mod fuzz;
mod hashing;
mod index_value;
mod key;
pub mod limits;
mod murmur;
mod reader;
mod split;

pub use epk::{Epk, InvalidEpk, prefix_range};
pub use hashing::{Hashing, epk};
pub use index_value::{IndexValue, Shallow};
pub use key::{Direction, KeyBuf, prefix_end};
pub use reader::{InvalidKey, KeyReader};
pub use split::{even_bounds, midpoint};
